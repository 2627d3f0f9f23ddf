// How often intervals hold the truth: samples of n seeds from populations of 400, whose means are known. Prints its figures.
#include <cmath>
#include <cstdio>
#include <vector>

#include "kernels/math.hpp"
#include "kernels/random.hpp"
#include "results/stats/bootstrap.hpp"
#include "results/stats/statistics.hpp"
#include "tests/catch.hpp"
#include "tests/rounds.hpp"

using namespace odrpo;

namespace {

constexpr int seeds = 400;
const int samples = rounds(400, 2000), resamples = rounds(1000, 2000);
const double least = rounds(0.92, 0.93), most = rounds(0.98, 0.97);
constexpr std::uint64_t population_key = 14, sample_key = 15;

/// 400 normal values, or their exponentials, scaled to a skewness near 1.
std::vector<double> population(bool skewed) {
  std::vector<double> values;
  for (std::uint32_t i = 0; i < seeds; i += 2) {
    const math::Normal2 z = math::normal_pair(draw(population_key, Purpose::world_residual, 0, 0, i).x);
    for (const double v : {z.a, z.b}) values.push_back(skewed ? math::exp(0.3 * v) : v);
  }
  return values;
}

struct Coverage {
  double t, percentile, bca, expanded;
};

Coverage coverage(const std::vector<double>& values, std::uint32_t n) {
  const double truth = aggregate_mean({values});
  const Metric metric = aggregate_mean;
  Coverage held{0, 0, 0, 0};
  Picks picks;
  TaskScores sample(1);
  for (std::uint32_t s = 0; s < static_cast<std::uint32_t>(samples); ++s) {
    sample[0].clear();
    for (std::uint32_t i = 0; i < n; ++i)
      sample[0].push_back(values[uniform_below(draw(sample_key, Purpose::world_residual, s, n, i).x[0], seeds)]);
    const auto holds = [&](double lo, double hi) { return lo <= truth && truth <= hi ? 1.0 / samples : 0; };
    const MeanInterval t = mean_interval(sample[0]);
    const BootstrapLaw law = unit_bootstrap(units_apart(sample), {&metric, 1}, resamples, s)[0];
    const Interval percentile = percentile_interval(law), bca = bca_interval(law),
                   expanded = bca_interval(law, expanded_level(static_cast<int>(law.fewest), static_cast<int>(law.freedom), 0.95));
    held.t += holds(t.lo, t.hi);
    held.percentile += holds(percentile.lo, percentile.hi);
    held.bca += holds(bca.lo, bca.hi);
    held.expanded += holds(expanded.lo, expanded.hi);
  }
  return held;
}

}  // namespace

TEST_CASE("coverage of intervals", "[.slow]") {
  std::printf("coverage of 95 %% intervals of a mean, %d samples of n from %d values, %d resamples; standard error %.3f\n", samples, seeds,
              resamples, std::sqrt(0.95 * 0.05 / samples));
  std::printf("population    n      t  percentile    BCa  expanded BCa\n");
  for (const bool skewed : {false, true}) {
    const std::vector<double> values = population(skewed);
    for (const std::uint32_t n : {5u, 16u, 20u, 32u, 64u}) {
      const Coverage c = coverage(values, n);
      std::printf("%-10s %4u  %.3f       %.3f  %.3f         %.3f\n", skewed ? "skewed" : "normal", n, c.t, c.percentile, c.bca, c.expanded);
      if (n < 16) continue;
      // a bootstrap of n values has the spread sqrt((n - 1) / n) s and normal tails: P(|t_15| < 1.898) = .923 at n = 16, .937 at n = 32
      CHECK((c.t >= least && c.t <= most));
      CHECK((c.bca >= least - (n < 64 ? 0.03 : 0) && c.bca <= most));
      CHECK((c.expanded >= least && c.expanded <= most));
    }
  }
}
