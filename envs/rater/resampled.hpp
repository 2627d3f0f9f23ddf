// From a table of scores to responses that keep their own scores: a judge without a model (docs/raters.md).
#pragma once
#include <cstdint>
#include <memory>

#include "envs/rater/scored_responses.hpp"
#include "kernels/score_table.hpp"

namespace odrpo {

inline constexpr std::uint32_t most_resampled = 65'536;  ///< responses; of a table with more, every n-th prompt is taken

struct ResampledJudge {
  std::shared_ptr<const ScoredResponses> responses;
  double concentration = 0;  ///< how many scores of its level's row a response's own counts are joined by
};

/// The law of a response with counts n_k of N scores is (n_k + c p_k) / (N + c). p is the pooled frequencies of all responses of its level
/// (mean score, a half rounded up; learn_judge()); c is the concentration, 0.01 to 10,000, under which the counts are likeliest when each
/// response's law is drawn from Dirichlet(c p). Scores of several judges are pooled. Throws Failure(Exit::bad_input) as learn_judge() does,
/// and when no prompt has two responses with scores.
ResampledJudge resample_responses(const ScoreTable& table);

}  // namespace odrpo
