// Advantages of a group with and without one corrupted score.
#include "estimators/theory/leverage.hpp"

#include <limits>
#include <vector>

#include "kernels/math.hpp"

namespace odrpo {
namespace {

std::vector<double> advantages_of(const TheorySetting& setting, std::span<const int> levels) {
  std::vector<int> counts(setting.values.size(), 0);
  for (const int level : levels) ++counts[static_cast<std::size_t>(level - 1)];
  const std::vector<double> by_level = group_advantages(setting, counts);
  std::vector<double> out;
  for (const int level : levels) out.push_back(by_level[static_cast<std::size_t>(level - 1)]);
  return out;
}

double sum_of_squares(std::span<const double> advantages) {
  double sum = 0;
  for (const double a : advantages) sum += a * a;
  return sum;
}

double spread_without(std::span<const double> advantages, std::size_t member) {
  const double others = static_cast<double>(advantages.size() - 1);
  double mean = 0, squares = 0;
  for (std::size_t i = 0; i < advantages.size(); ++i)
    if (i != member) mean += advantages[i] / others;
  for (std::size_t i = 0; i < advantages.size(); ++i)
    if (i != member) squares += (advantages[i] - mean) * (advantages[i] - mean);
  return math::sqrt(squares);
}

}  // namespace

Leverage leverage_of(const TheorySetting& setting, std::span<const int> levels, std::size_t member, int outlier) {
  std::vector<int> corrupted(levels.begin(), levels.end());
  corrupted[member] = outlier;
  const std::vector<double> before = advantages_of(setting, levels), after = advantages_of(setting, corrupted);
  const double size = static_cast<double>(levels.size()), squares = sum_of_squares(after);
  Leverage out;
  out.share = squares > 0 ? after[member] * after[member] / squares : std::numeric_limits<double>::quiet_NaN();
  out.rms_before = math::sqrt(sum_of_squares(before) / size);
  out.rms_after = math::sqrt(squares / size);
  out.spread_before = spread_without(before, member);
  out.spread_after = spread_without(after, member);
  return out;
}

}  // namespace odrpo
