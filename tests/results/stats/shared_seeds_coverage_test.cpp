// How often intervals hold the truth where seeds serve several tasks, or both rows: 100 tables of each shape, 400 in full. Prints its figures.
#include <cmath>
#include <cstdio>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "kernels/math.hpp"
#include "kernels/random.hpp"
#include "results/figure/figure.hpp"
#include "results/stats/aggregate_metrics.hpp"
#include "results/stats/bootstrap.hpp"
#include "results/stats/run_statistics.hpp"
#include "results/stats/statistics.hpp"
#include "results/table/table.hpp"
#include "tests/catch.hpp"
#include "tests/results/stats/null_tables.hpp"
#include "tests/rounds.hpp"

using namespace odrpo;
using namespace odrpo::null_tables;

namespace {

const int tables = rounds(100, 400);

/// Gains of cells that share the worlds of their seeds: normal around 50 with standard deviation 1, of whose variance the world makes .8.
TableModel table_of_shared_worlds(int rows, int tasks, int seeds, unsigned seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::vector<double> world(static_cast<std::size_t>(seeds));
  for (double& w : world) w = normal(random);
  return table_of({rows, tasks, 0, seeds}, [&](int) {
    Gains gains(1);
    for (const double w : world) gains[0].push_back(50 + std::sqrt(0.8) * w + std::sqrt(0.2) * normal(random));
    return gains;
  });
}

/// Of how many tables an interval holds the truth, by the program and by the older method.
struct Held {
  int now = 0, before = 0, counted = 0;
  void count(double truth, double lo, double hi, double old_lo, double old_hi) {
    ++counted;
    now += lo <= truth && truth <= hi;
    before += old_lo <= truth && truth <= old_hi;
  }
  double share() const { return now * 1.0 / counted; }
  double share_before() const { return before * 1.0 / counted; }
};

const double least_coverage = rounds(0.885, 0.92);  // of 100 and 400 intervals that cover .95, fewer hold the truth with probability .004 and .005

}  // namespace

TEST_CASE("intervals of a row over tasks that share seeds hold the truth", "[.slow]") {
  for (const int tasks : {2, 4}) {
    constexpr int seeds = 20;
    Held mean, t, sd, iqm, median;
    for (int k = 0; k < tables; ++k) {
      const TableModel table = table_of_shared_worlds(1, tasks, seeds, 5000u + static_cast<unsigned>(k));
      const RunTable runs = table_runs(table, {"rater"}, {"votes"});
      StatisticsOptions options;
      options.resamples = 1000;
      const CellStatistics cell = run_statistics(runs, options).cells[0];
      options.interval = IntervalKind::student;
      const CellStatistics student = run_statistics(runs, options).cells[0];
      // runs of different tasks taken as independent
      TaskScores scores(static_cast<std::size_t>(tasks));
      for (const RunTable::Run& run : runs.runs) scores[run.task].push_back(run.value);
      const std::vector<Metric> metrics = {aggregate_mean, interquartile_mean, aggregate_median};
      const auto distributions = unit_bootstrap(units_apart(scores), metrics, options.resamples, options.seed);
      const auto old = [&](std::size_t i) {
        return bca_interval(distributions[i], expanded_level(static_cast<int>(distributions[i].fewest), static_cast<int>(distributions[i].freedom), 0.95));
      };
      mean.count(50, cell.mean.lo, cell.mean.hi, old(0).lo, old(0).hi);
      iqm.count(50, cell.iqm.lo, cell.iqm.hi, old(1).lo, old(1).hi);
      median.count(50, cell.median.lo, cell.median.hi, old(2).lo, old(2).hi);
      const StratifiedMean apart = stratified_mean(scores);
      t.count(50, student.mean.lo, student.mean.hi, apart.mean.lo, apart.mean.hi);
      const SdInterval old_sd = sd_interval(apart.mean.sd, tasks * (seeds - 1) + 1);
      sd.count(1, cell.sd.lo, cell.sd.hi, old_sd.lo, old_sd.hi);
    }
    std::printf("%d seeds, %d tasks, coverage of 95 %% intervals (before):", seeds, tasks);
    for (const auto& [name, held] : {std::pair{"mean", mean}, {"t of mean", t}, {"sd", sd}, {"IQM", iqm}, {"median of tasks", median}}) {
      std::printf(" %s %.3f (%.3f)", name, held.share(), held.share_before());
      INFO(name << " " << tasks);
      CHECK(held.share() >= least_coverage);
      CHECK(held.share_before() < least_coverage);
    }
    std::printf("\n");
  }
}

TEST_CASE("bands of a performance profile over columns that share seeds hold the truth", "[.slow]") {
  for (const int tasks : {1, 2, 4}) {
    Held held;
    for (int k = 0; k < tables; ++k) {
      const TableModel table = table_of_shared_worlds(1, tasks, 20, 6000u + static_cast<unsigned>(k));
      const Figure figure = profile_figure(table, std::vector<SeriesStyle>(1));
      TaskScores scores;
      for (const TableCell& cell : table.blocks[0].cells) {
        scores.emplace_back();
        for (const auto& v : cell.values) scores.back().push_back(v.second);
      }
      std::vector<Metric> metrics;
      std::vector<FigurePoint> points;
      for (const FigurePoint& point : figure.panels[0].series[0].points) {
        if (const double truth = math::normal_cdf(50 - point.x); truth < 0.1 || truth > 0.9 || std::isnan(point.lo)) continue;
        points.push_back(point);
        metrics.emplace_back([tau = point.x](const TaskScores& s) { return run_score_distribution(s, tau); });
      }
      const auto distributions = unit_bootstrap(units_apart(scores), metrics, 1000, 1);
      for (std::size_t i = 0; i < points.size(); ++i) {
        const Interval old = percentile_interval(distributions[i]);
        held.count(math::normal_cdf(50 - points[i].x), points[i].lo - 1e-12, points[i].hi + 1e-12, old.lo, old.hi);
      }
    }
    std::printf("profile of 20 seeds, %d columns: coverage of 95 %% bands %.3f (resampled within columns %.3f)\n", tasks, held.share(),
                held.share_before());
    CHECK(held.share() >= rounds(0.93, 0.94));
    if (tasks > 1) CHECK(held.share_before() < 0.92);
  }
}

TEST_CASE("intervals of P(row > baseline) hold the truth, however the runs of a seed are correlated", "[.slow]") {
  for (const int seeds : {10, 20, 40})
    for (const double correlation : {0.8, 0.0, -0.8})
      for (const double better : {0.0, 1.0}) {
        Held held;
        std::mt19937_64 random(7000u + static_cast<unsigned>(seeds));
        std::normal_distribution<double> normal;
        const double truth = math::normal_cdf(better / std::sqrt(2));
        double width = 0, old_width = 0;
        for (int k = 0; k < tables; ++k) {
          RunTable table;
          table.cells = {{"base"}, {"row"}};
          table.tasks = {""};
          TaskScores scores(2);
          for (int s = 0; s < seeds; ++s) {
            const double world = normal(random);
            scores[0].push_back(world);
            scores[1].push_back(better + correlation * world + std::sqrt(1 - correlation * correlation) * normal(random));
          }
          for (std::uint32_t cell = 0; cell < 2; ++cell)
            for (std::uint32_t s = 0; s < scores[0].size(); ++s) table.runs.push_back({cell, 0, s, scores[cell][s], 0});
          for (int s = 0; s < seeds; ++s) table.units.push_back(std::to_string(s));
          StatisticsOptions options;
          options.resamples = 10;
          options.baseline = {"base"};
          const Estimate now = run_statistics(table, options).differences[0].improvement;
          const Metric metric = [](const TaskScores& s) { return probability_of_improvement({s[1]}, {s[0]}); };
          const BootstrapDistribution distribution = unit_bootstrap(units_apart(scores), {&metric, 1}, 1000, 1)[0];
          const Interval old = bca_interval(distribution, expanded_level(static_cast<int>(distribution.fewest), static_cast<int>(distribution.freedom), 0.95));
          if (std::isnan(now.lo) || std::isnan(old.lo)) continue;  // every run of one above every run of the other
          held.count(truth, now.lo, now.hi, old.lo, old.hi);
          width += now.hi - now.lo;
          old_width += old.hi - old.lo;
        }
        std::printf("P(row > baseline) = %.2f, %d seeds, correlation %4.1f: coverage %.3f, width %.2f (rows apart %.3f, %.2f), %d of %d\n",
                    truth, seeds, correlation, held.share(), width / held.counted, held.share_before(), old_width / held.counted,
                    held.counted, tables);
        CHECK(held.share() >= least_coverage);
      }
}

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
    const BootstrapDistribution distribution = unit_bootstrap(units_apart(sample), {&metric, 1}, resamples, s)[0];
    const Interval percentile = percentile_interval(distribution), bca = bca_interval(distribution),
                   expanded = bca_interval(distribution, expanded_level(static_cast<int>(distribution.fewest), static_cast<int>(distribution.freedom), 0.95));
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
