// The row file: all records of a suite in one unnamed file of the work folder, so that they can be taken in any order while the output is
// made. Private to results/store/.
#pragma once
#include <cstdint>
#include <string>

#include "results/store/record.hpp"
#include "results/store/work/files.hpp"

namespace odrpo::store {

class RowFile {
 public:
  /// Makes the file and removes its name at once, so that nothing is left after a kill. Failure io.
  explicit RowFile(const Folder& folder);
  static constexpr const char* name = "rows";  ///< of the temporary file
  /// Appends a record; where it is. Failure io.
  std::uint64_t add(const RunRecord& run);
  /// Writes what add() holds back, before a get(). Failure io.
  void flush();
  /// The record at this place, which is written. Failure io, also when its bytes are not those that were added.
  void get(std::uint64_t at, RunRecord& run) const;

 private:
  std::string path_;
  File file_;
  std::string waiting_;       ///< not written yet
  std::uint64_t written_ = 0;  ///< bytes in the file
};

}  // namespace odrpo::store
