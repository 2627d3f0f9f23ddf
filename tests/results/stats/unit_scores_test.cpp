// Means, standard deviations and resamples of tasks that share units: by definition on random runs, and in the cases that have a simple
// answer.
#include <algorithm>
#include <cmath>
#include <random>
#include <utility>

#include "results/stats/aggregate_metrics.hpp"
#include "results/stats/bootstrap.hpp"
#include "tests/catch.hpp"
#include "tests/rounds.hpp"

using namespace odrpo;

namespace {

struct Runs {
  TaskScores scores;
  std::vector<std::vector<std::uint32_t>> units;
};

/// `tasks` tasks of `units` units, a share of the runs missing; no task has fewer than two.
Runs random_runs(std::mt19937& random, std::size_t tasks, std::uint32_t units, double missing) {
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform;
  std::vector<double> world(units);
  for (double& w : world) w = normal(random);
  Runs runs{TaskScores(tasks), std::vector<std::vector<std::uint32_t>>(tasks)};
  for (std::size_t t = 0; t < tasks; ++t)
    for (std::uint32_t u = 0; u < units; ++u)
      if (u < 2 || uniform(random) >= missing) {
        runs.scores[t].push_back(10.0 * static_cast<double>(t) + world[u] + normal(random) * (1 + static_cast<double>(t)));
        runs.units[t].push_back(7 * u + 3);
      }
  return runs;
}

/// S(t, u) by its definition.
double products(const Runs& runs, std::size_t t, std::size_t u) {
  double sum = 0;
  for (std::size_t i = 0; i < runs.scores[t].size(); ++i)
    for (std::size_t j = 0; j < runs.scores[u].size(); ++j)
      if (runs.units[t][i] == runs.units[u][j])
        sum += (runs.scores[t][i] - aggregate_mean({runs.scores[t]})) * (runs.scores[u][j] - aggregate_mean({runs.scores[u]}));
  return sum;
}

}  // namespace

TEST_CASE("units with runs in several tasks are one stratum, others one for each task") {
  const UnitScores crossed = by_unit({{1, 2}, {3, 4}}, {{5, 9}, {2, 9}});
  CHECK(crossed.crossed());
  CHECK(crossed.sizes == std::vector<std::uint32_t>{3});
  CHECK(crossed.item == std::vector<std::vector<std::uint32_t>>{{1, 2}, {0, 2}});
  const UnitScores nested = by_unit({{1, 2}, {3}}, {{5, 9}, {2}});
  CHECK_FALSE(nested.crossed());
  CHECK(nested.sizes == std::vector<std::uint32_t>{2, 1});
  CHECK(nested.item == std::vector<std::vector<std::uint32_t>>{{0, 1}, {0}});
  CHECK_FALSE(by_unit({{1, 2}}, {{5, 9}}).crossed());
}

TEST_CASE("the mean over tasks has the t interval of its units") {
  for (int seed = 0; seed < rounds(40, 400); ++seed) {
    INFO("seed " << seed);
    std::mt19937 random(static_cast<unsigned>(seed));
    const std::size_t tasks = 2 + random() % 4;
    const std::uint32_t units = 3 + static_cast<std::uint32_t>(random() % 12);
    Runs runs = random_runs(random, tasks, units, 0);
    std::vector<double> means(units, 0.0);
    for (const auto& of_task : runs.scores)
      for (std::uint32_t u = 0; u < units; ++u) means[u] += of_task[u] / static_cast<double>(tasks);
    const StratifiedMean all = unit_mean(by_unit(runs.scores, runs.units), 0.9);
    const MeanInterval want = mean_interval(means, 0.9);
    CHECK(all.mean.n == static_cast<int>(units));
    CHECK(all.mean.mean == Approx(want.mean).epsilon(1e-12));
    CHECK(all.mean.lo == Approx(want.lo).epsilon(1e-10));
    CHECK(all.mean.hi == Approx(want.hi).epsilon(1e-10));
    // units of their own: Welch's interval
    for (std::size_t t = 0; t < tasks; ++t)
      for (std::uint32_t& unit : runs.units[t]) unit += static_cast<std::uint32_t>(1000 * t);
    CHECK(unit_mean(by_unit(runs.scores, runs.units)).mean.lo == stratified_mean(runs.scores).mean.lo);
    // missing runs: variance n / (n - 1) sum over units of the square of sum (score - mean of the task) / (T n(t))
    runs = random_runs(random, tasks, units, 0.3);
    const UnitScores some = by_unit(runs.scores, runs.units);
    if (!some.crossed()) continue;
    std::vector<double> influence(some.sizes[0], 0.0);
    for (std::size_t t = 0; t < tasks; ++t)
      for (std::size_t i = 0; i < runs.scores[t].size(); ++i)
        influence[some.item[t][i]] +=
            (runs.scores[t][i] - aggregate_mean({runs.scores[t]})) / static_cast<double>(tasks * runs.scores[t].size());
    double variance = 0;
    for (const double x : influence) variance += x * x;
    const double n = some.sizes[0];
    const MeanInterval found = unit_mean(some).mean;
    CHECK(found.mean == Approx(aggregate_mean(runs.scores)).epsilon(1e-12));
    CHECK(found.hi - found.mean == Approx(student_factor(some.sizes[0], 0.95) * std::sqrt(n / (n - 1) * variance)).epsilon(1e-9));
  }
}

TEST_CASE("the pooled standard deviation has the degrees of freedom of tasks that vary together") {
  for (int seed = 0; seed < rounds(40, 400); ++seed) {
    INFO("seed " << seed);
    std::mt19937 random(static_cast<unsigned>(seed));
    const std::size_t tasks = 2 + random() % 9;
    const std::uint32_t units = 3 + static_cast<std::uint32_t>(random() % 9);  // fewer than the tasks, or more
    Runs runs = random_runs(random, tasks, units, random() % 2 == 0 ? 0 : 0.3);
    double squares = 0, freedom = 0, below = 0;
    for (std::size_t t = 0; t < tasks; ++t) {
      const auto n = static_cast<double>(runs.scores[t].size());
      squares += products(runs, t, t);
      freedom += n - 1;
      for (std::size_t u = 0; u < tasks; ++u)
        below += products(runs, t, u) * products(runs, t, u) / std::sqrt((n - 1) * (static_cast<double>(runs.scores[u].size()) - 1));
    }
    const PooledSd found = pooled_sd(by_unit(runs.scores, runs.units));
    CHECK(found.sd == Approx(std::sqrt(squares / freedom)).epsilon(1e-12));
    CHECK(found.freedom == Approx(squares * squares / below).epsilon(1e-9));
    CHECK(found.freedom <= freedom * (1 + 1e-9));
  }
  const TaskScores same{{1, 2, 4, 9}, {11, 12, 14, 19}, {0, 1, 3, 8}};
  CHECK(pooled_sd(by_unit(same, {{0, 1, 2, 3}, {0, 1, 2, 3}, {0, 1, 2, 3}})).freedom == Approx(3));
  CHECK(pooled_sd(units_apart(same)).freedom == Approx(9));
  CHECK(pooled_sd(units_apart({{1, 2, 4, 9}})).freedom == Approx(3));
  CHECK(pooled_sd(units_apart({{1, 2, 4, 9}, {5}})).freedom == Approx(3));
  CHECK(std::isnan(pooled_sd(units_apart({{1}, {5}})).sd));
  CHECK(std::isnan(pooled_sd(units_apart({{1, 1}, {5, 5}})).freedom));
}

TEST_CASE("a resampled unit brings its runs in all tasks") {
  const std::vector<double> one = {3, 1, 4, 1.5, 9, 2.6};
  TaskScores two{one, one};
  for (double& x : two[1]) x += 10;  // the same units, 10 higher
  const std::vector<std::uint32_t> units = {0, 1, 2, 3, 4, 5};
  const Metric mean = aggregate_mean;
  const auto distribution = [&](const UnitScores& of) { return unit_bootstrap(of, {&mean, 1}, 500, 3)[0]; };
  const BootstrapDistribution alone = distribution(units_apart({one})), both = distribution(by_unit(two, {units, units})), apart = distribution(units_apart(two));
  CHECK(both.fewest == 6);
  CHECK(both.freedom == 5);
  CHECK(apart.freedom == 10);
  CHECK(both.acceleration == Approx(alone.acceleration));
  double largest = 0;
  for (std::size_t b = 0; b < 500; ++b) largest = std::max(largest, std::fabs(both.resampled[b] - alone.resampled[b] - 5));
  CHECK(largest < 1e-12);
  const auto width = [](const BootstrapDistribution& of) { return percentile_interval(of).hi - percentile_interval(of).lo; };
  CHECK(width(apart) < 0.85 * width(both));
  // a task with one run of six units: some resample lacks it
  CHECK(std::isnan(percentile_interval(distribution(by_unit({one, {7}}, {units, {2}}))).lo));
}
