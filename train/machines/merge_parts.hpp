// Joins the parts of a suite that several machines trained into one result file.
#pragma once
#include <atomic>
#include <span>
#include <string>
#include <vector>

#include "results/store/part.hpp"
#include "results/store/store.hpp"

namespace odrpo {

struct Suite;

struct MergeSettings {
  std::string output;  ///< the result file to make
  bool force = false;  ///< discard an output or work folder in the way
  ReadLimits limits;   ///< of reading one part; `stop` ends the merge
  System system = posix_system();
};

struct MergedParts {
  MergeReport report;
  bool complete = false;           ///< the output already held the whole suite: nothing was read
  std::vector<std::string> notes;  ///< what was left out
};

/// Every run of a part must have the words and the key that the suite gives to the run of its id: else Failure bad_input, as for a part of
/// another suite. Otherwise as WorkFolder::merge(); Failure as read_part().
MergedParts merge_parts(const Suite& suite, const SuiteFacts& facts, std::span<const Part> parts, const MergeSettings& settings);

}  // namespace odrpo
