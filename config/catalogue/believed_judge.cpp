// Takes a run's rater with the noise of its model, and corrects scores for the channel of that judge.
#include "config/catalogue/believed_judge.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "config/spec.hpp"
#include "config/write/canonical.hpp"
#include "envs/bandit/believed.hpp"
#include "envs/rater/distribution_table.hpp"
#include "envs/toy_lm/rate_texts.hpp"

namespace odrpo {
namespace {

constexpr int steps_per_level = 4;  ///< of qualities between levels, at which correction_bias() looks

/// The rater with the noise and world of `model`, if there is one, for scores that do not look at a text.
RaterConfig rater_with(const RunSpec& spec, const std::optional<RaterConfig>& model) {
  RaterConfig rater = spec.rater;
  if (model) {
    rater.noise = model->noise;
    rater.world = model->world;
    // With another number of judges, no judge of the model is one of the run's. So every call is taken to be of the mean judge.
    if (panel_size(rater.noise) != panel_size(spec.rater.noise)) rater.order = JudgeOrder::random;
  }
  if (spec.env.kind == WorldKind::toy_lm) {
    rater = with_json_failures(rater);
    rater.parse_failure = failure_probability(rater);
    rater.text = {};
  }
  return without_cost(rater);
}

}  // namespace

RaterConfig believed_rater(const RunSpec& spec) { return rater_with(spec, spec.model); }

CorrectedJudge correct_judge(const EstimatorConfig& estimator, const RaterConfig& rater, int levels, int votes) {
  CorrectedJudge out;
  out.refusal = channel_refusal(rater, votes);
  if (!out.refusal && !estimator.values.empty() && std::ssize(estimator.values) != levels)
    out.refusal = fmt::format("{} values of {} levels", estimator.values.size(), levels);
  if (out.refusal) return out;
  out.scores = corrected_scores(mean_channel(level_channels(rater, levels, votes)), estimator.values);
  out.refusal = correction_refusal(estimator, out.scores);
  return out;
}

CorrectedJudge correct_judge(const RunSpec& spec) { return correct_judge(spec.estimator, believed_rater(spec), spec.env.levels(), spec.votes); }

std::string correction_key(const RunSpec& spec) {
  return fmt::format("{} levels {} votes {} values {}", canonical_fields(believed_rater(spec)), spec.env.levels(), spec.votes,
                     fmt::join(spec.estimator.values, " "));
}

double correction_seconds(const RunSpec& spec) {
  const RaterConfig rater = believed_rater(spec);
  if (channel_refusal(rater, spec.votes)) return 0;
  return static_cast<double>(prompt_traits(rater).size() * response_traits(rater).size()) * spec.env.levels() *
         aggregate_seconds(rater, spec.env.levels(), spec.votes);
}

std::optional<CorrectionBias> correction_bias(const RunSpec& spec, const CorrectedScores& scores) {
  const RaterConfig rater = rater_with(spec, std::nullopt);
  if (channel_refusal(rater, spec.votes)) return std::nullopt;
  const bool whole = spec.env.kind == WorldKind::bandit && spec.env.bandit.quality == QualityKind::integer;
  const int per_level = whole ? 1 : steps_per_level;
  return correction_bias(scores, spec.estimator.values, level_channels(rater, spec.env.levels(), spec.votes, per_level, true), per_level);
}

}  // namespace odrpo
