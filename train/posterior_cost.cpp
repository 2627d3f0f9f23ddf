// Rough costs of models and of posterior scores; measured on one 2.6 GHz core.
#include "train/posterior_cost.hpp"

#include <algorithm>

#include "envs/bandit/call_model.hpp"
#include "envs/bandit/score_model.hpp"
#include "spec/reward_kind.hpp"
#include "spec/spec.hpp"
#include "train/posterior_model.hpp"

namespace odrpo {
namespace {

constexpr double seconds_of_law = 8e-7;       ///< of a call, for each level
constexpr double seconds_of_product = 1e-9;   ///< of a response's votes with one kind of traits of one quality
constexpr double seconds_of_share = 1.2e-10;  ///< of one quality in one state
constexpr double logarithms = 100;            ///< times as long, where products are too small for doubles …
constexpr double votes_in_doubles = 400;      ///< … as from about so many votes

/// The size of a model of all votes.
struct Size {
  double states, responses, cells;  ///< cells: combinations of judges, lasting traits and responses
};
Size size_of(const Belief& belief, int levels) {
  return {static_cast<double>(belief.grid.most_states()), believed_responses(belief.rater, levels), call_cells(belief.rater, levels)};
}

}  // namespace

double posterior_bytes(const RunSpec& spec) {
  if (!spec.estimator.posterior) return 0;
  const Belief belief = belief_of(spec);
  const int levels = spec.env.levels();
  if (!belief.all_votes) {
    const double scores = levels * (reward_kind(spec).real ? per_level_of_reals : 1);
    return 5 * sizeof(double) * scores * static_cast<double>(belief.grid.most_states());
  }
  const Size size = size_of(belief, levels);
  return static_cast<double>(PosteriorVotes::most_kept) + call_model_bytes(belief.rater, levels) +
         sizeof(double) * size.responses * size.states;
}

double posterior_seconds(const RunSpec& spec) {
  if (!spec.estimator.posterior) return 0;
  const Belief belief = belief_of(spec);
  const int levels = spec.env.levels();
  const double groups = static_cast<double>(spec.learn.steps) * spec.learn.batch, votes = spec.votes;
  const double of_groups = groups * 4e-9 * static_cast<double>(belief.grid.most_states());
  if (!belief.all_votes) return spec.estimator.prior == PriorRule::fixed ? 0 : of_groups;
  const Size size = size_of(belief, levels);
  // of few votes most sets come again, and there are no more than these
  double sets = 1;
  for (int k = 1; k < levels; ++k) sets *= (votes + k) / k;
  const double rows = std::min(sets, groups * spec.learn.rollouts * std::min(1.0, votes * votes / 1024));
  const double of_row =
      size.cells * seconds_of_product * (votes > votes_in_doubles ? logarithms : 1) + size.states * size.responses * seconds_of_share;
  return of_groups + rows * of_row;
}

double posterior_model_seconds(const RunSpec& spec) {
  if (!spec.estimator.posterior) return 0;
  const Belief belief = belief_of(spec);
  return belief.all_votes ? call_cells(belief.rater, spec.env.levels()) * seconds_of_law * spec.env.levels() : 0;
}

bool posterior_too_large(const RunSpec& spec) {
  if (!spec.estimator.posterior) return false;
  const Belief belief = belief_of(spec);
  return belief.all_votes && call_model_bytes(belief.rater, spec.env.levels()) > most_call_model_bytes;
}

}  // namespace odrpo
