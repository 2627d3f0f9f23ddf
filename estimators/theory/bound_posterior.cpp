// Goes through the histograms of a group.
#include "estimators/theory/bound.hpp"

#include <algorithm>

#include "estimators/definition.hpp"
#include "kernels/shared/failure.hpp"

namespace odrpo {
namespace {

constexpr double least_weight = 1e-9;  ///< of a histogram: rarer ones do not move a prior

/// visit(histogram, scores of its members as numbers of the model)
template <class Visit>
void for_each_group(const ScoreModel& model, const HistogramIndex& index, Visit visit) {
  if (model.lowest != 1 || model.per_level != 1 || model.scores != index.levels())
    throw Failure(Exit::internal, "the model of a judge has other scores than the map");
  std::vector<int> numbers(static_cast<std::size_t>(index.members()));
  std::size_t histogram = 0;
  for_each_histogram(index.levels(), index.members(), [&](std::span<const int> counts) {
    auto end = numbers.begin();
    for (std::size_t k = 0; k < counts.size(); ++k) end = std::fill_n(end, counts[k], static_cast<int>(k));
    visit(histogram++, numbers);
  });
}

}  // namespace

std::vector<double> posterior_map(const EstimatorConfig& config, const ScoreModel& model, const StatePrior& prior,
                                  const HistogramIndex& index) {
  const EstimatorConfig form = form_of(config);
  const PosteriorScores posterior(model);
  PosteriorGroup group(posterior);
  std::vector<double> map, value(static_cast<std::size_t>(index.members())), advantage(value.size());
  for_each_group(model, index, [&](std::size_t, const std::vector<int>& numbers) {
    const double variance = group.values_and_variance(posterior, prior, numbers, value);
    advantages(form, index.levels(), value, no_median, advantage, floor_squared(config, variance));
    for (std::size_t i = 0; i < numbers.size(); ++i)
      if (i == 0 || numbers[i] != numbers[i - 1]) map.push_back(advantage[i]);
  });
  return map;
}

StatePrior followed_prior(const ScoreModel& model, const UpdateMoments& moments, int rounds) {
  const PosteriorScores posterior(model);
  PosteriorGroup group(posterior);
  StatePrior prior(model.prompts.prior);
  std::vector<double> value(static_cast<std::size_t>(moments.index().members()));
  for (int round = 0; round < rounds; ++round) {
    std::vector<double> mean(model.states(), 0.0);
    double total = 0;
    for_each_group(model, moments.index(), [&](std::size_t histogram, const std::vector<int>& numbers) {
      const double p = moments.probability(histogram);
      if (p < least_weight) return;
      group.values(posterior, prior, numbers, value);
      total += p;
      for (std::size_t c = 0; c < mean.size(); ++c) mean[c] += p * group.weights()[c];
    });
    for (double& w : mean) w /= total;
    prior.set(mean);
  }
  return prior;
}

}  // namespace odrpo
