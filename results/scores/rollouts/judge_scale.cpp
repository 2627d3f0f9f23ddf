// Implements the scale of a judge whose scores a dump has.
#include "results/scores/rollouts/judge_scale.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "results/scores/reading.hpp"

namespace odrpo {

double value_at(std::span<const double> values, double level) {
  const auto below = static_cast<std::size_t>(std::clamp(std::floor(level) - 1, 0.0, static_cast<double>(values.size() - 2)));
  return values[below] + (values[below + 1] - values[below]) * (level - 1 - static_cast<double>(below));
}

int judge_level(std::span<const double> values, double reward, int lowest) {
  if (const int level = level_on(values, reward); level > 0) return level;
  const double ends[] = {value_at(values, 0), values[0]};
  return lowest == 0 && level_on(ends, reward) == 1 ? 0 : -1;
}

bool evenly_spaced(std::span<const double> values) {
  constexpr double rounding = 1e-4;  // of a step, as in level_on()
  const double step = (values.back() - values.front()) / static_cast<double>(values.size() - 1);
  for (std::size_t i = 1; i + 1 < values.size(); ++i)
    if (std::fabs(values[i] - values.front() - step * static_cast<double>(i)) > rounding * step) return false;
  return true;
}

std::string levels_comment(const std::vector<double>& values) {
  const auto levels = static_cast<int>(values.size());
  return values == scale_of_levels(levels).values ? "" : fmt::format("{}{}{}{}.\n", levels_comment_begin, levels, levels_comment_middle, scale_text(values));
}

std::optional<std::string> scale_of_comment(std::string_view line) {
  const std::size_t at = line.find(levels_comment_middle);
  if (!line.starts_with(levels_comment_begin) || at == std::string_view::npos || !line.ends_with('.')) return std::nullopt;
  const std::size_t begin = at + levels_comment_middle.size();
  return std::string(line.substr(begin, line.size() - begin - 1));
}

}  // namespace odrpo
