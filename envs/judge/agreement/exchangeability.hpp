// Tests whether a file's columns are calls of one judge (a permutation test), and finds which judges the columns may have.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/shared/score_table.hpp"

namespace odrpo {

/// A guess which judge gave the scores of column c = 0, 1, …. Either each judge gave m neighbouring columns: judge c / m. Or m judges
/// answered in turn: judge c % m.
struct ColumnReading {
  bool in_turn = false;
  std::uint32_t m = 1;  ///< columns per judge; in turn: number of judges. 1 without in_turn: each column is a judge of its own
  std::uint32_t judge_of(std::uint32_t column) const { return in_turn ? column % m : column / m; }
  bool operator==(const ColumnReading&) const = default;
};

/// What may differ between columns.
enum class ColumnEffect : std::uint8_t {
  constant,     ///< some columns have higher scores
  scale,        ///< some columns spread good and bad responses further apart
  noise,        ///< some columns differ more from the rest
  correlation,  ///< some pairs of columns agree more than other pairs
};
inline constexpr std::size_t column_effects = 4;

/// p values of a permutation test: one of each effect; and `p` of all four together, for which the smallest of the four is the statistic.
struct PermutationTest {
  double p = 1;
  std::array<double, column_effects> of{1, 1, 1, 1};  ///< p value of each effect, by ColumnEffect
  /// True if the columns differ. Wrong for one of 200 files of a single judge.
  bool differ() const { return p <= 0.005; }
};

/// Result of test_exchangeability(): p values, and a description of the columns.
struct Exchangeability {
  std::size_t prompts = 0, responses = 0;  ///< numbers of prompts and responses that the test used
  std::uint32_t columns = 0;               ///< N, columns of the file
  PermutationTest test;
  std::vector<double> offset;            ///< [N] mean of (score - mean of the response's calls), levels; NaN without used scores
  double constant_share = 0;             ///< variance of the offsets (divisor n - 1) / mean variance of a response's scores (divisor n)
  std::vector<double> correlation;       ///< [N][N] of residuals: score - mean of the response's calls - offset; NaN if undefined
  std::optional<ColumnReading> reading;  ///< if columns differ: the guess with the fewest judges such that no judge's own columns differ

  bool differ() const { return test.differ(); }
  /// Mean correlation of residuals over all pairs of columns of one judge (`one_judge`), or of two judges, as `reading` assigns columns. Without
  /// a reading, all columns count as one judge's. NaN if there is no such pair.
  double mean_correlation(bool one_judge) const;
};

inline constexpr std::uint32_t most_tested_columns = 64;  ///< files with more columns are not tested

/// True if the file names its judge or judges. If not, its columns may be calls of several judges.
inline bool says_who_judged(const ScoreTable& table) { return table.judges.size() != 1 || !table.judges[0].name.empty(); }

/// Null hypothesis: one judge made all calls. Then any order of the columns of a prompt is equally likely, whatever the distribution of
/// scores. A call's scores of one prompt may depend on each other. The test is exact: it permutes the columns of each prompt, the same way
/// for all its responses, 999 times. Each statistic is a sum of squared deviations from the mean. `constant`: of the columns' sums of ranks
/// within a response. `scale`: of their covariances with the response's mean. `noise`: of their sums of squared ranks. `correlation`: of
/// sums of products of ranks, over pairs of columns. Uses only the columns that all responses of a prompt have. Uses at most
/// 65,536 / N^2 prompts and about 4,096 responses, evenly chosen, but 50 prompts or more. Differences too small to show there change no advice.
/// With fewer than two columns, or more than most_tested_columns, p is 1 and only `columns` is set.
Exchangeability test_exchangeability(const ScoreTable& table, std::uint64_t seed);
/// Returns the p values of test_exchangeability() alone, without offsets and readings, which take most of the time where columns differ.
PermutationTest test_columns(const ScoreTable& table, std::uint64_t seed);

}  // namespace odrpo
