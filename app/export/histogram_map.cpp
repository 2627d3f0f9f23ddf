// Goes through the histograms of a group.
#include "app/export/histogram_map.hpp"

#include <algorithm>
#include <limits>

#include "estimators/definition.hpp"

namespace odrpo::app {
namespace {

/// The next histogram of as many members; false behind the last one.
bool next_histogram(std::vector<int>& counts) {
  std::size_t k = counts.size() - 1;
  const int last = counts[k];
  counts[k] = 0;
  do {
    if (k == 0) return false;
  } while (counts[--k] == 0);
  --counts[k];
  counts[k + 1] = last + 1;
  return true;
}

}  // namespace

double count_histograms(int members, int scores) {
  double count = 1;
  for (int i = 1; i < scores; ++i) count *= static_cast<double>(members + i) / i;
  return count;
}

HistogramMap map_histograms(const EstimatorConfig& estimator, const ScoreModel& model, const StatePrior& prior, int members) {
  const EstimatorConfig form = form_of(estimator);
  const PosteriorScores posterior(model);
  PosteriorGroup group(posterior);
  const auto scores = static_cast<std::size_t>(model.scores);
  const int levels = model.lowest + (model.scores - 1) / model.per_level;
  std::vector<int> counts(scores), numbers(static_cast<std::size_t>(members));
  std::vector<double> value(numbers.size()), advantage(numbers.size());
  counts[0] = members;
  HistogramMap map;
  do {
    auto end = numbers.begin();
    for (std::size_t k = 0; k < scores; ++k) end = std::fill_n(end, counts[k], static_cast<int>(k));
    map.variances.push_back(group.values_and_variance(posterior, prior, numbers, value));
    advantages(form, levels, value, no_median, advantage, floor_squared(estimator, map.variances.back()));
    for (std::size_t k = 0, member = 0; k < scores; member += static_cast<std::size_t>(counts[k++])) {
      constexpr double none = std::numeric_limits<double>::quiet_NaN();
      map.counts.push_back(static_cast<std::uint8_t>(counts[k]));
      map.values.push_back(counts[k] > 0 ? value[member] : none);
      map.advantages.push_back(counts[k] > 0 ? advantage[member] : none);
    }
  } while (next_histogram(counts));
  return map;
}

}  // namespace odrpo::app
