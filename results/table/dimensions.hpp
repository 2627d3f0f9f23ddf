// Makes codes of the dimensions of a file's runs: env, rater, policy, estimator, votes and the grid axes. Private to results/.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "results/store/record.hpp"

namespace odrpo {

/// A column that was read. Failure internal when it was not, or is of the other type.
const Column& read_column(const ResultFile& file, const std::string& name, bool numeric);

/// The entry of runs that lack an axis.
inline constexpr const char* absent_entry = "-";

/// One dimension with its value in each run.
struct Dimension {
  std::string name;                     ///< printable
  std::vector<std::string> entries;     ///< its values as printable texts, in the order in which the runs bring them
  std::span<const std::uint32_t> code;  ///< one index into `entries` per run; of the file's column, or of `own`
  std::vector<std::uint32_t> own;
};

/// All dimensions: the plain ones, then the axes in the order in which the runs bring them. A run without an axis has absent_entry there.
/// The file must outlive them.
std::vector<Dimension> dimensions_of(const ResultFile& file);

/// The file's own name of a dimension: the word itself, or the one axis that ends in ".word". `value` is the dimension of the values (not
/// of `best` and `where`). Failure usage, which begins with `what`.
std::string dimension_named(const std::vector<std::string>& names, const std::string& wanted, const char* what);

/// The entry that a word means: the word itself, or an equal number (1e6 is 1000000); else the word.
std::string entry_named(const std::vector<std::string>& entries, const std::string& word);

/// The different combinations of several dimensions, in the order in which the runs bring them.
struct Combinations {
  std::vector<std::uint32_t> code;   ///< one index into `first` per run; empty when there is one combination
  std::vector<std::uint32_t> first;  ///< the first run of each
  std::uint32_t of(std::size_t run) const { return code.empty() ? 0 : code[run]; }
};
Combinations combinations_of(std::span<const Dimension* const> dimensions, std::size_t runs);

/// Is a dimension's value the same in all runs that agree in these others?
bool follows(const Dimension& dimension, std::span<const Dimension* const> others, std::size_t runs);

/// Runs sorted by a code, in file order among those of one code.
struct SortedRuns {
  std::vector<std::uint32_t> begin;  ///< of each code; one more for the end
  std::vector<std::uint32_t> runs;
  std::span<const std::uint32_t> of(std::size_t code) const { return std::span(runs).subspan(begin[code], begin[code + 1] - begin[code]); }
};
SortedRuns sorted_runs(std::span<const std::uint32_t> code, std::size_t codes);

// Grids of learning rates: which axis is one, and when it is coarse.

/// Neighbours on a grid that differ by more than this factor may have a better learning rate between them.
inline constexpr double coarse_factor = 2;

/// Is the axis a learning rate: "lr", or "lr" of some section?
inline bool is_learning_rate(std::string_view axis) { return axis == "lr" || axis.ends_with(".lr"); }

}  // namespace odrpo
