// From a run's spec to the tables of its posterior estimator.
#include "train/posterior_model.hpp"

#include <fmt/format.h>

#include "envs/bandit/call_model.hpp"
#include "envs/bandit/score_model.hpp"
#include "envs/toy_lm/rate_texts.hpp"
#include "spec/canonical.hpp"
#include "spec/prior_grid.hpp"
#include "spec/reward_kind.hpp"

namespace odrpo {
namespace {

constexpr double seconds_of_votes = 40e-6;  ///< rough, of all votes of a response that no other had
constexpr double pays_from = 0.25;  ///< groups of a run for each histogram: other runs of the suite share the table

/// The rater as the estimator believes it to be: the judge of the model, asked and read as the run's.
RaterConfig believed_rater(const RunSpec& spec) {
  RaterConfig rater = spec.rater;
  if (spec.model) {
    rater.noise = spec.model->noise;
    rater.world = spec.model->world;
  }
  if (spec.env.kind == WorldKind::toy_lm) {
    rater = with_json_failures(rater);
    rater.parse_failure = failure_chance(rater);
    rater.text = {};
  }
  return without_cost(rater);
}

BanditConfig believed_world(const RunSpec& spec) {
  if (spec.env.kind == WorldKind::bandit) return spec.env.bandit;
  BanditConfig world;
  world.levels = spec.env.levels();
  return world;
}

/// Kinds of responses that a model has.
double believed_responses(const RaterConfig& rater, int levels) {
  if (const ScoredResponses* file = scored_responses(rater.noise)) return static_cast<double>(file->rows()) / file->judges;
  return ScoreModelGrid().qualities_per_level * (levels - 1) + 1;
}

}  // namespace

PosteriorTables posterior_tables(const RunSpec& spec, RunCache& cache, const BatchEstimator& estimator, Isa isa, bool look_up) {
  PosteriorTables tables;
  if (!spec.estimator.posterior) return tables;
  const RaterConfig rater = believed_rater(spec);
  const BanditConfig world = believed_world(spec);
  const int levels = spec.env.levels(), rollouts = spec.learn.rollouts;
  const bool fixed = spec.estimator.prior == PriorRule::fixed;
  const std::string key = fmt::format("{} {} levels {} votes {} prior {}", canonical_fields(world), canonical_fields(rater), levels,
                                      spec.votes, word_of(std::span<const Word<PriorRule>>(prior_words), spec.estimator.prior));
  const ScoreModelGrid grid = prior_grid(spec.estimator.prior, world);
  if (scores_of_response(rater, spec.votes) > 1) {
    tables.votes = cache.posterior_votes(key, [&] {
      return std::make_shared<const PosteriorVotes>(make_call_model(rater, resolve_source(world, rater), levels, spec.votes, grid), isa);
    });
    return tables;
  }
  tables.model = cache.posterior_model(key, [&] {
    return std::make_shared<const PosteriorModel>(make_score_model(rater, resolve_source(world, rater), levels, spec.votes, grid));
  });
  tables.look_up = &group_table_stages(isa);
  const RewardKind kind = reward_kind(spec);
  const bool whole = look_up && fixed && !kind.real && !kind.gaps && !leaves_pivot(spec.estimator.form);
  if (whole && static_cast<double>(spec.learn.steps) * spec.learn.batch >= pays_from * HistogramTable::rows(levels, rollouts))
    tables.advantages = cache.posterior_table(
        fmt::format("{} {} {} group {}", key, estimator_word(spec.estimator), canonical_fields(spec.estimator), rollouts),
        [&] { return posterior_table(*tables.model, estimator, levels, rollouts); });
  return tables;
}

double posterior_bytes(const RunSpec& spec) {
  if (!spec.estimator.posterior) return 0;
  const RaterConfig rater = believed_rater(spec);
  const double states = static_cast<double>(prior_grid(spec.estimator.prior, believed_world(spec)).most_states());
  if (scores_of_response(rater, spec.votes) > 1) {
    const double responses = believed_responses(rater, spec.env.levels());
    return static_cast<double>(PosteriorVotes::most_kept) + call_model_bytes(rater, spec.env.levels(), responses) +
           sizeof(double) * responses * states;
  }
  const double scores = spec.env.levels() * (reward_kind(spec).real ? per_level_of_reals : 1);
  return 5 * sizeof(double) * scores * states;
}

double posterior_seconds(const RunSpec& spec) {
  if (!spec.estimator.posterior) return 0;
  const double groups = static_cast<double>(spec.learn.steps) * spec.learn.batch;
  const double states = static_cast<double>(prior_grid(spec.estimator.prior, believed_world(spec)).most_states());
  const double of_group = 4e-9 * states;
  if (scores_of_response(believed_rater(spec), spec.votes) == 1) return spec.estimator.prior == PriorRule::fixed ? 0 : groups * of_group;
  return groups * (of_group + spec.learn.rollouts * seconds_of_votes);
}

}  // namespace odrpo
