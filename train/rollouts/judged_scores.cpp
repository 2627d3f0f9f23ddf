// Finds the levels of a judge's scores in a dump, and cuts its steps into windows.
#include "train/rollouts/judged_scores.hpp"

#include <algorithm>

#include "kernels/system/fail.hpp"
#include "kernels/system/text.hpp"
#include "results/scores/csv.hpp"
#include "results/scores/reading.hpp"
#include "results/scores/rollouts/judge_scale.hpp"
#include "train/rollouts/advantages.hpp"
#include "train/rollouts/rewards.hpp"

namespace odrpo {
namespace {

constexpr std::size_t most_judged_scores = 160'000;
constexpr std::size_t few_steps = 4;  ///< kept ones: fewer stand for a training badly
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

/// Where there are more scores than are needed: keeps every so many-th step, or every so many-th group if there are few steps.
void keep_some(JudgedScores& judged) {
  const std::size_t every = (judged.count + most_judged_scores - 1) / most_judged_scores;
  if (every == 1) return;
  std::size_t steps = 1;
  for (std::size_t g = 1; g < judged.groups.size(); ++g) steps += judged.groups[g].step != judged.groups[g - 1].step;
  const bool by_step = steps >= few_steps * every;
  (by_step ? judged.every_step : judged.every_group) = every;
  std::vector<RolloutGroup> kept;
  std::size_t step = 0;
  judged.count = 0;
  for (std::size_t g = 0; g < judged.groups.size(); ++g) {
    if (g > 0 && judged.groups[g].step != judged.groups[g - 1].step) ++step;
    if ((by_step ? step : g) % every != 0) continue;
    kept.push_back(judged.groups[g]);
    for (const int level : judged.levels_of(judged.groups[g])) judged.count += level >= 0;
  }
  judged.groups = std::move(kept);
}

}  // namespace

JudgedScores judged_scores(const Rollouts& rollouts, const JudgedOptions& o, int lowest) {
  JudgedScores judged;
  const std::size_t columns = rollouts.columns();
  std::size_t off = 0, first_off = 0;
  for (std::size_t row = 0; row < rollouts.rows(); ++row) {
    const double reward = rollouts.rewards[row * columns + o.column];
    int level = -1;
    if (reward == reward) {
      level = judge_level(o.judge.values, reward, lowest);
      if (level < 0) first_off = off++ == 0 ? row : first_off;
    }
    judged.level.push_back(level);
    double known = 0;
    for (std::size_t c = 0; c < columns; ++c)
      if (const double r = rollouts.rewards[row * columns + c]; c != o.column && r == r) known += o.weight[c] * r;
    judged.known.push_back(known);
  }
  if (off > 0) {
    fail(Exit::bad_input, "{}:1: error: {} of column \"{}\" is not on the scale {} of the judge {} ({} off it in all); --judge-scale states another scale",
         place_text(rollouts, first_off), exact_text(rollouts.rewards[first_off * columns + o.column]), rollouts.reward_names[o.column],
         scale_text(o.judge.values), o.judge.name, counted(off, "score"));
  }
  for (const RolloutGroup& g : rollouts.groups) {
    const auto levels = judged.levels_of(g);
    const auto scored = static_cast<std::size_t>(std::count_if(levels.begin(), levels.end(), [](int l) { return l >= 0; }));
    if (scored < 2) continue;
    judged.groups.push_back(g);
    judged.largest = std::max<std::size_t>(judged.largest, g.count);
    judged.count += scored;
  }
  if (judged.groups.empty()) fail(Exit::limits, "--judge: no group of this dump has two scores of column \"{}\"", rollouts.reward_names[o.column]);
  if (!o.all) keep_some(judged);
  judged.window = windows_of(judged.groups);
  return judged;
}

}  // namespace odrpo
