// Makes a judge without a parametric model: each response gets a distribution near the frequencies of its own scores (docs/raters.md).
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "envs/rater/scored_responses.hpp"
#include "kernels/shared/score_table.hpp"

namespace odrpo {

// Frequencies of scores given a response's level. The distributions of resampled responses are mixed with these (docs/raters.md).

inline constexpr int thin_row = 20;  ///< level_frequencies() smooths the frequencies of a level with fewer responses than this

/// Which centre of its scores is a response's level: the mean, or the mean of the middle half of them, which outliers do not change.
enum class RowCentre { mean, middle };

/// The level, from 0, of a response that has scores: the centre of its scores, rounded to a whole level (halves upwards).
std::size_t level_of(const ScoreTable& table, const ScoreTable::Response& response, RowCentre centre);

/// Returns P(score | level of the response), [K][K], from the scores of all judges. Only responses with two scores or more count, because a
/// single score lies on its own mean. For a level with fewer than thin_row such responses, half a count of a lattice Gaussian around the level
/// is added. Its sd is that of scores around their response's mean (N - 1 in the denominator). Throws Failure(Exit::bad_input) if K is 1,
/// or if no response has two scores.
std::vector<double> level_frequencies(const ScoreTable& table, RowCentre centre = RowCentre::mean);

inline constexpr std::uint32_t most_resampled = 65'536;  ///< most responses; of a larger table, prompts are chosen at random (fewer for
                                                         ///< large panels, because of most_distributions and 128 MiB)

/// A resampled judge: the responses with their distributions, and how these were made.
struct ResampledJudge {
  std::shared_ptr<const ScoredResponses> responses;
  double concentration = 0;  ///< c: weight of the frequencies p of the response's level, as a number of scores
  std::string reason;        ///< why c is 0 instead of fitted, a clause without a full stop; empty where c is fitted
};

/// Makes the distribution of each response. If judge j gave it N scores, n_k of them score k, then P(score k) = (n_k + c p_k) / (N + c). If j
/// gave it none, P(score k) = p_k. p_k is the frequency of score k in j's scores of all responses of the same level (level_of()). In panels,
/// p also counts one score with the frequencies of all judges (level_frequencies()). The fit chooses c, 0.01 to 1000, such that tables
/// redrawn from the distributions resemble the given table most. Seven statistics are compared (median and mean W, flips, ties, three of
/// the spread of scores), each over its moment_tolerance(). If no judge scored a response twice, c = 0. With RowCentre::middle, level and
/// true quality come from the middle half of a response's scores. Throws Failure(Exit::bad_input) as level_frequencies() does, for more
/// than most_judges judges, and when no prompt has two responses with scores; Failure(Exit::limits) if every prompt is too large.
ResampledJudge resample_responses(const ScoreTable& table, RowCentre centre = RowCentre::mean);

}  // namespace odrpo
