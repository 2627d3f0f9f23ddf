// Makes the tables of a run's posterior estimator from its spec.
#include "train/worlds/posterior_model.hpp"

#include <fmt/format.h>

#include "config/catalogue/believed_judge.hpp"
#include "config/catalogue/catalogue.hpp"
#include "config/catalogue/env_config.hpp"
#include "config/catalogue/prior_grid.hpp"
#include "config/spec.hpp"
#include "config/write/canonical.hpp"
#include "envs/bandit/believed.hpp"
#include "kernels/shared/words.hpp"
#include "train/run_cache.hpp"

namespace odrpo {
namespace {

constexpr double pays_from = 0.25;  ///< a table pays if a run has so many groups per histogram, since other runs share the table

BanditConfig believed_world(const RunSpec& spec) {
  if (spec.env.kind == WorldKind::bandit) return spec.env.bandit;
  BanditConfig world;
  world.levels = spec.env.levels();
  return world;
}

}  // namespace

Belief belief_of(const RunSpec& spec) {
  Belief belief{believed_rater(spec), believed_world(spec), {}, {}, scores_of_response(spec.rater, spec.votes) > 1};
  belief.grid = prior_grid(spec.estimator.prior, belief.world, belief.rater, spec.votes, spec.learn.rollouts);
  belief.key = fmt::format("{} {} levels {} votes {} members {} prior {}", canonical_fields(belief.world), canonical_fields(belief.rater),
                           spec.env.levels(), spec.votes, belief.grid.members, word_of(std::span<const Word<PriorRule>>(prior_words), spec.estimator.prior));
  return belief;
}

PosteriorTables posterior_tables(const RunSpec& spec, RunCache& cache, const BatchEstimator& estimator, Isa isa, bool look_up) {
  PosteriorTables tables;
  if (!spec.estimator.posterior) return tables;
  const Belief belief = belief_of(spec);
  const int levels = spec.env.levels(), rollouts = spec.learn.rollouts;
  const bool fixed = spec.estimator.prior == PriorRule::fixed;
  const auto source = [&] { return resolve_source(belief.world, belief.rater); };
  if (belief.all_votes) {
    tables.votes = cache.posterior_votes(belief.key, [&] {
      return std::make_shared<const PosteriorVotes>(make_call_model(belief.rater, source(), levels, spec.votes, belief.grid), isa);
    });
    return tables;
  }
  tables.model = cache.posterior_model(belief.key, [&] {
    return std::make_shared<const PosteriorModel>(make_score_model(belief.rater, source(), levels, spec.votes, belief.grid), isa, fixed ? 0 : belief.grid.members);
  });
  tables.look_up = &group_table_stages(isa);
  const RewardKind kind = reward_kind(spec);
  const bool whole = look_up && fixed && !kind.real && !kind.gaps && !leaves_pivot(spec.estimator.form);
  if (whole && static_cast<double>(spec.learn.steps) * spec.learn.batch >= pays_from * HistogramTable::rows(levels, rollouts))
    tables.advantages = cache.posterior_table(
        fmt::format("{} {} {} group {}", belief.key, estimator_word(spec.estimator), canonical_fields(spec.estimator), rollouts),
        [&] { return posterior_table(spec.estimator, *tables.model, estimator, levels, rollouts); });
  return tables;
}

}  // namespace odrpo
