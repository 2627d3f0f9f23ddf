// Statistics of rows that chose their learning rates: differences, also over tasks, and differences of differences.
#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include "results/stats/run_statistics.hpp"
#include "results/table/table.hpp"
#include "tests/catch.hpp"
#include "tests/results/stats/chosen_arms.hpp"
#include "tests/results/table/table_sample.hpp"
#include "tests/rounds.hpp"

using namespace odrpo;
using namespace odrpo::chosen_arms;
using namespace odrpo::sample;

TEST_CASE("statistics of runs that chose have the p of their table, and none where they chose on what is reported") {
  for (const char* value : {"gain", "regret"})
    for (const int tune_seeds : {0, 3}) {
      std::mt19937 random(5);
      std::vector<RunRecord> all;
      for (const char* estimator : {"maxrl", "grpo", "odrpo"})
        for (const auto& [lr, gains] : random_arm(random, 14, estimator == std::string("odrpo") ? 1.5 : 0, 0))
          for (std::size_t s = 0; s < gains.size(); ++s) {
            if (std::isinf(gains[s])) continue;
            RunRecord r = run("bandit", estimator, 1, lr, static_cast<int>(s), 20);
            r.finals = {{"final_gain", gains[s] / 100}, {"regret", 60 - gains[s]}};
            all.push_back(r);
          }
      const TableModel table = make_table(file_of(all), {.value = {value}, .baseline = "maxrl", .best = {"lr"}, .tune_seeds = tune_seeds});
      StatisticsOptions options;
      options.baseline = {"maxrl"};
      const RunStatistics s = run_statistics(table_runs(table, {"estimator"}, {}), options);
      REQUIRE(s.differences.size() == 2);
      for (std::size_t i = 0; i < 2; ++i) {
        const Comparison& compared = table.blocks[0].cells[i + 1].comparison;
        const Difference& d = s.differences[i];
        INFO(value << " " << tune_seeds << " " << i);
        CHECK(d.student.mean == Approx(compared.difference.mean));
        if (tune_seeds == 0) {
          CHECK((std::isnan(d.p) && std::isnan(d.bootstrap.lo)));
          continue;
        }
        CHECK(d.p == Approx(compared.p));
        CHECK(d.p_holm == Approx(compared.p_holm));
        CHECK(d.student.lo == Approx(compared.difference.lo));
        CHECK(d.student.hi == Approx(compared.difference.hi));
        CHECK((std::isnan(d.bootstrap.lo) && std::isnan(d.bootstrap.hi)));
      }
    }
}

TEST_CASE(
    "differences over tasks and differences of differences of rows that chose: every combination of the other's choices, by definition") {
  int stars = 0, tests = 0;
  for (int seed = 0; seed < rounds(60, 400); ++seed) {
    INFO("seed " << seed);
    std::mt19937 random(static_cast<unsigned>(seed));
    const int seeds = 8 + static_cast<int>(random() % 12), tune_seeds = 2;
    const double failures = random() % 4 == 0 ? 0.1 : 0;
    std::map<std::pair<std::string, int>, Arm> arms;
    std::vector<RunRecord> all;
    for (const char* estimator : {"maxrl", "grpo", "odrpo"})
      for (const int votes : {1, 4}) {
        Arm& arm = arms[{estimator, votes}] =
            random_arm(random, seeds, estimator == std::string("odrpo") ? 3.0 * (votes == 4) : 0, failures);
        for (const auto& [lr, gains] : arm)
          for (std::size_t s = 0; s < gains.size(); ++s) {
            if (std::isinf(gains[s])) continue;
            RunRecord r = run("bandit", estimator, votes, lr, static_cast<int>(s), 20);
            if (std::isnan(gains[s])) r.status = RunStatus::failed;
            else r.finals = {{"final_gain", gains[s] / 100}, {"regret", -gains[s]}};
            all.push_back(r);
          }
      }
    if (std::any_of(arms.begin(), arms.end(), [&](const auto& arm) { return !best_rate(arm.second, tune_seeds); })) continue;
    const bool regret = seed % 2 == 1;
    const TableModel table =
        make_table(file_of(all), {.value = {regret ? "regret" : "gain"}, .baseline = "maxrl", .best = {"lr"}, .tune_seeds = tune_seeds});
    StatisticsOptions options;
    options.resamples = 10;
    options.baseline = {"maxrl"};
    const RunStatistics over_tasks = run_statistics(table_runs(table, {"estimator"}, {"votes"}), options);
    options.baseline = {"maxrl", std::nullopt};
    options.contrast = ContrastChoice{1, "1", "4"};
    const RunStatistics contrasts = run_statistics(table_runs(table, {"estimator", "votes"}, {}), options);
    const auto check = [&](const RunStatistics& found, const Difference& d, const std::vector<Term>& terms, double count) {
      std::vector<double> p;
      for (const auto* list : {&found.differences, &found.contrasts})
        for (const Difference& other : *list) p.push_back(other.p);
      const double alpha =
          holm_alphas(p, 0.05)[static_cast<std::size_t>(std::find_if(p.begin(), p.end(), [&](double x) { return x == d.p; }) - p.begin())];
      const Tested want = tested(terms, tune_seeds, alpha, count);
      CHECK(d.p == Approx(want.p).epsilon(1e-9).margin(1e-12));
      const double lo = regret ? -want.hi : want.lo, hi = regret ? -want.lo : want.hi;
      const auto same = [](double got, double wanted) {
        return std::fabs(wanted) > 1e299 ? std::isinf(got) : got == Approx(wanted).margin(1e-9);
      };
      CHECK(same(d.student.lo, lo));
      CHECK(same(d.student.hi, hi));
      CHECK((d.student.lo > 0 || d.student.hi < 0) == (d.p_holm < 0.05));
      stars += d.p_holm < 0.05;
      ++tests;
    };
    const std::string names[] = {"grpo", "odrpo"};
    for (std::size_t i = 0; i < over_tasks.differences.size(); ++i) {
      std::vector<Term> terms;
      for (const int votes : {1, 4}) terms.insert(terms.end(), {{1, &arms[{names[i], votes}]}, {-1, &arms[{"maxrl", votes}]}});
      if (over_tasks.differences[i].student.n > 1) check(over_tasks, over_tasks.differences[i], terms, 2);
    }
    for (std::size_t i = 0; i < contrasts.contrasts.size(); ++i)
      if (contrasts.contrasts[i].student.n > 1)
        check(contrasts, contrasts.contrasts[i],
              {{1, &arms[{names[i], 1}]}, {-1, &arms[{"maxrl", 1}]}, {-1, &arms[{names[i], 4}]}, {1, &arms[{"maxrl", 4}]}}, 1);
  }
  CHECK(stars > tests / 20);
  CHECK(tests > 100);
}

TEST_CASE("cells that might have chosen in too many ways together are not tested") {
  RunTable table;
  table.cells = {{"base"}, {"row"}};
  table.units = {"0", "1", "2"};
  for (std::uint32_t task = 0; task < 6; ++task) table.tasks.push_back(std::to_string(task));
  table.other_choices.assign(2, std::vector<std::vector<RunTable::UnitValues>>(6, {7, RunTable::UnitValues{{0, 1}, {1, 2}, {2, 0}}}));
  for (std::uint32_t cell = 0; cell < 2; ++cell)
    for (std::uint32_t task = 0; task < 6; ++task)
      for (std::uint32_t unit = 0; unit < 3; ++unit)
        table.runs.push_back({cell, task, unit, 5.0 * cell + (unit * (task + 1 + cell)) % 3, 0});
  StatisticsOptions options;
  options.resamples = 10;
  options.baseline = {"base"};
  const RunStatistics found = run_statistics(table, options);  // 8^6 combinations
  CHECK(std::isnan(found.differences[0].p));
  CHECK(std::isnan(found.differences[0].student.lo));
  CHECK(found.family == 0);
  REQUIRE(found.notes.size() == 1);
  CHECK(found.notes[0] == "1 difference is not tested: the cells might have chosen in more than 100000 ways together");
  for (auto& of_cell : table.other_choices)
    for (auto& of_task : of_cell) of_task.resize(1);
  CHECK(run_statistics(table, options).differences[0].p < 0.5);
}
