// From a table of scores to responses that keep their own scores: a judge without a model (docs/raters.md).
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "envs/rater/scored_responses.hpp"
#include "kernels/shared/score_table.hpp"

namespace odrpo {

// How often each score is given to responses of each level: the rows that resampled responses are drawn to (docs/raters.md).

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

inline constexpr std::uint32_t most_resampled = 65'536;  ///< responses; of a table with more, prompts are chosen at random (fewer for
                                                         ///< large panels, by most_distributions and 128 MiB)

struct ResampledJudge {
  std::shared_ptr<const ScoredResponses> responses;
  double concentration = 0;  ///< c: how many scores of its level's row join a judge's own scores of a response
  std::string reason;        ///< why c is not fitted but 0, a clause without a full stop; empty where it is fitted
};

/// Judge j, who gave a response n_k of N scores, has the distribution (n_k + c p_k) / (N + c) there. p is the frequency of j's scores of all
/// responses of that level (mean score of all judges, a half rounded up), in panels with one score of the pooled row joined to it
/// (level_frequencies()); a judge who did not score the response has p there. c, 0.01 to 1000, is where redrawn tables come nearest to this
/// one in median and mean W, flips, ties, rows without spread, row deviation and that of each judge's own scores, each over its tolerance
/// (moment_tolerance()). Where no judge scored a response twice, its scores are taken as lasting: c = 0. Throws Failure(Exit::bad_input) as
/// level_frequencies() does, for more than most_judges judges, and when no prompt has two responses with scores; Failure(Exit::limits)
/// where every prompt is too large.
/// With RowCentre::middle the level of a response and its true quality are those of the middle half of its scores.
ResampledJudge resample_responses(const ScoreTable& table, RowCentre centre = RowCentre::mean);

}  // namespace odrpo
