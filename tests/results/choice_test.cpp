// One learning rate per comparison: the rule by its definition, over random files.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <random>
#include <vector>

#include "results/export_json.hpp"
#include "tests/catch.hpp"
#include "tests/results/table_sample.hpp"

using namespace odrpo;
using namespace odrpo::sample;

namespace {

/// gain in percent of each learning rate's seeds; NaN = the run failed.
using Arm = std::map<double, std::vector<double>>;

ResultFile file_of_arms(const Arm& maxrl, const Arm& odrpo, bool highest_first = false) {
  std::vector<RunRecord> all;
  for (const auto& [name, arm] : {std::pair{"maxrl", maxrl}, std::pair{"odrpo", odrpo}})
    for (const auto& [lr, gains] : arm)
      for (std::size_t seed = 0; seed < gains.size(); ++seed) {
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

struct Score {
  int lost = 0;
  MeanInterval mean;
};
Score score(const std::vector<double>& gains, int tune_seeds) {
  Score s;
  std::vector<double> values;
  for (int seed = 0; seed < (tune_seeds > 0 ? tune_seeds : static_cast<int>(gains.size())); ++seed)
    if (std::isnan(gains[seed])) ++s.lost;
    else values.push_back(gains[seed]);
  s.mean = mean_interval(values);
  return s;
}

double best_rate(const Arm& arm, int tune_seeds) {
  std::optional<double> best;
  for (const auto& [lr, gains] : arm) {  // in the order of the file: lower rates first
    const Score s = score(gains, tune_seeds);
    if (!best) {
      best = lr;
      continue;
    }
    const Score most = score(arm.at(*best), tune_seeds);
    if (std::isnan(s.mean.mean)) continue;
    if (std::isnan(most.mean.mean) || s.lost < most.lost || (s.lost == most.lost && s.mean.mean > most.mean.mean)) best = lr;
  }
  return *best;
}

bool as_good(const Arm& arm, double lr, double best, int tune_seeds) {
  if (!arm.count(lr)) return false;
  const Score other = score(arm.at(lr), tune_seeds), most = score(arm.at(best), tune_seeds);
  if (std::isnan(other.mean.mean) || other.lost > most.lost) return false;
  return most.mean.n < 2 || (most.mean.lo <= other.mean.mean && other.mean.mean <= most.mean.hi);
}

/// The rates of row and baseline, by the sentence in docs/tables.md.
std::pair<double, double> rates(const Arm& row, const Arm& base, int tune_seeds) {
  const double l_r = best_rate(row, tune_seeds), l_b = best_rate(base, tune_seeds);
  if (!as_good(row, l_b, l_r, tune_seeds) || !as_good(base, l_r, l_b, tune_seeds)) return {l_r, l_b};
  const int lost = score(row.at(l_r), tune_seeds).lost + score(base.at(l_b), tune_seeds).lost;
  double shared = -1, most = -1e300;
  for (const auto& [lr, gains] : row) {
    if (!base.count(lr)) continue;
    const Score a = score(gains, tune_seeds), b = score(base.at(lr), tune_seeds);
    const double average = (a.mean.mean + b.mean.mean) / 2;
    if (a.lost + b.lost == lost && average > most) {
      shared = lr;
      most = average;
    }
  }
  return {shared, shared};
}

}  // namespace

TEST_CASE("the learning rates of a comparison, by their definition, on random files") {
  const std::vector<double> grid{0.03, 0.1, 0.3, 1, 3};
  int together = 0, apart = 0, third = 0;
  for (int seed = 0; seed < 300; ++seed) {
    INFO("seed " << seed);
    std::mt19937 random(static_cast<unsigned>(seed));
    std::normal_distribution<double> normal;
    const int seeds = 3 + static_cast<int>(random() % 8), tune_seeds = random() % 4 == 0 ? 0 : 1 + static_cast<int>(random() % (seeds - 1));
    const double effect = random() % 3 == 0 ? 0 : 4 * normal(random), failures = random() % 3 == 0 ? 0.1 : 0;
    const auto arm = [&](double shift) {
      Arm made;
      for (const double lr : grid) {
        if (random() % 8 == 0 && lr != 0.3) continue;  // not tried
        for (int s = 0; s < seeds; ++s) {
          const double gain = 50 - std::fabs(std::log(lr / 0.3) - shift) * (seed % 4) + std::round(2 * normal(random));
          made[lr].push_back(random() % 1000 < 1000 * failures ? sample::nan : gain);
        }
      }
      return made;
    };
    const Arm base = arm(0), row = arm(effect);
    const TableModel table = make_table(file_of_arms(base, row), {.baseline = "maxrl", .best = {"lr"}, .tune_seeds = tune_seeds});
    const TableCell& cell = table.blocks[0].cells[1];
    const auto [l_r, l_b] = rates(row, base, tune_seeds);
    REQUIRE(cell.comparison.row_at.size() == 1);
    CHECK(cell.comparison.row_at[0].value == fmt::format("{}", l_r));
    CHECK(cell.comparison.baseline_at[0].value == fmt::format("{}", l_b));
    CHECK(cell.chosen[0].value == fmt::format("{}", best_rate(row, tune_seeds)));
    std::vector<double> differences;
    for (int s = tune_seeds; s < seeds; ++s)
      if (const double d = row.at(l_r)[s] - base.at(l_b)[s]; !std::isnan(d)) differences.push_back(d);
    const MeanInterval want = mean_interval(differences);
    CHECK(cell.comparison.difference.n == want.n);
    if (want.n > 0) CHECK(cell.comparison.difference.mean == Approx(want.mean).margin(1e-9));
    (l_r == l_b ? together : apart) += 1;
    third += l_r == l_b && l_r != best_rate(row, tune_seeds) && l_r != best_rate(base, tune_seeds);
  }
  CHECK(together > 30);
  CHECK(apart > 30);
  CHECK(third > 3);
}

TEST_CASE("a comparison prints its learning rate or rates") {
  // on the tuning seeds 0 and 1, maxrl is best at 0.1 and odrpo at 1, and neither can be told from its other rate
  const Arm flat{{0.1, {70, 72, 71, 70}}, {1, {69, 72, 73, 71}}}, higher{{0.1, {71, 73, 72, 73}}, {1, {72, 75, 76, 73}}};
  const TableModel shared = make_table(file_of_arms(flat, higher), {.baseline = "maxrl", .best = {"lr"}, .tune_seeds = 2});
  const TableCell& cell = shared.blocks[0].cells[1];
  CHECK(shared.blocks[0].cells[0].chosen[0].value == "0.1");
  CHECK(cell.comparison.baseline_at[0].value == "1");  // averages 71.5 and 72
  CHECK(cell.comparison.difference.mean == Approx(2.5));
  const std::string text = table_text(shared);
  INFO(text);
  CHECK(contains(text, "maxrl      70.5 ± "));
  CHECK(contains(text, " @0.1"));
  CHECK(contains(text, "+2.5 ± "));
  CHECK(contains(text, " @1\n"));
  CHECK(contains(text, "a difference is taken with both rows at one learn.lr"));

  // now maxrl is certainly worse at 1: each keeps its own
  const Arm steep{{0.1, {70, 72, 71, 70}}, {1, {20, 21, 20, 20}}};
  const TableModel own = make_table(file_of_arms(steep, higher), {.baseline = "maxrl", .best = {"lr"}, .tune_seeds = 2});
  CHECK(own.blocks[0].cells[1].comparison.row_at[0].value == "1");
  CHECK(own.blocks[0].cells[1].comparison.baseline_at[0].value == "0.1");
  CHECK(own.blocks[0].cells[1].comparison.difference.mean == Approx(4));
  CHECK(contains(table_text(own), " @1/0.1\n"));
  CHECK(contains(table_csv(own), ",1,false,0.1,false,"));
  CHECK(contains(table_json(own), "\"row_at\": {\n              \"learn.lr\": \"1\""));
  CHECK(contains(table_json(own), "\"baseline_at\": {\n              \"learn.lr\": \"0.1\""));
}

TEST_CASE("equal averages go to the lower rate, and one tuning seed tells no rates apart") {
  const Arm same{{0.1, {70, 72, 71}}, {1, {70, 72, 71}}};
  const TableModel table = make_table(file_of_arms(same, same, true), {.baseline = "maxrl", .best = {"lr"}, .tune_seeds = 2});
  CHECK(table.blocks[0].cells[1].chosen[0].value == "1");  // the first in the file
  CHECK(table.blocks[0].cells[1].comparison.row_at[0].value == "0.1");
  CHECK(table.tested == std::vector<int>{0});  // identical: exactly zero
  const Arm one{{0.1, {70, 72, 71}}, {1, {69, 72, 73}}}, other{{0.1, {10, 73, 72}}, {1, {72, 75, 76}}};
  const TableModel single = make_table(file_of_arms(one, other), {.baseline = "maxrl", .best = {"lr"}, .tune_seeds = 1});
  CHECK(single.blocks[0].cells[1].comparison.row_at[0].value == "1");
  CHECK(single.blocks[0].cells[1].comparison.baseline_at[0].value == "1");
}

TEST_CASE("a share of runs has Wilson's interval: one collapse more at the other's rate tells nothing") {
  std::vector<RunRecord> all;
  for (const char* name : {"maxrl", "odrpo"})
    for (const double lr : {0.1, 1.0})
      for (int seed = 0; seed < 6; ++seed) {
        RunRecord r = run("bandit", name, 1, lr, seed, 20);
        const bool own = (lr == 1) == (std::string(name) == "odrpo");  // each collapses once, in seed 0, at the other's rate
        r.finals = {{"collapsed", !own && seed == 0 ? 1.0 : 0.0}};
        all.push_back(r);
      }
  const TableModel table = make_table(file_of(all), {.value = {"collapsed"}, .baseline = "maxrl", .best = {"lr"}, .tune_seeds = 4});
  const Comparison& compared = table.blocks[0].cells[1].comparison;
  CHECK(table.blocks[0].cells[0].chosen[0].value == "0.1");
  CHECK(table.blocks[0].cells[1].chosen[0].value == "1");
  CHECK(compared.row_at[0].value == compared.baseline_at[0].value);
}
