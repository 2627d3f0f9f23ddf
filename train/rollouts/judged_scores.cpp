// Finds the levels of a judge's scores in a dump, and cuts its steps into windows.
#include "train/rollouts/judged_scores.hpp"

#include <algorithm>

#include "kernels/math.hpp"
#include "kernels/system/fail.hpp"
#include "kernels/system/text.hpp"
#include "results/scores/csv.hpp"
#include "results/scores/reading.hpp"
#include "train/rollouts/advantages.hpp"
#include "train/rollouts/rewards.hpp"

namespace odrpo {
namespace {

constexpr std::size_t most_judged_scores = 160'000;
constexpr std::size_t window_groups = 128, most_windows = 16;  ///< groups of a window: at least so many, and so many windows at most

/// The window of each group.
std::vector<std::size_t> windows_of(const std::vector<RolloutGroup>& groups) {
  const std::size_t least = std::max(window_groups, (groups.size() + most_windows - 1) / most_windows);
  std::vector<std::size_t> first{0};  // of each window
  for (std::size_t g = 1; g < groups.size(); ++g)
    if (groups[g].step != groups[g - 1].step && g - first.back() >= least && groups.size() - g >= least) first.push_back(g);
  std::vector<std::size_t> window(groups.size());
  for (std::size_t g = 0, w = 0; g < groups.size(); ++g) {
    if (w + 1 < first.size() && g == first[w + 1]) ++w;
    window[g] = w;
  }
  return window;
}

/// Keeps every so many-th step where there are more scores than are needed.
void keep_some(JudgedScores& heard) {
  heard.every = (heard.scores + most_judged_scores - 1) / most_judged_scores;
  if (heard.every == 1) return;
  std::vector<RolloutGroup> kept;
  std::size_t step = 0;
  heard.scores = 0;
  for (std::size_t g = 0; g < heard.groups.size(); ++g) {
    if (g > 0 && heard.groups[g].step != heard.groups[g - 1].step) ++step;
    if (step % heard.every != 0) continue;
    kept.push_back(heard.groups[g]);
    for (const int level : heard.levels_of(heard.groups[g])) heard.scores += level >= 0;
  }
  heard.groups = std::move(kept);
}

}  // namespace

double value_at(std::span<const double> values, double level) {
  const auto below = static_cast<std::size_t>(std::clamp(math::floor(level) - 1, 0.0, static_cast<double>(values.size() - 2)));
  return values[below] + (values[below + 1] - values[below]) * (level - 1 - static_cast<double>(below));
}

JudgedScores judged_scores(const Rollouts& rollouts, const JudgedOptions& o, int lowest) {
  JudgedScores heard;
  const std::size_t columns = rollouts.columns();
  std::size_t off = 0, first_off = 0;
  for (std::size_t row = 0; row < rollouts.rows(); ++row) {
    const double reward = rollouts.rewards[row * columns + o.column];
    int level = -1;
    if (reward == reward) {
      level = level_on(o.judge.values, reward);
      if (level == 0 && !(lowest == 0 && reward == value_at(o.judge.values, 0))) level = -1, first_off = off++ == 0 ? row : first_off;
    }
    heard.level.push_back(level);
    double known = 0;
    for (std::size_t c = 0; c < columns; ++c)
      if (const double r = rollouts.rewards[row * columns + c]; c != o.column && r == r) known += o.weight[c] * r;
    heard.known.push_back(known);
  }
  if (off > 0) {
    fail(Exit::bad_input, "{}: error: {} of column \"{}\" is not on the scale {} of the judge {} ({} off it in all); --judge-scale states another scale",
         place_text(rollouts, first_off), exact_text(rollouts.rewards[first_off * columns + o.column]), rollouts.reward_names[o.column],
         scale_text(o.judge.values), o.judge.name, counted(off, "score"));
  }
  for (const RolloutGroup& g : rollouts.groups) {
    const auto levels = heard.levels_of(g);
    const auto scored = static_cast<std::size_t>(std::count_if(levels.begin(), levels.end(), [](int l) { return l >= 0; }));
    if (scored < 2) continue;
    heard.groups.push_back(g);
    heard.largest = std::max<std::size_t>(heard.largest, g.count);
    heard.scores += scored;
  }
  if (heard.groups.empty()) fail(Exit::limits, "--judge: no group of this dump has two scores of column \"{}\"", rollouts.reward_names[o.column]);
  if (!o.all) keep_some(heard);
  heard.window = windows_of(heard.groups);
  return heard;
}

}  // namespace odrpo
