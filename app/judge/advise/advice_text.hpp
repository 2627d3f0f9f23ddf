// Writes the advice of `judge advise` as text, as JSON and as a figure.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "app/judge/sentences.hpp"
#include "train/advice/advice.hpp"

namespace odrpo::app {

/// Where the judge of an advice comes from, and how long the advice took to compute.
struct AdviceInput {
  std::string name;   ///< name of the file of scores or of the rater, without control characters
  std::string found;  ///< a sentence on what the file of scores holds; empty for a rater
  std::vector<std::string> notes;  ///< sentences on what could not be checked
  std::size_t runs = 0;            ///< number of trainings
  double seconds = 0;
  /// For a file that names no judges: do its columns of samples differ, as if several judges had scored?
  std::optional<ColumnFinding> columns{};
};

/// Text of 80 columns: the advice in a sentence, and a table of the best choices. Then it says whether more votes help, and whether the
/// advice holds with other judges, policies or worlds. (advice_text.cpp)
std::string advice_text(const Advice& advice, const AdviceQuestion& question, const AdviceInput& input);
/// The command that exports the advised estimator for a trainer; empty if none does, for a rule that keeps an answer's calls apart. Of a
/// posterior estimator it may read a file judge.toml that advice_text() says how to write. (advice_text.cpp)
std::string export_command(const Advice& advice, const AdviceQuestion& question, const AdviceInput& input);
/// The cost of a training in the question's unit: "152,000 calls", "38.4 (price)" or "3 min 20 s of calls".
std::string cost_text(const AdviceQuestion& question, double cost);

/// All numbers of the advice as JSON; gains are in percent of the headroom. (forms.cpp)
std::string advice_json(const Advice& advice, const AdviceQuestion& question, const AdviceInput& input);

/// Checks --figure before training. Failure `usage` unless `path` ends in .svg, .pdf or .png; `io` if it cannot be written. (forms.cpp)
void check_advice_figure(const std::string& path, const std::string& input);
/// Draws gain against cost into the file `path`, a line for the best choice with each number N of calls about an answer, and one for the
/// advised choice. Prints a caption on stderr. Failure `io` if the file cannot be written.
void draw_advice_figure(const Advice& advice, const AdviceQuestion& question, const AdviceInput& input, const std::string& path);

}  // namespace odrpo::app
