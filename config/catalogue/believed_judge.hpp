// Finds the judge that a run's posterior or corrected estimator believes in, and corrects scores for its channel.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "envs/rater/rater.hpp"
#include "estimators/corrected.hpp"

namespace odrpo {

struct RunSpec;

/// Returns the rater as the run's estimator believes it to be: the judge of `model`, whose calls are made and aggregated as the run's.
RaterConfig believed_rater(const RunSpec& spec);

/// Corrected scores of a judge, or the reason why an estimator cannot have them.
struct CorrectedJudge {
  CorrectedScores scores;  ///< empty where the judge has no channel
  std::optional<std::string> refusal;
};
/// Corrects the scores 1..levels that `votes` calls to the rater give, for corrected(FORM). The channel is the mean over kinds of prompts.
/// Throws as level_channels().
CorrectedJudge correct_judge(const EstimatorConfig& estimator, const RaterConfig& rater, int levels, int votes);
/// As correct_judge(), for the judge that the run's estimator believes in.
CorrectedJudge correct_judge(const RunSpec& spec);

/// A text that is equal for runs whose judge is corrected alike. The estimated seconds of correct_judge() on one core.
std::string correction_key(const RunSpec& spec);
double correction_seconds(const RunSpec& spec);
/// A suite is loaded without correcting judges for which it would take longer; what cannot be corrected is then refused when it trains.
inline constexpr double most_correction_seconds = 2;

/// How far the corrected scores of a run are off in the mean, over its rater's own channel and the qualities of its world, in steps of
/// 1/4 level (1 where they are whole levels). Nullopt where the rater has no channel. Takes a few times as long as correct_judge().
std::optional<CorrectionBias> correction_bias(const RunSpec& spec, const CorrectedScores& scores);

}  // namespace odrpo
