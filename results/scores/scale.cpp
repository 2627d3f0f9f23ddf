// Grids of decimal numbers, in whole arithmetic so that 0.1 x 3 is the 0.3 that a file has.
#include "results/scores/scale.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <numeric>

#include "results/scores/csv.hpp"

namespace odrpo {
namespace {

constexpr double most_whole = 1e15;  // below 2^53

/// Numbers as whole multiples of 10^-d; empty where no d <= 9 makes them exact.
struct Decimals {
  std::vector<std::int64_t> whole;
  double unit = 1;  ///< 10^d
};
Decimals decimals_of(const std::vector<double>& values) {
  Decimals d;
  for (int digits = 0; digits <= 9; ++digits, d.unit *= 10) {
    d.whole.clear();
    for (const double v : values) {
      const double n = std::round(v * d.unit);
      if (!(std::fabs(n) < most_whole) || n / d.unit != v) break;
      d.whole.push_back(static_cast<std::int64_t>(n));
    }
    if (d.whole.size() == values.size()) return d;
  }
  return {};
}

/// least, least + step, …, most as numbers; empty when there are more than most_levels or they do not end in `most`.
std::vector<double> grid(std::int64_t least, std::int64_t most, std::int64_t step, double unit) {
  if (step <= 0 || most < least || (most - least) % step != 0 || (most - least) / step >= most_levels) return {};
  std::vector<double> values;
  for (std::int64_t n = least; n <= most; n += step) values.push_back(static_cast<double>(n) / unit);
  return values;
}

std::optional<double> number(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  const auto value = number_of(std::string(text));
  return value && std::isfinite(*value) ? value : std::nullopt;
}

}  // namespace

ScoreScale scale_of_levels(int levels) {
  ScoreScale scale;
  for (int k = 1; k <= levels; ++k) scale.values.push_back(k);
  return scale;
}

std::optional<ScoreScale> parse_scale(std::string_view text) {
  const auto dots = text.find("..");
  if (dots == std::string_view::npos) return std::nullopt;
  const auto by = text.find("by", dots);
  const auto least = number(text.substr(0, dots));
  const auto most = number(by == std::string_view::npos ? text.substr(dots + 2) : text.substr(dots + 2, by - dots - 2));
  const auto step = by == std::string_view::npos ? std::optional(1.0) : number(text.substr(by + 2));
  if (!least || !most || !step) return std::nullopt;
  const Decimals d = decimals_of({*least, *most, *step});
  if (d.whole.empty()) return std::nullopt;
  ScoreScale scale{grid(d.whole[0], d.whole[1], d.whole[2], d.unit)};
  return scale.values.size() < 2 ? std::nullopt : std::optional(std::move(scale));
}

std::vector<double> scale_of_scores(const std::vector<double>& found) {
  const Decimals d = decimals_of(found);
  if (d.whole.empty()) return found;
  if (d.unit == 1 && d.whole.front() >= 1 && d.whole.back() <= most_levels) return scale_of_levels(static_cast<int>(d.whole.back())).values;
  std::int64_t step = 0;
  for (const std::int64_t n : d.whole) step = std::gcd(step, n - d.whole.front());
  std::vector<double> values = grid(d.whole.front(), d.whole.back(), step, d.unit);
  return values.empty() ? found : values;
}

std::string scale_text(const std::vector<double>& values) {
  const auto text = [](double v) { return exact_text(v == 0 ? 0.0 : v); };
  if (const Decimals d = decimals_of(values); values.size() > 2 && !d.whole.empty()) {
    const std::int64_t step = d.whole[1] - d.whole[0];
    if (grid(d.whole.front(), d.whole.back(), step, d.unit) == values)
      return fmt::format("{}..{}{}", text(values.front()), text(values.back()),
                         static_cast<double>(step) == d.unit ? "" : " by " + text(static_cast<double>(step) / d.unit));
  }
  std::string all;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values.size() > 12 && i == 6) all += ", …", i = values.size() - 2;
    else all.append(i == 0 ? "" : ", ").append(text(values[i]));
  }
  return all;
}

}  // namespace odrpo
