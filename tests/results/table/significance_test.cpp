// Several differences in one table: p, Holm's correction, stars, and how many seeds a difference needs.
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <random>
#include <vector>

#include "results/export/json_text.hpp"
#include "results/stats/power.hpp"
#include "results/table/cells.hpp"
#include "tests/catch.hpp"
#include "tests/results/stats/statistics_reference.hpp"
#include "tests/results/table/table_sample.hpp"

using namespace odrpo;
using namespace odrpo::sample;

namespace {

/// Paired differences from maxrl in gain, in percent, one list of three seeds per number of votes.
std::vector<RunRecord> runs_with_differences(const std::vector<std::vector<double>>& differences) {
  std::vector<RunRecord> all;
  for (int e = 0; e < 2; ++e)
    for (std::size_t votes = 0; votes < differences.size(); ++votes)
      for (int seed = 0; seed < 3; ++seed) {
        RunRecord r = run("bandit", e ? "odrpo" : "maxrl", static_cast<int>(votes) + 1, 0.1, seed, 20);
        r.finals = {{"final_gain", 0.5 + 0.01 * seed + (e ? differences[votes][seed] / 100 : 0)}};
        all.push_back(r);
      }
  return all;
}

/// p of three pairs, in closed form: Student's t with two degrees of freedom.
double p_of_three(double a, double b, double c) {
  const double mean = (a + b + c) / 3, sd = std::sqrt(((a - mean) * (a - mean) + (b - mean) * (b - mean) + (c - mean) * (c - mean)) / 2);
  const double t = std::fabs(mean) / (sd / std::sqrt(3.0));
  return 1 - t / std::sqrt(2 + t * t);
}

}  // namespace

TEST_CASE("Holm's correction is that of statsmodels", "[statistics]") {
  REQUIRE(reference::p_values.size() == reference::holm.size());
  for (std::size_t i = 0; i < reference::holm.size(); ++i) {
    const std::vector<double> got = holm_adjusted(reference::p_values[i]);
    for (std::size_t j = 0; j < got.size(); ++j) CHECK(std::fabs(got[j] - reference::holm[i][j]) <= 1e-12);
  }
}

TEST_CASE("Holm's correction by its definition, on random p") {
  std::mt19937 random(20);
  INFO("seed 20");
  for (int round = 0; round < 200; ++round) {
    std::vector<double> p(random() % 12);
    for (double& x : p) x = random() % 5 == 0 ? sample::nan : (random() % 100) / 500.0;
    const std::vector<double> got = holm_adjusted(p);
    REQUIRE(got.size() == p.size());
    for (std::size_t i = 0; i < p.size(); ++i) {
      // rejected at level a exactly when every p up to it passes its step: p_(j) (m - j + 1) <= a for all j up to its rank
      double largest = 0;
      for (std::size_t j = 0; j < p.size(); ++j) {
        if (std::isnan(p[j]) || p[j] > p[i]) continue;
        int not_smaller = 0;
        for (const double other : p) not_smaller += other >= p[j];
        largest = std::max(largest, std::min(1.0, not_smaller * p[j]));
      }
      if (std::isnan(p[i])) CHECK(std::isnan(got[i]));
      else CHECK(got[i] == Approx(largest));
    }
  }
  const std::vector<double> known = holm_adjusted(std::vector<double>{.01, .04, .03, .005});
  CHECK(known[0] == Approx(.03));
  CHECK(known[1] == Approx(.06));
  CHECK(known[2] == Approx(.06));
  CHECK(known[3] == Approx(.02));
}

TEST_CASE("a star needs Holm's correction over all columns, blocks and the one value") {
  // alone: p = .010, .035, .074 of three pairs; corrected for three: .031, .070, .074
  const ResultFile file = file_of(runs_with_differences({{10, 11, 9.5}, {3, 2, 4}, {2, 1, 3}}));
  const TableModel table = make_table(file, {.baseline = "maxrl"});
  REQUIRE(table.tested == std::vector<int>{3});
  const auto& cells = table.blocks[0].cells;
  CHECK(cells[3].comparison.p == Approx(p_of_three(10, 11, 9.5)));
  CHECK(cells[4].comparison.p == Approx(p_of_three(3, 2, 4)));
  CHECK(cells[3].comparison.p_holm == Approx(3 * p_of_three(10, 11, 9.5)));
  CHECK(cells[4].comparison.p_holm == Approx(2 * p_of_three(3, 2, 4)));
  CHECK(cells[5].comparison.p_holm == Approx(std::max(2 * p_of_three(3, 2, 4), p_of_three(2, 1, 3))));
  CHECK(is_significant(cells[3].comparison, table.spec));
  CHECK_FALSE(is_significant(cells[4].comparison, table.spec));
  const std::string text = table_text(table);
  INFO(text);
  CHECK(contains(text, "+10.2 ± 1.9 *"));
  CHECK(contains(text, "+3.0 ± 2.5\n") != contains(text, "+3.0 ± 2.5  "));  // its own interval excludes 0, without a star
  CHECK(contains(text, "Holm's correction for the 3 differences in this"));

  const TableModel alone = make_table(file, {.baseline = "maxrl", .correction = Correction::none});
  CHECK(is_significant(alone.blocks[0].cells[4].comparison, alone.spec));
  CHECK(contains(table_text(alone), "+3.0 ± 2.5 *"));
  CHECK(contains(table_text(alone), "of this difference alone"));

  // as blocks of one column the same three differences are one family still
  const TableModel blocks = make_table(file, {.columns = "rater", .baseline = "maxrl"});
  CHECK(blocks.blocks.size() == 3);
  CHECK(blocks.tested == std::vector<int>{3});
  CHECK(blocks.blocks[1].cells[1].comparison.p_holm == Approx(cells[4].comparison.p_holm));
}

TEST_CASE("differences that are exactly zero, or have one pair, are not tested, and several values are several families") {
  auto all = runs_with_differences({{10, 11, 9.5}, {0, 0, 0}, {3, 2, 4}});
  for (RunRecord& r : all) {
    r.finals.push_back({"regret", r.finals[0].value});
    if (r.votes == 3 && r.seed > 0) r.status = RunStatus::failed;
  }
  const TableModel table = make_table(file_of(all), {.columns = "value", .value = {"gain", "regret"}, .baseline = "maxrl"});
  CHECK(table.tested == std::vector<int>{1, 1});
  CHECK(std::isnan(table.blocks[1].cells[2].comparison.p));
  CHECK(std::isnan(table.blocks[2].cells[2].comparison.p));
  CHECK(table.blocks[0].cells[2].comparison.p_holm == Approx(p_of_three(10, 11, 9.5)));
  CHECK(contains(table_text(table), "interval; * = p < .05\n"));
  const auto json = nlohmann::json::parse(table_json(table));
  const auto& tested = json["blocks"][0]["cells"][2]["difference"];
  CHECK(tested["family"] == "gain");
  CHECK(tested["family_size"] == 1);
  CHECK(tested["star"] == true);
  CHECK(tested["p"].get<double>() == Approx(p_of_three(10, 11, 9.5)));
  CHECK(json["correction"] == "holm");
  const auto& zero = json["blocks"][1]["cells"][2]["difference"];
  CHECK(zero["p"].is_null());
  CHECK(zero["family"].is_null());
  CHECK(zero["star"].is_null());
  CHECK(contains(table_csv(table), ",gain,1,true"));
}

TEST_CASE("p of Student's and McNemar's tests") {
  CHECK(t_test_p({3, 3, 1, 0, 0}) == Approx(p_of_three(3, 2, 4)));
  CHECK(t_test_p({3, -3, 1, 0, 0}) == Approx(p_of_three(3, 2, 4)));
  CHECK(t_test_p({2, 1, std::sqrt(2.0), 0, 0}) == Approx(0.5));  // Cauchy at 1
  CHECK(t_test_p({4, 1, 0, 1, 1}) == 0.125);  // equal values: the sign test
  CHECK(std::isnan(t_test_p({4, 0, 0, 0, 0})));
  CHECK(std::isnan(t_test_p({1, 1, sample::nan, 0, 0})));
  CHECK(std::isnan(t_test_p({0, sample::nan, sample::nan, 0, 0})));
  const std::vector<double> all{1, 1, 1, 1, 1}, none{0, 0, 0, 0, 0}, some{1, 1, 0, 0, 0}, others{0, 0, 1, 0, 0};
  CHECK(mcnemar_p(all, none) == Approx(2.0 / 32));  // the most that five pairs can show
  CHECK(mcnemar_p(none, all) == Approx(2.0 / 32));
  CHECK(mcnemar_p(some, others) == Approx(1));  // 2 against 1: at least as unequal always
  CHECK(std::isnan(mcnemar_p(all, all)));
}

TEST_CASE("interval of a standard deviation") {
  const SdInterval ten = sd_interval(1, 10);  // chi-square quantiles 19.0228 and 2.70039 with 9 degrees of freedom
  CHECK(ten.lo == Approx(std::sqrt(9 / 19.02277)).epsilon(1e-5));
  CHECK(ten.hi == Approx(std::sqrt(9 / 2.700389)).epsilon(1e-5));
  CHECK(sd_interval(2, 10).hi == Approx(2 * ten.hi));
  CHECK(sd_interval(0, 5).hi == 0);
  CHECK(std::isnan(sd_interval(1, 1).lo));
  CHECK(std::isnan(sd_interval(-1, 5).lo));
  CHECK(median_unbiased_sd(2, 5) == Approx(2 * std::sqrt(4 / 3.356694)).epsilon(1e-6));  // the median of chi-square with 4 degrees of freedom
  CHECK(std::isnan(median_unbiased_sd(1, 1)));
}

TEST_CASE("a table of the seeds needed") {
  TableModel table = make_table(file_of(runs_with_differences({{10, 11, 9.5}, {3, 2, 4}})), {.baseline = "maxrl"});
  table.spec.power_difference = 2;
  const SeedsNeeded needed = seeds_needed(table.blocks[0].cells[3].comparison, table, 0);  // sd 1
  CHECK(needed.alone == pairs_needed(2, 1));
  CHECK(needed.lo == pairs_needed(2, sd_interval(1, 3).lo));
  CHECK(needed.hi == pairs_needed(2, sd_interval(1, 3).hi));
  CHECK(needed.among_all == pairs_needed(2, 1, 0.025));
  CHECK(needed.lo <= needed.alone);
  CHECK(needed.alone < needed.among_all);
  const std::string text = table_text(table);
  INFO(text);
  CHECK(contains(text, "sd - maxrl"));
  CHECK(contains(text, "seeds of 2"));
  CHECK(contains(text, "1.00 (n=3)  " + std::to_string(needed.alone)));
  CHECK(contains(text, "true difference of 2 %"));
  CHECK_FALSE(contains(text, " * "));
  CHECK(contains(table_markdown(table), "| sd - maxrl | seeds | seeds of 2 |"));
  CHECK(contains(table_csv(table), "power_difference,seeds_needed,seeds_needed_lo,seeds_needed_hi,seeds_needed_in_family"));
  CHECK(contains(table_csv(table), ",2," + std::to_string(needed.alone) + ","));
  const auto json = nlohmann::json::parse(table_json(table));
  CHECK(json["blocks"][0]["cells"][3]["difference"]["seeds_needed"]["alone"] == needed.alone);
}
