// From a rater to the posterior scores of a group.
#include "app/first_posterior.hpp"

#include <iterator>

#include "envs/bandit/score_model.hpp"
#include "estimators/posterior.hpp"

namespace odrpo::app {

std::vector<double> first_posterior_scores(const RaterConfig& rater, int levels, PriorRule rule, std::span<const int> scores) {
  BanditConfig world;
  world.levels = levels;
  ScoreModelGrid grid;
  if (rule == PriorRule::following) grid.spread_scales.assign(std::begin(following_scales), std::end(following_scales));
  grid.moments = rule == PriorRule::moments;
  const ScoreModel model = make_score_model(rater, resolve_source(world, rater), levels, 1, grid);
  const PosteriorScores posterior(model);
  StatePrior prior(model.prompts.prior);
  if (rule == PriorRule::moments) prior.set_moments(model.prompts, model.prompts.moments);
  std::vector<int> numbers;
  for (const int score : scores) numbers.push_back(model.number_of(score));
  std::vector<double> values(numbers.size());
  PosteriorGroup(posterior).values(posterior, prior, numbers, values);
  return values;
}

}  // namespace odrpo::app
