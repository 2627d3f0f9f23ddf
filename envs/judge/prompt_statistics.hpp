// Measures how well the scores of each prompt agree: Kendall's W, flips (pairs in opposite order), ties, spread of a response's scores.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/shared/score_table.hpp"

namespace odrpo {

/// Statistics of a matrix of levels: M responses (rows) x N columns. Defined as in agreement.hpp, with each column as a judge.
/// NaN = undefined.
struct PromptStatistics {
  std::uint32_t responses = 0, columns = 0;  ///< M, N
  double w;                                  ///< Kendall's W with tie correction; undefined for M < 2, N < 2, or when every column ties all
  double rank_correlation;                   ///< (N W - 1) / (N - 1): mean of Spearman's correlation over pairs of columns, without ties
  double flip;           ///< share of (pair of responses, pair of columns) ordered strictly oppositely; undefined for M < 2 or N < 2
  double tie;            ///< share of (pair of responses, column) that are ties; undefined for M < 2
  double constant_rows;  ///< share of rows whose scores are all equal; undefined for N < 2
  double row_sd;         ///< mean over rows of the standard deviation (ddof 1), levels; undefined for N < 2
  double mean;           ///< mean of all scores, levels; undefined for M = 0
};

/// Computes the statistics of one matrix of levels without missing scores, stored row after row: level[row * columns + column].
PromptStatistics matrix_statistics(std::span<const std::uint8_t> level, std::size_t columns);

/// Computes the statistics of each prompt of a table. Rows of its matrix are the responses with a score. Columns are only those in which all
/// of these have a score (complete_columns()). A prompt without such a column has M = N = 0, and no statistic of it is defined.
/// Time is proportional to ratings x min(M / 2, (1 + K^2 / M) N / 2). For example, 3000 prompts of 10 responses x 4 columns take a
/// few milliseconds.
std::vector<PromptStatistics> prompt_statistics(const ScoreTable& table);

}  // namespace odrpo
