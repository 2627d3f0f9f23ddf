// Weight profiles (Paper fig. of the Gini and Gini-Median weights): w_k on given groups of rewards.
#include "app/plot/level_weights.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "app/explain/explain_group.hpp"
#include "app/plot/series_style.hpp"
#include "estimators/definition.hpp"
#include "estimators/estimator.hpp"

namespace odrpo::app {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr int shape_size = 1000;  // rewards of a shape

struct RewardGroup {
  std::string title;
  std::vector<double> rewards;
};

/// `shape_size` rewards 1..K whose shares at each level are as `weight` says, rounded so that they add up.
std::vector<double> rewards_with(int levels, const std::function<double(int level)>& weight) {
  double total = 0;
  for (int k = 1; k <= levels; ++k) total += weight(k);
  std::vector<double> rewards;
  double below = 0;
  for (int k = 1; k <= levels; ++k) {
    below += weight(k);
    const auto until = k == levels ? shape_size : static_cast<std::size_t>(std::lround(shape_size * below / total));
    while (rewards.size() < until) rewards.push_back(k);
  }
  return rewards;
}

/// The share of a normal law that is rounded to a level.
double normal_share(double level, double mean, double sd) {
  const auto below = [&](double x) { return 0.5 * std::erfc((mean - x) / (sd * std::sqrt(2.0))); };
  return below(level + 0.5) - below(level - 0.5);
}

std::vector<RewardGroup> four_shapes(int levels) {
  const double middle = 0.5 * (levels + 1), sd = 0.18 * levels;
  const auto normal = [=](int k) { return normal_share(k, middle, sd); };
  return {{fmt::format("normal, mean {:g}, sd {:g}", middle, sd), rewards_with(levels, normal)},
          {fmt::format("peak, mean {:g}, sd {:g}", 0.7 * levels, 0.06 * levels),
           rewards_with(levels, [=](int k) { return normal_share(k, 0.7 * levels, 0.06 * levels); })},
          {fmt::format("normal, 10 % each at 1 and {}", levels),
           rewards_with(levels, [=](int k) { return 0.8 * normal(k) + (k == 1 || k == levels ? 0.1 : 0); })},
          {"uniform", rewards_with(levels, [](int) { return 1.0; })}};
}

std::vector<RewardGroup> groups_of(const PlotOptions& o, int levels) {
  if (o.rewards.empty()) return four_shapes(levels);
  std::vector<RewardGroup> groups;
  for (const std::string& list : o.rewards) groups.push_back({"rewards " + list, read_rewards({list})});
  return groups;
}

EstimatorConfig weighted_estimator(const std::string& word) {
  const EstimatorConfig config = read_estimator(word);
  if (config.form != Form::odrpo)
    throw Failure(Exit::usage, fmt::format("--estimator: \"{}\" has no weights; odrpo, odrpo-linear, odrpo-gini and odrpo-gini-median have",
                                           estimator_word(config)));
  return config;
}

}  // namespace

Figure weights_figure(const PlotOptions& o) {
  double largest = 0;
  for (const std::string& list : o.rewards)
    for (const double reward : read_rewards({list})) largest = std::max(largest, reward);
  const int levels = o.levels > 0 ? o.levels : std::max(10, static_cast<int>(std::ceil(largest)));
  if (largest > levels) throw Failure(Exit::usage, fmt::format("--levels: {} is less than the largest reward, {:g}", levels, largest));
  if (levels > 1000) throw Failure(Exit::usage, fmt::format("--rewards: {} levels are more than 1000", levels));
  std::vector<EstimatorConfig> configs;
  std::vector<std::string> names;
  for (const std::string& word :
       o.estimators.empty() ? std::vector<std::string>{"odrpo-gini(grpo)", "odrpo-gini-median(grpo)"} : o.estimators) {
    configs.push_back(weighted_estimator(word));
    names.push_back(estimator_word(configs.back()));
  }
  const std::vector<SeriesStyle> styles = series_styles(names);
  Figure figure{"weight of each level; grey: share of the rewards at it", {}};
  for (const RewardGroup& group : groups_of(o, levels)) {
    FigurePanel panel;
    panel.title = group.title;
    panel.x_label = "level k";
    panel.y_label = "weight w_k";
    panel.background_label = "share of rewards";
    panel.y_from_zero = true;
    if (levels <= 12)
      for (int k = 1; k <= levels; ++k) panel.x_ticks.push_back(k);
    const auto count = static_cast<int>(group.rewards.size());
    for (int k = 1; k <= levels; ++k) {
      const auto here = std::count_if(group.rewards.begin(), group.rewards.end(), [&](double r) { return std::lround(r) == k; });
      panel.background.push_back({static_cast<double>(k), static_cast<double>(here) / count, nan, nan});
    }
    for (std::size_t e = 0; e < configs.size(); ++e) {
      const double median = weight_median(configs[e], group.rewards, nan);
      FigureSeries series{names[e], styles[e], {}};
      for (int k = 1; k <= levels; ++k)
        series.points.push_back(
            {static_cast<double>(k), weight_of_level(configs[e], k, count_from(group.rewards, k), count, median), nan, nan});
      panel.series.push_back(std::move(series));
    }
    figure.panels.push_back(std::move(panel));
  }
  return figure;
}

}  // namespace odrpo::app
