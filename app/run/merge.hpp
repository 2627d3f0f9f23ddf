// What `merge` says: what is missing and how to train it, which runs differ, and what was joined.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "app/command.hpp"
#include "results/store/store.hpp"
#include "train/machines/suite_part.hpp"

namespace odrpo {
struct Suite;
}

namespace odrpo::app {

/// Missing runs of one part, and the command that trains them.
struct MissingPart {
  std::string part;               ///< "3/8"; empty = of the whole suite
  std::vector<std::string> runs;  ///< ids
  std::string command;
};
/// Missing runs by the parts that the suite was cut into, which the given parts name; all together where they name none.
/// `options` = how the suite was read, `output` = the file that was to be made.
std::vector<MissingPart> missing_parts(const Suite& suite, const SuiteOptions& options, const std::vector<Part>& parts,
                                       const std::vector<std::uint32_t>& missing, const std::string& output);

/// Lines for people: which runs differ, in what, between which parts, and what follows.
std::string conflict_text(const Suite& suite, const std::vector<Part>& parts, const MergeReport& report, const std::string& output);

/// A line for each part: its file, which part, its runs, machine, CPU, instruction set, device, revision, digest; tabs between. For provenance.
std::string part_lines(const std::vector<Part>& parts);

}  // namespace odrpo::app
