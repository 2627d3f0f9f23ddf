// Encodes the dimensions of a file's runs as integers: env, rater, policy, estimator, votes and the grid axes. Private to results/.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "results/store/record.hpp"

namespace odrpo {

/// Returns a column of the root table that was read. Failure `internal` if it was not read, or has the other type.
const Column& read_column(const ResultFile& file, const std::string& name, bool numeric);

/// The text in Dimension::entries for runs that do not have the axis.
inline constexpr const char* absent_entry = "-";

/// One dimension of a table, with its value in each run.
struct Dimension {
  std::string name;                     ///< printable
  std::vector<std::string> entries;     ///< its values as printable texts, in the order of their first run
  std::span<const std::uint32_t> code;  ///< one index into `entries` per run; points into the file's column, or into `own`
  std::vector<std::uint32_t> own;
};

/// All dimensions: env, rater, policy, estimator, votes, then the axes in the order of their first run. A run without an axis has
/// absent_entry. The file must outlive the result.
std::vector<Dimension> dimensions_of(const ResultFile& file);

/// Finds the dimension that a word of the user means: the dimension of this name, or the only axis whose name ends in ".word". `value`
/// means the dimension of a table's values, but not in `best` and `where`. Failure `usage`, whose message begins with `what`.
std::string dimension_named(const std::vector<std::string>& names, const std::string& wanted, const char* what);

/// Returns the one of `entries` that a word means: an equal text, or an equal number (1e6 is 1000000). If there is none, the word.
std::string entry_named(const std::vector<std::string>& entries, const std::string& word);

/// The different combinations of the values of several dimensions, in the order of their first run.
struct Combinations {
  std::vector<std::uint32_t> code;   ///< one index into `first` per run; empty if there is only one combination
  std::vector<std::uint32_t> first;  ///< the first run of each combination
  std::uint32_t of(std::size_t run) const { return code.empty() ? 0 : code[run]; }
};
Combinations combinations_of(std::span<const Dimension* const> dimensions, std::size_t runs);

/// True if the dimensions `others` determine `dimension`: runs that agree in them have the same value of it.
bool follows(const Dimension& dimension, std::span<const Dimension* const> others, std::size_t runs);

/// Runs grouped by an integer (code); runs with the same code stay in file order.
struct SortedRuns {
  std::vector<std::uint32_t> begin;  ///< index in `runs` of each code's first run, and at the end the number of runs
  std::vector<std::uint32_t> runs;
  std::span<const std::uint32_t> of(std::size_t code) const { return std::span(runs).subspan(begin[code], begin[code + 1] - begin[code]); }
};
SortedRuns sorted_runs(std::span<const std::uint32_t> code, std::size_t codes);

// Grids of learning rates: which axis is a learning rate, and when its grid is coarse.

/// If neighbours on a grid differ by more than this factor, a better learning rate may lie between them.
inline constexpr double coarse_factor = 2;

/// True if the axis is a learning rate: "lr", or "lr" of a section.
inline bool is_learning_rate(std::string_view axis) { return axis == "lr" || axis.ends_with(".lr"); }

}  // namespace odrpo
