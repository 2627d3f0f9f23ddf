// What a gate of any kind has found, as CI systems are told: JUnit, annotations of GitHub, a job summary.
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace odrpo {

/// A case, a cell or a limit. Texts are those of programs and files: not printable.
struct Finding {
  std::string name, verdict, sentence;  ///< the sentence says why it has its verdict; printable
  std::string failure;                  ///< the word for which it fails, mostly the verdict; empty: it does not
  bool notable = false;                 ///< to be explained, though it may not fail
  double seconds = 0;
};

/// A case that is not compared, and why: "only the baseline has it", "the baseline says: …".
struct GateLeftOut {
  std::string name, why;
};

struct Findings {
  std::string kind;                                        ///< "worker", "science"
  std::string outcome, rules;                              ///< one line each
  std::vector<std::pair<std::string, std::string>> about;  ///< what was compared: {"baseline", "./worker"}
  std::vector<Finding> found;                              ///< worst first
  std::vector<GateLeftOut> left_out;
  std::vector<std::string> notes;  ///< sentences below the table
  double seconds = 0;              ///< of the whole gate
};

/// JUnit's XML: a test case each; failing ones have a failure, left-out ones are skipped.
std::string findings_junit(const Findings& findings);
/// GitHub's workflow commands ("::error title=…::…"), at most 10 lines: errors for failing findings, warnings for other notable ones.
std::string findings_annotations(const Findings& findings);
/// A summary of a CI job: a table of verdicts and sentences.
std::string findings_markdown(const Findings& findings);

/// Text in a cell or a line of Markdown: no markup of Markdown or HTML means anything.
std::string markdown_text(std::string_view text);

}  // namespace odrpo
