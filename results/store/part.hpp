// Parts of a suite that several machines trained: result files, and work folders of parts that are not finished. What one says of itself.
#pragma once
#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "results/store/record.hpp"
#include "results/store/store.hpp"

namespace odrpo {

/// Names of provenance texts that parts have.
inline constexpr const char *part_text = "part", *whole_text = "whole";

/// A part as it lies on a disk.
struct Part {
  std::string path;
  bool folder = false;  ///< a work folder
  std::string suite;
  std::string fingerprint;                                      ///< of its own runs
  std::string digest;                                           ///< of its own runs; empty of a folder
  std::size_t runs = 0;                                         ///< rows of the file; 0 of a folder, which has not counted them
  std::vector<std::pair<std::string, std::string>> provenance;  ///< as SuiteFacts::provenance, of the call that trained it (last)
  std::vector<std::string> shards;                              ///< of a folder: its committed runs, oldest first

  std::string text(const std::string& name) const;  ///< of the provenance; empty = absent
  /// Fingerprint of the suite that it is a part of: its own where it is all of it.
  std::string whole() const { return text(whole_text).empty() ? fingerprint : text(whole_text); }
};

/// Looks at a part, and reads no run. A folder may belong to anybody, and nothing is written there. Failure io when it is missing, cannot be
/// read, or is still being written; bad_input when it is no part; limits as read_results().
Part open_part(const std::string& path, const ReadLimits& limits = {});

/// Its runs, slab by slab, once each file has been compared with its checksums. Returns notes: damaged shards of a folder, which are left
/// out. Failure as open_part(), also when the part is no longer what it was.
std::vector<std::string> read_part(const Part& part, const std::function<void(std::vector<RunRecord>& slab)>& slab,
                                   const ReadLimits& limits = {});

}  // namespace odrpo
