// All records of a suite while its output is made: in a row file, by their place. Private to results/store/.
#pragma once
#include <cstdint>
#include <vector>

#include "results/store/file/layout.hpp"
#include "results/store/work/row_file.hpp"
#include "results/store/work/work_folder.hpp"

namespace odrpo::store {

/// Of each run the latest that worked, else the latest.
struct Merged {
  RowFile rows;
  Outline outline;
  std::vector<std::uint64_t> at;  ///< in the row file
  std::vector<std::uint32_t> shape;
  std::vector<bool> ok;
  static constexpr std::uint64_t nowhere = ~std::uint64_t{0};

  Merged(const Folder& folder, const SuiteFacts& facts);
  bool has(std::size_t place) const { return at[place] != nowhere; }
  void add(const RunRecord& run, std::size_t place);
};

}  // namespace odrpo::store
