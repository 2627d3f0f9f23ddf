// Are the sample columns of a file the calls of one judge? A permutation test of exchangeability, and which judges the columns may have.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/shared/score_table.hpp"

namespace odrpo {

/// How columns 0, 1, … are dealt to judges: blocks of m neighbours (judge c / m), or m judges in turn (judge c % m).
struct ColumnReading {
  bool in_turn = false;
  std::uint32_t m = 1;  ///< 1 in blocks: each column is a judge of its own
  std::uint32_t judge_of(std::uint32_t column) const { return in_turn ? column % m : column / m; }
  bool operator==(const ColumnReading&) const = default;
};

/// What may differ between columns; the order of the p values below.
enum class ColumnEffect : std::uint8_t {
  constant,     ///< some give higher scores
  scale,        ///< some spread responses further apart
  noise,        ///< some lie further from the others
  correlation,  ///< some pairs agree more than others
};
inline constexpr std::size_t column_effects = 4;

/// p values of a permutation test: of each effect, and of the smallest of the four (the joint distribution of their permutations).
struct PermutationTest {
  double p = 1;
  std::array<double, column_effects> of{1, 1, 1, 1};  ///< by ColumnEffect
  /// Calls of one judge are taken to differ in one of 200 files.
  bool differ() const { return p <= 0.005; }
};

struct Exchangeability {
  std::size_t prompts = 0, responses = 0;  ///< that were used
  std::uint32_t columns = 0;               ///< N of the file
  PermutationTest test;
  std::vector<double> offset;            ///< [N] mean of score - mean of the response's calls; levels; NaN of a column without scores that were used
  double constant_share = 0;             ///< variance (n - 1) of offsets / mean variance (n) of a row
  std::vector<double> correlation;       ///< [N][N] of residuals: score - mean of the response's calls - offset; NaN where there is none
  std::optional<ColumnReading> reading;  ///< where columns differ: the fewest judges whose calls do not differ within a judge

  bool differ() const { return test.differ(); }
  /// Mean correlation of residuals over pairs of columns of one judge of the reading (without one: all pairs), or of two. NaN of no pair.
  double mean_correlation(bool one_judge) const;
};

inline constexpr std::uint32_t most_tested_columns = 64;

/// Does the file name its judges, or one judge? Else its columns may be those of several.
inline bool says_who_judged(const ScoreTable& table) { return table.judges.size() != 1 || !table.judges[0].name.empty(); }

/// Under one judge the calls about a prompt are exchangeable: any order of its columns is equally likely, however scores are distributed
/// and whatever a call's scores of one prompt share. So the columns of each prompt are permuted, all of its responses together: 999 times,
/// which is exact. Statistics are sums of squares about their mean, over columns: of the sum of ranks within the response (constant); of
/// the covariance with the response's mean (scale); of the squared ranks (noise); and over pairs of columns, of products of ranks
/// (correlation). A prompt counts with the columns that all its responses have; at most 65,536 / N^2 prompts (at least 50) and about 4,096
/// responses, evenly chosen: smaller differences than they show change no advice. With fewer than two columns, or more than
/// most_tested_columns, p is 1 and nothing else is set.
Exchangeability test_exchangeability(const ScoreTable& table, std::uint64_t seed);
/// Its test alone, without offsets and readings, which take most of the time where columns differ.
PermutationTest test_columns(const ScoreTable& table, std::uint64_t seed);

}  // namespace odrpo
