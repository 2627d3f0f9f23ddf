// Rough costs of models and of posterior scores; measured on one 2.6 GHz core.
#include "train/schedule/cost.hpp"

#include <algorithm>

#include "config/catalogue/reward_kind.hpp"
#include "config/spec.hpp"
#include "envs/bandit/believed_calls.hpp"
#include "envs/bandit/believed_scores.hpp"
#include "kernels/math.hpp"
#include "train/worlds/posterior_model.hpp"

namespace odrpo {
namespace {

constexpr double seconds_of_law = 8e-7;       ///< of a call, for each level
constexpr double seconds_of_product = 1e-9;   ///< of a response's votes with one kind of traits of one quality
constexpr double seconds_of_share = 1.2e-10;  ///< of one quality in one state
constexpr double seconds_of_state = 2e-9;      ///< of a state, for each group, of scores
constexpr double seconds_of_votes_state = 1e-9;  ///< of a state, for each response, of all votes
constexpr double seconds_of_floor = 0.7e-9, seconds_of_known_floor = 0.7e-6;  ///< of a state for each group; of a group whose prior is fixed
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

/// Different sets of N votes among so many responses: rarer ones go on coming (as measured with 8 and 32 votes).
double different_sets(double votes, int levels, double responses) {
  double all = 1;
  for (int k = 1; k < levels; ++k) all *= (votes + k) / k;
  return std::min({all, std::max(responses, 1.0), 1 + 0.04 * votes * math::sqrt(votes) * math::exp(0.8 * math::log(responses))});
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
  const double rollouts = spec.learn.rollouts;
  if (belief.all_votes)
    return groups * rollouts * (seconds_of_votes_state * states_of(belief) + seconds_of_response + seconds_of_vote * spec.votes);
  const bool floor = divides_by_deviation(spec.estimator.form) && !spec.estimator.floor;
  if (spec.estimator.prior == PriorRule::fixed) return floor ? groups * seconds_of_known_floor : 0;
  return groups * (seconds_of_state + (floor ? seconds_of_floor : 0)) * states_of(belief);
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
