// Statistics of runs: pairing, tasks, differences of differences and the family of Holm's correction, on small tables by hand.
#include "results/stats/run_statistics.hpp"

#include <cmath>
#include <cstdio>
#include <random>
#include <string>

#include "results/stats/aggregate_metrics.hpp"
#include "tests/catch.hpp"
#include "tests/rounds.hpp"

using namespace odrpo;

namespace {

RunTable table_of(const std::string& rows, std::vector<std::string> task = {}) {
  return parse_runs("seed,estimator,votes,task,gain\n" + rows, "f", {"seed", {"estimator", "votes"}, "gain", std::move(task)});
}

StatisticsOptions against(const std::string& baseline) {
  StatisticsOptions o;
  o.resamples = 1000;
  o.baseline = {baseline, std::nullopt};
  return o;
}

std::string row(int seed, const char* estimator, int votes, const char* task, double gain) {
  return std::to_string(seed) + ',' + estimator + ',' + std::to_string(votes) + ',' + task + ',' + std::to_string(gain) + '\n';
}

}  // namespace

TEST_CASE("a difference is paired on the units that both cells have") {
  std::string rows;
  const double a[] = {3, 5, 4, 9}, b[] = {1, 2, 3};
  for (int s = 0; s < 4; ++s) rows += row(s, "a", 1, "t", a[s]);
  for (int s = 0; s < 3; ++s) rows += row(s, "b", 1, "t", b[s]);
  const RunStatistics s = run_statistics(table_of(rows), against("b"));
  REQUIRE(s.differences.size() == 1);
  const Difference& d = s.differences[0];
  CHECK(d.student.n == 3);
  CHECK(d.left_out == 1);
  CHECK(d.student.mean == 2);
  CHECK(d.student.sd == 1);
  CHECK(d.p == t_test_p(paired_difference(std::vector<double>{3, 5, 4}, std::vector<double>{1, 2, 3})));
  CHECK(d.p_holm == d.p);
  CHECK(s.family == 1);
  CHECK(d.improvement.value == 11.5 / 12);  // all runs of both: 4 x 3 pairs, one tie
  CHECK(s.cells[0].units == 4);
  CHECK(s.cells[0].mean.value == 5.25);
  CHECK(s.cells[0].median.value == 4.5);
  REQUIRE(s.notes.size() == 1);
  CHECK(s.notes[0].starts_with("1 difference leaves out units"));
}

TEST_CASE("crossed tasks make a unit its mean over tasks, nested tasks are strata") {
  std::string crossed, nested;
  std::mt19937 random(3);
  std::vector<double> differences;
  TaskScores a_scores(2);
  for (int s = 0; s < 6; ++s) {
    double sum = 0;
    for (const char* task : {"x", "y"}) {
      const double a = static_cast<double>(random() % 100), b = static_cast<double>(random() % 100);
      crossed += row(s, "a", 1, task, a) + row(s, "b", 1, task, b);
      nested += row(*task == 'x' ? s : s + 100, "a", 1, task, a) + row(*task == 'x' ? s : s + 100, "b", 1, task, b);
      sum += a - b;
      a_scores[*task == 'y'].push_back(a);
    }
    differences.push_back(sum / 2);
  }
  std::printf("crossed and nested tasks: seed 3\n");
  const Difference one = run_statistics(table_of(crossed, {"task"}), against("b")).differences[0];
  const CellStatistics cell = run_statistics(table_of(crossed, {"task"}), against("b")).cells[0];
  const std::vector<std::uint32_t> seeds = {0, 1, 2, 3, 4, 5};
  const UnitScores of_a = by_unit({a_scores[0], a_scores[1]}, {seeds, seeds});
  const SdInterval spread = sd_interval_of(cell.sd.value, pooled_sd(of_a).freedom);
  CHECK(cell.sd.value == Approx(pooled_sd(of_a).sd).epsilon(1e-12));
  CHECK(cell.sd.lo == Approx(spread.lo).epsilon(1e-12));
  CHECK(cell.sd.hi == Approx(spread.hi).epsilon(1e-12));
  StatisticsOptions student = against("b");
  student.interval = IntervalKind::student;
  const Estimate mean_of_a = run_statistics(table_of(crossed, {"task"}), student).cells[0].mean;
  CHECK(mean_of_a.lo == Approx(unit_mean(of_a).mean.lo));
  CHECK(run_statistics(table_of(nested, {"task"}), student).cells[0].mean.lo == Approx(stratified_mean(a_scores).mean.lo));
  const MeanInterval want = mean_interval(differences);
  CHECK(one.student.n == 6);
  CHECK(one.tasks == 2);
  CHECK(one.student.mean == Approx(want.mean));
  CHECK(one.student.lo == Approx(want.lo));
  CHECK(one.p == Approx(t_test_p(want)));
  const RunTable runs = table_of(nested, {"task"});
  CHECK_FALSE(pair_runs(runs, std::vector<std::size_t>{0, 1}).crossed);
  const Difference two = run_statistics(runs, against("b")).differences[0];
  CHECK(two.student.n == 12);
  CHECK(two.left_out == 0);
  CHECK(two.student.mean == Approx(want.mean));
  CHECK(two.improvement.value == Approx(one.improvement.value));
  // a unit without one of its tasks is left out where tasks are crossed
  const Difference less =
      run_statistics(table_of(crossed + row(6, "a", 1, "x", 1) + row(6, "b", 1, "x", 2), {"task"}), against("b")).differences[0];
  CHECK(less.student.n == 6);
  CHECK(less.left_out == 1);
}

TEST_CASE("P(row > baseline) has the interval of its units, on the logit scale") {
  for (int seed = 0; seed < rounds(20, 200); ++seed) {
    INFO("seed " << seed);
    std::mt19937 random(static_cast<unsigned>(seed));
    const int units = 4 + static_cast<int>(random() % 8);
    std::vector<double> a, b;
    std::string paired, apart;
    for (int u = 0; u < units; ++u) {
      a.push_back(static_cast<double>(random() % 12));
      b.push_back(static_cast<double>(random() % 10));
      paired += row(u, "a", 1, "t", a.back()) + row(u, "b", 1, "t", b.back());
      apart += row(u, "a", 1, "t", a.back()) + row(u + 100, "b", 1, "t", b.back());
    }
    const auto wins = [](double x, double y) { return x > y ? 1 : x == y ? 0.5 : 0; };
    std::vector<double> of_a(a.size(), 0.0), of_b(b.size(), 0.0), both;
    for (std::size_t i = 0; i < a.size(); ++i)
      for (std::size_t j = 0; j < b.size(); ++j) {
        of_a[i] += wins(a[i], b[j]) / units;
        of_b[j] += wins(a[i], b[j]) / units;
      }
    for (std::size_t i = 0; i < a.size(); ++i) both.push_back(of_a[i] + of_b[i]);
    const MeanInterval m = mean_interval(both), one = mean_interval(of_a), other = mean_interval(of_b);
    const double p = m.mean / 2, va = one.sd * one.sd / units, vb = other.sd * other.sd / units;
    if (p <= 0 || p >= 1) continue;
    const auto check = [&](const std::string& rows, double half) {
      const Estimate found = run_statistics(table_of(rows), against("b")).differences[0].improvement;
      CHECK(found.value == Approx(p).epsilon(1e-12));
      CHECK(std::log(found.lo / (1 - found.lo)) == Approx(std::log(p / (1 - p)) - half / (p * (1 - p))).margin(1e-9));
      CHECK(std::log(found.hi / (1 - found.hi)) == Approx(std::log(p / (1 - p)) + half / (p * (1 - p))).margin(1e-9));
    };
    if (m.sd > 1e-12) check(paired, (m.hi - m.lo) / 2);
    check(apart, student_factor_of((va + vb) * (va + vb) / ((va * va + vb * vb) / (units - 1)), 0.95) * std::sqrt(va + vb));
  }
  // every pair of a unit is a tie, or every run of one wins: nothing varies
  std::string same, above;
  for (int u = 0; u < 5; ++u) {
    same += row(u, "a", 1, "t", u) + row(u, "b", 1, "t", u);
    above += row(u, "a", 1, "t", u + 9) + row(u, "b", 1, "t", u);
  }
  for (const auto& [rows, p] : {std::pair{same, 0.5}, {above, 1.0}}) {
    const Estimate found = run_statistics(table_of(rows), against("b")).differences[0].improvement;
    CHECK(found.value == p);
    CHECK((std::isnan(found.lo) && std::isnan(found.hi)));
  }
}

TEST_CASE("a difference of differences tells an interaction from two main effects") {
  std::string rows;
  std::mt19937 random(4);
  for (int s = 0; s < 20; ++s) {
    const double base = static_cast<double>(random() % 1000) / 100;
    const auto noise = [&] { return static_cast<double>(random() % 100) / 1000; };
    for (const int votes : {1, 8}) {
      rows += row(s, "b", votes, "t", base + (votes == 8 ? 2 : 0) + noise());
      rows += row(s, "better", votes, "t", base + (votes == 8 ? 2 : 0) + 3 + noise());                     // better everywhere
      rows += row(s, "robust", votes, "t", base + (votes == 8 ? 2 : 0) + (votes == 1 ? 1 : 0) + noise());  // where it is noisy
    }
  }
  std::printf("difference of differences: seed 4\n");
  StatisticsOptions o = against("b");
  o.contrast = ContrastChoice{1, "1", "8"};
  const RunStatistics s = run_statistics(table_of(rows), o);
  REQUIRE(s.differences.size() == 4);
  REQUIRE(s.contrasts.size() == 2);
  CHECK(s.family == 6);
  const Difference &better = s.contrasts[0], &robust = s.contrasts[1];
  CHECK(std::fabs(better.student.mean) < 0.06);
  CHECK(better.p_holm > 0.05);
  CHECK(robust.student.mean == Approx(1).margin(0.06));
  CHECK(robust.p_holm < 1e-6);
  CHECK(robust.bootstrap.lo > 0.9);
  CHECK(robust.student.n == 20);
  for (const Difference& d : s.differences) CHECK(d.p_holm >= d.p);
}

TEST_CASE("what cannot be compared is counted, and what does not vary has no interval") {
  std::string rows = row(1, "c", 4, "t", 1);
  for (int s = 0; s < 3; ++s) rows += row(s, "a", 1, "t", 0.1) + row(s, "b", 1, "t", 0.1) + row(s, "d", 1, "t", 0.3);
  const RunStatistics s = run_statistics(table_of(rows), against("b"));
  CHECK(s.unmatched == 1);  // c with 4 votes has no baseline
  REQUIRE(s.differences.size() == 2);
  CHECK(s.differences[0].student.mean == 0);
  CHECK(std::isnan(s.differences[0].p));
  CHECK(std::isnan(s.differences[0].bootstrap.lo));
  CHECK(s.family == 1);
  CHECK(std::isnan(s.cells[1].mean.lo));
  CHECK(std::isnan(s.cells[1].sd.lo));
  CHECK(s.cells[0].units == 1);
  CHECK(s.cells[0].mean.value == 1);
  CHECK(std::isnan(s.cells[0].mean.lo));
}

TEST_CASE("rounding is no difference") {
  // row and condition add up: (0.3 - 0.2) - (0.2 - 0.1) is 0, but not in binary
  std::string rows;
  for (int s = 0; s < 5; ++s)
    rows += row(s, "a", 8, "t", 0.3) + row(s, "b", 8, "t", 0.2) + row(s, "a", 1, "t", 0.2) + row(s, "b", 1, "t", 0.1);
  StatisticsOptions o = against("b");
  o.contrast = ContrastChoice{1, "8", "1"};
  const RunStatistics s = run_statistics(table_of(rows), o);
  REQUIRE(s.contrasts.size() == 1);
  CHECK(s.contrasts[0].student.mean == 0);
  CHECK(std::isnan(s.contrasts[0].p));
}

TEST_CASE("the kind of interval") {
  std::string rows;
  for (int s = 0; s < 9; ++s) rows += row(s, "a", 1, "t", s * s) + row(s, "b", 1, "t", s);
  const RunTable runs = table_of(rows);
  StatisticsOptions o = against("b");
  const Estimate expanded = run_statistics(runs, o).cells[0].mean;
  o.interval = IntervalKind::bca;
  const Estimate bca = run_statistics(runs, o).cells[0].mean;
  CHECK(expanded.lo < bca.lo);  // nine runs
  CHECK(expanded.hi > bca.hi);
  o.interval = IntervalKind::percentile;
  const Estimate percentile = run_statistics(runs, o).cells[0].mean;
  o.interval = IntervalKind::student;
  const RunStatistics t = run_statistics(runs, o);
  const MeanInterval want = mean_interval(std::vector<double>{0, 1, 4, 9, 16, 25, 36, 49, 64});
  CHECK(t.cells[0].mean.lo == want.lo);
  CHECK(bca.lo > percentile.lo);  // skewed to the right
  // 1 - 2 Phi(-sqrt(9 / 8) 2.306004), by an independent normal table
  CHECK(expanded_level(9, 8, 0.95) == Approx(0.98555).margin(2e-5));
  CHECK(percentile.hi < want.hi);
  o.thresholds = {3, 30};
  o.gamma = 20;
  const RunStatistics more = run_statistics(runs, o);
  CHECK(more.cells[0].profile[0].value == Approx(7.0 / 9));
  CHECK(more.cells[0].profile[1].value == Approx(3.0 / 9));
  CHECK(more.cells[0].optimality_gap.value == Approx(20 - (0 + 1 + 4 + 9 + 16 + 80) / 9.0));
  CHECK(more.cells[0].average_profile.empty());
}
