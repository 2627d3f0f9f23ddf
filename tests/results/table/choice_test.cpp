// The choice of a learning rate and the comparison of two rows that chose, by their definition (docs/tables.md), over random files.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <random>
#include <vector>

#include "results/export/json_text.hpp"
#include "tests/catch.hpp"
#include "tests/results/stats/chosen_arms.hpp"
#include "tests/results/table/table_sample.hpp"

using namespace odrpo;
using namespace odrpo::chosen_arms;
using namespace odrpo::sample;

namespace {

ResultFile file_of_arms(const Arm& maxrl, const Arm& odrpo, bool highest_first = false) {
  std::vector<RunRecord> all;
  for (const auto& [name, arm] : {std::pair{"maxrl", maxrl}, std::pair{"odrpo", odrpo}})
    for (const auto& [lr, gains] : arm)
      for (std::size_t seed = 0; seed < gains.size(); ++seed) {
        if (std::isinf(gains[seed])) continue;
        RunRecord r = run("bandit", name, 1, lr, static_cast<int>(seed), 20);
        r.id += "/" + std::to_string(lr);
        if (std::isnan(gains[seed])) r.status = RunStatus::failed;
        else r.finals = {{"final_gain", gains[seed] / 100}};
        all.push_back(r);
      }
  if (highest_first)
    std::stable_sort(all.begin(), all.end(), [](const RunRecord& a, const RunRecord& b) {
      return std::get<double>(a.axes[0].second) > std::get<double>(b.axes[0].second);
    });
  return file_of(all);
}

}  // namespace

TEST_CASE("a row that chose its rate is compared with every rate of the other, by definition, on random files") {
  int stars = 0, plain = 0, without = 0;
  for (int seed = 0; seed < 400; ++seed) {
    INFO("seed " << seed);
    std::mt19937 random(static_cast<unsigned>(seed));
    const int seeds = 4 + static_cast<int>(random() % 12), tune_seeds = 1 + static_cast<int>(random() % 2);
    const double failures = random() % 3 == 0 ? 0.15 : 0;
    Arm base = random_arm(random, seeds, 0, failures), row = random_arm(random, seeds, random() % 2 == 0 ? 0 : 3, failures);
    for (Arm* arm : {&base, &row})
      for (auto& [lr, gains] : *arm)
        if (seed % 37 == (arm == &row)) std::fill_n(gains.begin(), tune_seeds, seed % 2 == 0 ? sample::nan : std::numeric_limits<double>::infinity());
    const TableModel table = make_table(file_of_arms(base, row), {.baseline = "maxrl", .best = {"lr"}, .tune_seeds = tune_seeds});
    const TableCell& cell = table.blocks[0].cells[1];
    const auto c_row = best_rate(row, tune_seeds), c_base = best_rate(base, tune_seeds);
    REQUIRE(cell.chosen.empty() == !c_row);
    if (!c_row || !c_base) {
      ++without;
      if (!c_row) CHECK(cell.n == 0);
      CHECK(std::isnan(cell.comparison.p));
      continue;
    }
    CHECK(cell.chosen[0].value == fmt::format("{}", *c_row));
    const std::vector<Term> terms{{1, &row}, {-1, &base}};
    const auto d = differences(terms, {*c_row, *c_base}, tune_seeds, 1);
    REQUIRE(cell.comparison.difference.n == static_cast<int>(d.size()));
    if (d.size() < 2) continue;
    const Tested want = tested(terms, tune_seeds, 0.05);
    CHECK(cell.comparison.difference.mean == Approx(mean_interval(d).mean).margin(1e-9));
    CHECK(cell.comparison.p == Approx(want.p).epsilon(1e-9).margin(1e-12));
    if (want.lo > -1e299) CHECK(cell.comparison.difference.lo == Approx(want.lo).margin(1e-9));
    else CHECK(cell.comparison.difference.lo == -std::numeric_limits<double>::infinity());
    if (want.hi < 1e299) CHECK(cell.comparison.difference.hi == Approx(want.hi).margin(1e-9));
    CHECK(cell.comparison.difference.lo <= cell.comparison.difference.mean);
    CHECK(cell.comparison.difference.hi >= cell.comparison.difference.mean);
    (is_significant(cell.comparison, table.spec) ? stars : plain) += 1;
    CHECK((cell.comparison.difference.lo > 0 || cell.comparison.difference.hi < 0) == is_significant(cell.comparison, table.spec));
  }
  CHECK(stars > 40);
  CHECK(plain > 100);
  CHECK(without > 0);
}

TEST_CASE("of several differences each interval excludes 0 exactly where Holm gives a star, less is better too") {
  int starred = 0, better = 0, tables = 0;
  for (int seed = 0; seed < 60; ++seed) {
    std::mt19937 random(static_cast<unsigned>(seed));
    std::vector<RunRecord> all;
    for (const char* estimator : {"maxrl", "grpo", "odrpo"})
      for (const int votes : {1, 4, 16}) {
        const double height = (std::string(estimator) == "odrpo") * 1.2 * std::sqrt(votes);
        for (const auto& [lr, gains] : random_arm(random, 14, height, 0))
          for (std::size_t s = 0; s < gains.size(); ++s) {
            if (std::isinf(gains[s])) continue;
            RunRecord r = run("bandit", estimator, votes, lr, static_cast<int>(s), 20);
            r.finals = {{"final_gain", gains[s] / 100}, {"regret", 60 - gains[s]}};
            all.push_back(r);
          }
      }
    for (const char* value : {"gain", "regret"}) {
      const TableModel table = make_table(file_of(all), {.value = {value}, .baseline = "maxrl", .best = {"lr"}, .tune_seeds = 4});
      CHECK(table.tested[0] == 6);
      ++tables;
      for (const TableCell& cell : table.blocks[0].cells) {
        const MeanInterval& d = cell.comparison.difference;
        if (std::isnan(cell.comparison.p)) continue;
        INFO("seed " << seed << " " << value << " " << cell.row << " " << cell.column);
        const bool star = is_significant(cell.comparison, table.spec);
        CHECK((d.lo > 0 || d.hi < 0) == star);
        starred += star;
        better += star && (value == std::string("gain") ? d.lo > 0 : d.hi < 0);
      }
    }
  }
  CHECK(starred > 2 * tables);
  CHECK(better > 0.95 * starred);
}

TEST_CASE("the alphas of Holm's intervals") {
  const std::vector<double> p = {0.2, 0.001, sample::nan, 0.012, 0.03, 0.04};  // m = 5: .001 < .01, .012 < .0125, .03 > .05 / 3
  const std::vector<double> want = {0.05 / 3, 0.05 / 5, sample::nan, 0.05 / 4, 0.05 / 3, 0.05 / 3}, got = holm_alphas(p, 0.05);
  REQUIRE(got.size() == want.size());
  for (std::size_t i = 0; i < p.size(); ++i) CHECK((std::isnan(want[i]) ? std::isnan(got[i]) : got[i] == Approx(want[i])));
}

TEST_CASE("rows that chose print their choice and an interval, and what could not choose is n/a") {
  const Arm flat{{0.1, {70, 72, 71, 70, 71}}, {1, {69, 71, 72, 71, 70}}}, higher{{0.1, {71, 73, 72, 73, 74}}, {1, {72, 75, 76, 73, 77}}};
  const TableModel table = make_table(file_of_arms(flat, higher), {.baseline = "maxrl", .best = {"lr"}, .tune_seeds = 2});
  const std::string text = table_text(table);
  INFO(text);
  CHECK(contains(text, "maxrl      70.7 ± 1.4 @0.1"));
  CHECK(contains(text, "+4.7 ["));
  CHECK(!contains(text, "@1/0.1"));

  const Arm late{{0.1, {sample::nan, sample::nan, 71, 70, 71}}, {1, {sample::nan, sample::nan, 73, 71, 70}}};
  const TableModel failed = make_table(file_of_arms(late, higher), {.baseline = "maxrl", .best = {"lr"}, .tune_seeds = 2});
  CHECK(contains(table_text(failed), "maxrl      failed"));
  CHECK(failed.notes.back() == "1 cell has no value on seeds 0 to 1, and so no choice of learn.lr");

  Arm one = higher;
  one.erase(0.1);
  CHECK(make_table(file_of_arms(flat, one), {.baseline = "maxrl", .best = {"lr"}, .tune_seeds = 2}).notes.back() ==
        "rows chose among different numbers of learn.lr: maxrl 2, odrpo 1; who tries more reports a better one by chance");
}

TEST_CASE("what was chosen on the reported seeds has no star") {
  const Arm low{{0.1, {70, 72, 71, 70, 71}}, {1, {69, 71, 72, 71, 70}}}, high{{0.1, {81, 83, 82, 83, 84}}, {1, {82, 85, 86, 83, 87}}};
  const TableModel table = make_table(file_of_arms(low, high), {.baseline = "maxrl", .best = {"lr"}});
  CHECK(table.tested == std::vector<int>{0});
  CHECK(table.blocks[0].cells[1].comparison.difference.mean == Approx(13.8));
  CHECK(std::isnan(table.blocks[0].cells[1].comparison.difference.lo));
  CHECK(contains(table_text(table), "+13.8 ± n/a"));
  CHECK(contains(table_text(table), "a difference of two flattered means is not tested"));
  CHECK(table.blocks[0].cells[1].among_best);
  CHECK_FALSE(table.blocks[0].cells[0].among_best);
  // one rate each: nothing was chosen
  CHECK(make_table(file_of_arms({{1, low.at(1)}}, {{1, high.at(1)}}), {.baseline = "maxrl", .best = {"lr"}}).tested == std::vector<int>{1});
}

TEST_CASE("a share of runs that chose is tested by McNemar's exact test") {
  std::vector<RunRecord> all;
  for (const char* name : {"maxrl", "odrpo"})
    for (const double lr : {0.1, 1.0})
      for (int seed = 0; seed < 16; ++seed) {
        RunRecord r = run("bandit", name, 1, lr, seed, 20);
        r.finals = {{"collapsed", std::string(name) == "maxrl" && seed > 3 && (lr < 1 || seed < 14) ? 1.0 : 0.0}};
        all.push_back(r);
      }
  const TableModel table = make_table(file_of(all), {.value = {"collapsed"}, .baseline = "maxrl", .best = {"lr"}, .tune_seeds = 4});
  const Comparison& compared = table.blocks[0].cells[1].comparison;
  CHECK(compared.difference.n == 12);
  CHECK(compared.p == Approx(2 * std::pow(0.5, 10)));  // at a rate of 1 ten of twelve pairs differ
  CHECK(compared.difference.hi < 0);
  CHECK(is_significant(compared, table.spec));
}

TEST_CASE("a best learning rate whose neighbours are far away and lose more than the interval is told") {
  // seeds 0 and 1 choose; the cell's interval of seeds 2 to 5 has a half-width of about .2
  const auto arm = [](std::map<double, double> means) {
    Arm made;
    for (const auto& [lr, mean] : means)
      for (int seed = 0; seed < 6; ++seed) made[lr].push_back(mean + (seed % 2 == 0 ? 0.1 : -0.1));
    return made;
  };
  const auto coarse = [&](const Arm& base, const Arm& row) {
    return make_table(file_of_arms(base, row), {.baseline = "maxrl", .best = {"lr"}, .tune_seeds = 2});
  };
  const auto flag = [](const TableModel& table, std::size_t cell) { return table.blocks[0].cells[cell].chosen[0].too_coarse; };
  const auto says = [](const TableModel& table) {
    return std::any_of(table.notes.begin(), table.notes.end(), [](const std::string& n) { return n.find("a finer grid may find") != std::string::npos; });
  };
  const Arm flat = arm({{0.1, 50.0}, {0.3, 50.1}, {1, 50.0}}), peaked = arm({{0.1, 47}, {0.3, 50}, {1, 34}});
  const TableModel table = coarse(flat, peaked);
  CHECK_FALSE(flag(table, 0));  // neighbours are as good
  CHECK(flag(table, 1));
  CHECK(says(table));
  CHECK(table.notes.back() == "1 cell has the best lr between two that lie more than a factor of 2 away and lose more than the cell's interval: "
                              "a finer grid may find a better one, and another order of rows (odrpo @0.3)");
  CHECK(table_json(table).find("\"too_coarse\": {\n            \"learn.lr\": true") != std::string::npos);
  const TableModel fine = coarse(flat, arm({{0.16, 47}, {0.3, 50}, {0.58, 34}}));
  CHECK_FALSE(flag(fine, 1));  // a factor below 2
  CHECK_FALSE(says(fine));
  CHECK_FALSE(flag(coarse(flat, arm({{0.1, 50}, {0.3, 47}, {1, 34}})), 1));    // at the edge: marked as that
  CHECK_FALSE(flag(coarse(flat, arm({{0.1, 49.95}, {0.3, 50}, {1, 34}})), 1));  // one neighbour is as good
}
