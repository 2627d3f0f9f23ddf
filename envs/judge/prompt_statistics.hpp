// How the scores of one prompt agree: Kendall's W, flips, ties and the spread of rows, of every prompt of a table at once.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/shared/score_table.hpp"

namespace odrpo {

/// Statistics of a matrix of M responses x N columns of levels; definitions as in agreement.hpp, with a column as a judge. NaN = undefined.
struct PromptStatistics {
  std::uint32_t responses = 0, columns = 0;  ///< M, N
  double w;                                  ///< Kendall's W with tie correction; undefined for M < 2, N < 2, or when every column ties all
  double rank_correlation;                   ///< (N W - 1) / (N - 1): mean of Spearman's correlation over pairs of columns, without ties
  double flip;           ///< share of (pair of responses, pair of columns) ordered strictly oppositely; undefined for M < 2 or N < 2
  double tie;            ///< share of (pair of responses, column) that are ties; undefined for M < 2
  double constant_rows;  ///< share of rows whose scores are all equal; undefined for N < 2
  double row_sd;         ///< mean over rows of the standard deviation (ddof 1), levels; undefined for N < 2
  double mean;           ///< of all scores, levels; undefined for M = 0
};

/// Of a matrix with rows of `columns` levels, row after row. `level` has a whole number of rows.
PromptStatistics matrix_statistics(std::span<const std::uint8_t> level, std::size_t columns);

/// Of each prompt of the table: its responses that have a score, in its complete columns. A prompt without a complete column has M = N = 0
/// and nothing that is defined. Takes time in proportion to the ratings x the smaller of M / 2 and (1 + K^2 / M) N / 2; 3000 prompts of
/// 10 x 4 take a few milliseconds.
std::vector<PromptStatistics> prompt_statistics(const ScoreTable& table);

}  // namespace odrpo
