// Quantiles of resampled lists against quantile() of the repeated items.
#include "results/stats/bootstrap.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <random>

#include "results/stats/statistics.hpp"
#include "tests/catch.hpp"

using namespace odrpo;

TEST_CASE("quantiles of drawn units are those of the repeated items") {
  const unsigned seed = 8;
  INFO("seed " << seed);
  std::mt19937_64 draw(seed);
  constexpr std::array<double, 6> q = {0, 0.05, 0.25, 0.5, 0.95, 1};
  for (const auto& [items, units] : {std::pair<std::size_t, std::size_t>{1, 1}, {5, 3}, {40, 40}, {3000, 7}, {20'000, 50}}) {
    std::vector<std::pair<double, std::uint32_t>> list(items);
    for (auto& [value, unit] : list) {
      value = static_cast<double>(draw() % 200) / 8;
      unit = static_cast<std::uint32_t>(draw() % units);
    }
    std::sort(list.begin(), list.end());
    std::vector<double> value;
    std::vector<std::uint32_t> unit;
    for (const auto& [v, u] : list) value.push_back(v), unit.push_back(u);
    DrawnQuantiles drawn(value, unit, units);
    for (int round = 0; round < 20; ++round) {
      std::vector<std::uint32_t> times(units, 0);
      for (std::size_t i = 0; i < units; ++i) ++times[draw() % units];
      std::vector<double> repeated;
      for (std::size_t i = 0; i < items; ++i) repeated.insert(repeated.end(), times[unit[i]], value[i]);
      std::array<double, q.size()> got{};
      drawn.at(times, q, got);
      for (std::size_t k = 0; k < q.size(); ++k) {
        const double want = quantile(repeated, q[k]);
        if (std::isnan(want)) CHECK(std::isnan(got[k]));
        else CHECK(got[k] == want);
      }
    }
  }
}

TEST_CASE("quantiles of nothing are NaN") {
  DrawnQuantiles none({}, {}, 3);
  const std::vector<std::uint32_t> times = {1, 2, 0};
  std::array<double, 1> out{};
  none.at(times, std::array<double, 1>{0.5}, out);
  CHECK(std::isnan(out[0]));
}
