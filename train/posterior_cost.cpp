// Rough costs of models and of posterior scores; measured on one 2.6 GHz core.
#include "train/posterior_cost.hpp"

#include <algorithm>

#include "envs/bandit/call_model.hpp"
#include "envs/bandit/score_model.hpp"
#include "kernels/math.hpp"
#include "spec/reward_kind.hpp"
#include "spec/spec.hpp"
#include "train/posterior_model.hpp"

namespace odrpo {
namespace {

constexpr double seconds_of_law = 8e-7;       ///< of a call, for each level
constexpr double seconds_of_product = 1e-9;   ///< of a response's votes with one kind of traits of one quality
constexpr double seconds_of_share = 1.2e-10;  ///< of one quality in one state
constexpr double seconds_of_state = 4e-9;      ///< of a state, for each group
constexpr double seconds_of_response = 0.7e-6, seconds_of_vote = 15e-9;  ///< to find the row of a response's votes
constexpr double logarithms = 100;            ///< times as long, where products are too small for doubles …
constexpr double votes_in_doubles = 400;      ///< … as from about so many votes

double states_of(const Belief& belief) { return static_cast<double>(count_states(belief.world, belief.rater, belief.grid)); }

/// The size of a model of all votes.
struct Size {
  double states, responses, cells;  ///< cells: combinations of judges, lasting traits and responses
};
Size size_of(const Belief& belief, int levels) {
  return {states_of(belief), believed_responses(belief.rater, levels), call_cells(belief.rater, levels)};
}

/// Different sets of N votes among so many responses: there are about c N^2 common ones, and rarer ones go on coming.
double different_sets(double votes, int levels, double responses) {
  double all = 1;
  for (int k = 1; k < levels; ++k) all *= (votes + k) / k;
  const double common = 10 * votes * votes;
  return std::min({all, responses, common * (1 - math::log(common / (common + responses)))});
}

}  // namespace

double posterior_bytes(const RunSpec& spec, double responses) {
  if (!spec.estimator.posterior) return 0;
  const Belief belief = belief_of(spec);
  const int levels = spec.env.levels();
  if (!belief.all_votes) {
    const double scores = levels * (reward_kind(spec).real ? per_level_of_reals : 1);
    const double rows = belief.grid.moments ? 9 : 7;  // of ScoreModel and PosteriorScores
    return rows * sizeof(double) * scores * states_of(belief);
  }
  const Size size = size_of(belief, levels);
  const double row = 256 + (belief.grid.moments ? 4 : 3) * sizeof(double) * size.states;
  return std::min(static_cast<double>(PosteriorVotes::most_kept), row * different_sets(spec.votes, levels, responses)) +
         call_model_bytes(belief.rater, levels) + sizeof(double) * size.responses * size.states;
}

double posterior_seconds(const RunSpec& spec) {
  if (!spec.estimator.posterior) return 0;
  const Belief belief = belief_of(spec);
  const double groups = static_cast<double>(spec.learn.steps) * spec.learn.batch;
  if (!belief.all_votes && spec.estimator.prior == PriorRule::fixed) return 0;
  const double of_response = belief.all_votes ? seconds_of_response + seconds_of_vote * spec.votes : 0;
  return groups * (seconds_of_state * states_of(belief) + of_response * spec.learn.rollouts);
}

double posterior_model_seconds(const RunSpec& spec, double responses) {
  if (!spec.estimator.posterior) return 0;
  const Belief belief = belief_of(spec);
  if (!belief.all_votes) return 0;
  const int levels = spec.env.levels();
  const Size size = size_of(belief, levels);
  const double of_row =
      size.cells * seconds_of_product * (spec.votes > votes_in_doubles ? logarithms : 1) + size.states * size.responses * seconds_of_share;
  return size.cells * seconds_of_law * levels + different_sets(spec.votes, levels, responses) * of_row;
}

bool posterior_too_large(const RunSpec& spec) {
  if (!spec.estimator.posterior) return false;
  const Belief belief = belief_of(spec);
  return belief.all_votes && call_model_bytes(belief.rater, spec.env.levels()) > most_call_model_bytes;
}

}  // namespace odrpo
