// Loading a fuzzed suite in a folder of its own, where the only file of scores is the tests' own; what a suite that loads must hold.
#pragma once
#include <stdlib.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "config/read/parse.hpp"
#include "config/spec.hpp"
#include "config/write/canonical.hpp"
#include "tests/fuzz/oracle.hpp"
#include "tests/source_path.hpp"

namespace odrpo::fuzz {

/// A folder with tests/config/judge.csv in $TMPDIR. libFuzzer ends without destructors: run.sh removes it.
struct SuiteFolder {
  std::filesystem::path path;
  SuiteFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "odrpo-fuzz-XXXXXX").string();
    path = ::mkdtemp(name.data());
    std::filesystem::copy_file(source_path("tests/config/judge.csv"), path / "judge.csv");
  }
  std::string suite() const { return (path / "suite.toml").string(); }
};

/// The text cannot name a file elsewhere: a path with a '/', also an escaped one, needs the key `scores`, which may be escaped too.
inline bool stays_in_folder(std::string_view text) {
  const auto has = [&](std::string_view part) { return text.find(part) != std::string_view::npos; };
  return !has("\\u") && !has("\\U") ? !has("/") || !has("scores") : !has("/") && !has("002f") && !has("002F");
}

inline constexpr const char* few_runs = "limits.runs=200";  ///< a --set that keeps an execution short: a run takes up to 15 ms under sanitizers

/// Loads by `load`. What loads has runs with ids, and its resolved text loads to the same runs and the same resolved text.
template <class Load>
void check_suite(const std::string& path, Load load) {
  Suite suite;
  if (!accepted({Exit::suite, Exit::limits, Exit::io, Exit::usage, Exit::bad_input}, [&] {
        try {
          suite = load();
        } catch (const Failure& failure) {
          require_printable(failure.what(), "a message that a terminal must not print");
          throw;
        }
      }))
    return;
  require(!suite.runs.empty(), "a suite without runs is accepted");
  for (const auto& note : suite.notes) require_printable(note, "a note that a terminal must not print");
  try {
    const Suite again = load_suite_text(path, suite.resolved, {}, {});
    require(again.resolved == suite.resolved, "the resolved text resolves to another text", suite.resolved + "---\n" + again.resolved);
    require(again.runs.size() == suite.runs.size(), "the resolved text has other runs", suite.resolved);
    for (std::size_t i = 0; i < suite.runs.size(); ++i) {
      require(again.runs[i].id == suite.runs[i].id, "the resolved text has other run ids", suite.resolved);
      require(canonical_text(again.runs[i]) == canonical_text(suite.runs[i]), "the resolved text changes a run", suite.resolved);
    }
  } catch (const Failure& failure) {
    require(false, "the resolved text is refused", suite.resolved + "---\n" + failure.what());
  }
}

}  // namespace odrpo::fuzz
