// Sums the columns of rewards of a dump, and finds the levels that they lie on.
#include "train/rollouts/rewards.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/system/fail.hpp"
#include "results/scores/reading.hpp"
#include "train/rollouts/advantages.hpp"

namespace odrpo {
namespace {

constexpr double usual_count = 4;        // how often each value of an irregular scale occurs on average
constexpr double float_rounding = 3e-7;  // of sums of rewards that were floats, relative

bool is_there_reward(double r) { return r == r; }

/// The number with six decimals that a reward is but for the rounding of floats; else the reward.
double without_rounding(double r) {
  const double decimal = std::round(r * 1e6) / 1e6;
  return std::fabs(decimal - r) <= float_rounding * std::fabs(r) ? decimal : r;
}

/// The different rewards, increasing; empty if they are more than most_levels and not of a few decimals.
std::vector<double> different(std::span<const double> rewards) {
  std::vector<double> found;
  for (const double r : rewards)
    if (is_there_reward(r)) found.push_back(without_rounding(r));
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

void find_scale(RolloutRewards& r, const ScaleChoice& choice, double present) {
  if (choice.bins > 0) {
    const double width = (r.most - r.least) / choice.bins;
    for (int b = 0; b < choice.bins && width > 0; ++b) r.scale.push_back(r.least + (b + 0.5) * width);
    if (r.scale.empty()) r.no_scale = "all rewards are equal";
    return;
  }
  const std::vector<double> found = different(r.on_scale());
  std::vector<double> scale = scale_of_scores(found);
  const bool grid = scale.size() != found.size() || (scale.size() > 2 && std::fabs((scale[1] - scale[0]) * static_cast<double>(scale.size() - 1) - (scale.back() - scale[0])) < 1e-9 * (scale.back() - scale[0]));
  const double size = static_cast<double>(found.size());
  if (scale.size() < 2) r.no_scale = "all rewards are equal";
  else if (scale.size() > most_levels) r.no_scale = fmt::format("{} different rewards lie on no scale of at most {} levels", found.size(), most_levels);
  else if (!grid && scale.size() > 2 && size * usual_count > present)
    r.no_scale = fmt::format("{} different rewards of {} rows lie at unequal distances", found.size(), present);
  else r.scale = std::move(scale);
}

}  // namespace

std::span<const double> RolloutRewards::read_by(const EstimatorConfig& config) const { return reads_levels(config) ? on_scale() : reward; }

std::string place_text(const Rollouts& rollouts, std::size_t row) {
  const LinePlace& at = rollouts.place[row];
  return fmt::format("{}:{}", printable_line(rollouts.files[at.file]), at.line);
}

void need_lengths(const Rollouts& rollouts, std::span<const double> reward, double least, std::string_view what) {
  if (rollouts.length.empty()) fail(Exit::limits, "{} needs the length of every completion, and the dump has none", what);
  for (std::size_t row = 0; row < reward.size(); ++row) {
    if (!is_there_reward(reward[row]) || rollouts.length[row] >= least) continue;
    const bool missing = rollouts.length[row] != rollouts.length[row];
    throw Failure(Exit::bad_input, fmt::format("{}:1: error: {} needs the length of every completion, {} or more; that of this one is {}", place_text(rollouts, row), what, least,
                                               missing ? "missing" : fmt::format("{}", rollouts.length[row])));
  }
}

RolloutRewards rewards_of(const Rollouts& rollouts, std::span<const double> weights, const ScaleChoice& choice) {
  RolloutRewards r;
  r.weights.assign(weights.begin(), weights.end());
  r.reward = rollouts.total(weights);
  double present = 0;
  for (std::size_t row = 0; row < r.reward.size(); ++row) {
    const double x = r.reward[row];
    if (!is_there_reward(x)) continue;
    if (!(std::fabs(x) <= most_level_value)) throw Failure(Exit::bad_input, fmt::format("{}:1: error: the reward {} is beyond {}", place_text(rollouts, row), x, most_level_value));
    r.least = present == 0 ? x : std::min(r.least, x);
    r.most = present == 0 ? x : std::max(r.most, x);
    ++present;
  }
  if (present == 0) fail(Exit::limits, "{}: no completion has a reward", rollouts.files.empty() ? std::string("the dump") : rollouts.files[0]);
  if (choice.round > 0 || choice.bins > 0) {
    ScoreReading how;
    how.round = choice.round, how.bins = choice.bins;
    r.rounded = r.reward;
    for (double& x : r.rounded)
      if (is_there_reward(x)) x = rounded_score(x, how, r.least, r.most);
  }
  if (choice.stated.empty()) find_scale(r, choice, present);
  else r.scale = choice.stated;
  const std::span<const double> levels = r.on_scale();
  std::int64_t off = 0;
  std::size_t first = 0;
  for (std::size_t row = 0; row < levels.size() && !r.scale.empty(); ++row)
    if (is_there_reward(levels[row]) && level_on(r.scale, levels[row]) == 0 && off++ == 0) first = row;
  if (off > 0 && !choice.stated.empty())
    throw Failure(Exit::bad_input, fmt::format("{}:1: error: the reward {} is off the scale {}{}", place_text(rollouts, first), levels[first], scale_text(r.scale),
                                               off > 1 ? fmt::format(", and so are {} more", off - 1) : ""));
  if (off > 0) {
    r.scale.clear();
    r.no_scale = "rewards differ from a regular scale by more than rounding";
  }
  return r;
}

}  // namespace odrpo
