// How often each score is given to responses of each level: the rows that resampled responses are drawn to (docs/raters.md).
#pragma once
#include <cstddef>
#include <vector>

#include "kernels/shared/score_table.hpp"

namespace odrpo {

inline constexpr int thin_row = 20;  ///< a level that fewer responses have is smoothed

/// What is taken for a response's level: the mean of its scores, or that of the middle half of them, which outliers do not move.
enum class RowCentre { mean, middle };

/// The level of a response that has scores, from 0: their centre, a half rounded up.
std::size_t level_of(const ScoreTable& table, const ScoreTable::Response& response, RowCentre centre);

/// [K][K]: the frequencies of the scores of all judges, a row for each level; level_of() says a response's level. Of
/// the responses with two scores or more, because one score lies on its own mean. A level that fewer than thin_row of them have gets half a
/// count of a lattice Gaussian around it, whose sd is that of a score around its response's mean (N - 1 in the denominator). Throws
/// Failure(Exit::bad_input) when K is 1, or no response has two scores.
std::vector<double> level_frequencies(const ScoreTable& table, RowCentre centre = RowCentre::mean);

}  // namespace odrpo
