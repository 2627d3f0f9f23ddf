// From a rater to the posterior scores of a group.
#include "app/first_posterior.hpp"

#include <algorithm>
#include <iterator>

#include "envs/bandit/call_model.hpp"
#include "envs/bandit/score_model.hpp"
#include "estimators/posterior.hpp"
#include "estimators/posterior_votes.hpp"
#include "kernels/no_score.hpp"

namespace odrpo::app {

namespace {

/// The world that a rater brings, the states that a rule has in it, and the prior that a run begins with.
struct Beginning {
  BanditConfig world;
  ScoreModelGrid grid;
  Beginning(int levels, PriorRule rule) {
    world.levels = levels;
    if (rule == PriorRule::following) grid.spread_scales.assign(std::begin(following_scales), std::end(following_scales));
    grid.moments = rule == PriorRule::moments;
  }
};
StatePrior first_prior(const PromptStates& prompts, PriorRule rule) {
  StatePrior prior(prompts.prior);
  if (rule == PriorRule::moments) prior.set_moments(prompts, prompts.moments);
  return prior;
}

}  // namespace

std::vector<double> first_posterior_scores(const RaterConfig& rater, int levels, PriorRule rule, std::span<const int> scores) {
  const Beginning at(levels, rule);
  const ScoreModel model = make_score_model(rater, resolve_source(at.world, rater), levels, 1, at.grid);
  const PosteriorScores posterior(model);
  std::vector<int> numbers;
  for (const int score : scores) numbers.push_back(model.number_of(score));
  std::vector<double> values(numbers.size());
  PosteriorGroup(posterior).values(posterior, first_prior(model.prompts, rule), numbers, values);
  return values;
}

std::vector<double> first_posterior_of_votes(const RaterConfig& rater, int levels, PriorRule rule,
                                             const std::vector<std::vector<int>>& votes) {
  const Beginning at(levels, rule);
  std::size_t most = 1;
  for (const auto& of_response : votes) most = std::max(most, of_response.size());
  const PosteriorVotes posterior(make_call_model(rater, resolve_source(at.world, rater), levels, static_cast<int>(most), at.grid), best_isa());
  std::vector<std::uint8_t> seen(votes.size() * most, no_score);
  for (std::size_t i = 0; i < votes.size(); ++i)
    for (std::size_t v = 0; v < votes[i].size(); ++v) seen[i * most + v] = static_cast<std::uint8_t>(votes[i][v]);
  std::vector<double> values(votes.size());
  PosteriorVoteGroup(posterior).values(posterior, first_prior(posterior.model().prompts, rule), seen, 0, values);
  return values;
}

}  // namespace odrpo::app
