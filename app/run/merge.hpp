// Writes the messages of `merge`: missing runs and commands that train them, runs that differ between parts, and the list of parts.
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

/// The missing runs of one part of the suite (`run --shard`), and the command that trains them.
struct MissingPart {
  std::string part;               ///< "3/8"; empty = the suite was not divided
  std::vector<std::string> runs;  ///< their ids
  std::string command;
};
/// Groups the missing runs (indices `missing`) by the part of the suite that should have trained them. The files `parts` say into how many
/// parts the suite was divided. `options` = how the suite was read; `output` = the file that `merge` was to write.
std::vector<MissingPart> missing_parts(const Suite& suite, const SuiteOptions& options, const std::vector<Part>& parts,
                                       const std::vector<std::uint32_t>& missing, const std::string& output);

/// The error message for runs that have different results in two parts: which runs, which values, where they were trained, and the cause.
std::string conflict_text(const Suite& suite, const std::vector<Part>& parts, const MergeReport& report, const std::string& output);

/// The provenance text `parts` of a merged file. A line for each part, with tabs between: file, part, runs, machine, CPU, instruction set,
/// device, revision, digest.
std::string part_lines(const std::vector<Part>& parts);

}  // namespace odrpo::app
