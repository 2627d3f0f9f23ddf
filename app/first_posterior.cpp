// From a rater to the posterior scores of a group.
#include "app/first_posterior.hpp"

#include <iterator>

#include "envs/bandit/score_model.hpp"

namespace odrpo::app {

ScoreModel first_score_model(const RaterConfig& rater, int levels, int votes, PriorRule rule) {
  BanditConfig world;
  world.levels = levels;
  ScoreModelGrid grid;
  if (rule == PriorRule::following) grid.spread_scales.assign(std::begin(following_scales), std::end(following_scales));
  grid.moments = rule == PriorRule::moments;
  return make_score_model(rater, resolve_source(world, rater), levels, votes, grid);
}

StatePrior first_prior(const ScoreModel& model, PriorRule rule) {
  StatePrior prior(model.prompts.prior);
  if (rule == PriorRule::moments) prior.set_moments(model.prompts, model.prompts.moments);
  return prior;
}

std::vector<double> first_posterior_scores(const RaterConfig& rater, int levels, PriorRule rule, std::span<const int> scores) {
  const ScoreModel model = first_score_model(rater, levels, 1, rule);
  const PosteriorScores posterior(model);
  std::vector<int> numbers;
  for (const int score : scores) numbers.push_back(model.number_of(score));
  std::vector<double> values(numbers.size());
  PosteriorGroup(posterior).values(posterior, first_prior(model, rule), numbers, values);
  return values;
}

}  // namespace odrpo::app
