// From a run's spec to the tables of its posterior estimator.
#include "train/posterior_model.hpp"

#include <fmt/format.h>

#include <iterator>

#include "envs/bandit/score_model.hpp"
#include "envs/toy_lm/rate_texts.hpp"
#include "spec/canonical.hpp"
#include "spec/reward_kind.hpp"

namespace odrpo {
namespace {

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

/// A prior that follows the policy needs prompts whose responses are more alike than the world's.
ScoreModelGrid grid_of(PriorRule prior, const BanditConfig& world) {
  ScoreModelGrid grid;
  if (world.quality == QualityKind::integer) grid.qualities_per_level = 1;
  if (prior == PriorRule::following) grid.spread_scales.assign(std::begin(following_scales), std::end(following_scales));
  grid.moments = prior == PriorRule::moments;
  return grid;
}

}  // namespace

PosteriorTables posterior_tables(const RunSpec& spec, RunCache& cache, const BatchEstimator& estimator, Isa isa, bool look_up) {
  PosteriorTables tables;
  if (!spec.estimator.posterior) return tables;
  tables.look_up = &group_table_stages(isa);
  const RaterConfig rater = believed_rater(spec);
  const BanditConfig world = believed_world(spec);
  const int levels = spec.env.levels(), rollouts = spec.learn.rollouts;
  const bool fixed = spec.estimator.prior == PriorRule::fixed;
  const std::string key = fmt::format("{} {} levels {} votes {} prior {}", canonical_fields(world), canonical_fields(rater), levels,
                                      spec.votes, word_of(std::span<const Word<PriorRule>>(prior_words), spec.estimator.prior));
  tables.model = cache.posterior_model(key, [&] {
    return std::make_shared<const PosteriorModel>(
        make_score_model(rater, resolve_source(world, rater), levels, spec.votes, grid_of(spec.estimator.prior, world)));
  });
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
  const ScoreModelGrid grid = grid_of(spec.estimator.prior, believed_world(spec));
  const double scores = spec.env.levels() * (reward_kind(spec).real ? per_level_of_reals : 1);
  return 5 * sizeof(double) * scores * static_cast<double>(grid.most_states());
}

}  // namespace odrpo
