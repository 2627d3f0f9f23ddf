// Tables of several values, each with its own unit and statistic, and comparison with the baseline in percent.
#include <cmath>
#include <nlohmann/json.hpp>

#include "results/export/json_text.hpp"
#include "tests/catch.hpp"
#include "tests/page.hpp"
#include "tests/results/table/table_sample.hpp"

using namespace odrpo;
using namespace odrpo::sample;

namespace {

/// The known numbers, where odrpo's steps take 9/10, 1 and 19/20 of maxrl's time.
std::vector<RunRecord> timed_runs(const std::vector<double>& rates = {0.1}) {
  auto all = some_runs(rates);
  const double ratios[] = {0.9, 1.0, 0.95};
  for (RunRecord& r : all)
    if (r.estimator != "maxrl") r.step_time_median *= ratios[r.seed];
  return all;
}

const std::vector<std::string> three = {"gain", "regret", "seconds"};

}  // namespace

TEST_CASE("a spec reads back what was written, and what older versions wrote") {
  const TableSpec spec{.columns = "value",
                       .value = {"grounding", "win-rate"},
                       .baseline = "grpo",
                       .compare = Compare::percent,
                       .correction = Correction::none,
                       .best = {"lr", "learn.kl"},
                       .tune_seeds = 5};
  const TableSpec again = parse_table_spec(table_spec_lines(spec));
  CHECK(again.rows == spec.rows);
  CHECK(again.columns == spec.columns);
  CHECK(again.value == spec.value);
  CHECK(again.baseline == spec.baseline);
  CHECK(again.compare == spec.compare);
  CHECK(again.correction == spec.correction);
  CHECK(again.best == spec.best);
  CHECK(again.tune_seeds == spec.tune_seeds);
  const TableSpec old = parse_table_spec("rows = estimator\ncolumns = votes\nvalue = regret\nbaseline = maxrl\nbest = \ntune_seeds = 0\n");
  CHECK(old.value == std::vector<std::string>{"regret"});
  CHECK(old.compare == Compare::difference);
  CHECK(old.correction == Correction::holm);
  CHECK(parse_table_spec("value = \ncompare = nothing\n").value == std::vector<std::string>{"gain"});
}

TEST_CASE("several values as columns, compared in percent, a block for each number of votes", "[pages]") {
  const TableModel table =
      make_table(file_of(timed_runs()), {.columns = "value", .value = three, .baseline = "maxrl", .compare = Compare::percent});
  check_page("results/pages/table-values.txt", table_text(table));
}

TEST_CASE("percent of the baseline, by hand") {
  const TableModel table =
      make_table(file_of(timed_runs()), {.columns = "value", .value = three, .baseline = "maxrl", .compare = Compare::percent});
  const TableCell &gain = table.blocks[0].cells[3], &seconds = table.blocks[0].cells[5];
  CHECK(gain.of == 0);
  CHECK(gain.comparison.difference.n == 3);
  CHECK(gain.comparison.difference.mean == Approx((300.0 / 70 + 200.0 / 72 + 400.0 / 74) / 3));  // 70 to 73, 72 to 74, 74 to 78
  CHECK(seconds.of == 2);
  CHECK(seconds.comparison.difference.mean == Approx(-5));  // -10, 0, -5
  CHECK(seconds.comparison.difference.sd == Approx(5));
  CHECK(seconds.comparison.difference.hi == Approx(-5 + 4.302652729911275 * 5 / std::sqrt(3.0)));
  CHECK(table.blocks[0].cells[0].comparison.difference.n == 0);

  auto all = timed_runs();  // a baseline of 0, one below it: left out and counted
  for (RunRecord& r : all)
    if (r.estimator == "maxrl" && r.votes == 1 && r.seed < 2) r.finals[0].value = r.seed == 0 ? 0 : -0.7;
  const TableModel holes = make_table(file_of(all), {.baseline = "maxrl", .compare = Compare::percent});
  CHECK(holes.blocks[0].cells[2].n == 3);
  CHECK(holes.blocks[0].cells[2].comparison.difference.n == 1);
  CHECK(holes.blocks[0].cells[2].comparison.no_percent == 2);
  CHECK(contains(table_text(holes), "2 pairs have no percentage (the baseline is not above 0) and are left out"));
  CHECK(contains(table_text(holes), "+5.4 ± n/a (n=1)"));
}

TEST_CASE("shares of runs have no percentage of each other: their difference stays", "[pages]") {
  auto all = timed_runs();
  for (RunRecord& r : all) r.finals.push_back({"collapsed", r.estimator == "maxrl" ? 1.0 : 0.0});
  check_page("results/pages/values-shares.txt", table_text(make_table(
      file_of(all), {.columns = "value", .value = {"gain", "collapsed"}, .baseline = "maxrl", .compare = Compare::percent})));
}

TEST_CASE("values as rows, and a dimension of one value", "[pages]") {
  const ResultFile file = file_of(timed_runs());
  const TableModel turned = make_table(file, {.rows = "value", .columns = "estimator", .value = {"regret", "judge_calls"}});
  CHECK(turned.rows == std::vector<std::string>{"regret", "judge_calls"});
  check_page("results/pages/values-turned.txt", table_text(turned));
  check_page("results/pages/values-one.txt", table_text(make_table(file, {.columns = "value", .baseline = "maxrl"})));
}

TEST_CASE("with several values the best is chosen by the first, and the others are reported there") {
  auto all = timed_runs({0.1, 1});
  for (RunRecord& r : all) r.finals.push_back({"rate", std::get<double>(r.axes[0].second)});  // by itself it would choose 1
  const TableModel table = make_table(file_of(all), {.columns = "value", .value = {"gain", "rate"}, .baseline = "maxrl", .best = {"lr"}});
  const auto& cells = table.blocks[0].cells;
  CHECK(cells[0].chosen[0].value == "0.1");
  CHECK(cells[1].chosen[0].value == "0.1");
  CHECK(cells[1].centre == Approx(0.1));
  CHECK(cells[3].centre == Approx(1));
  const std::string text = table_text(table);
  CHECK(contains(text, "@: the learn.lr with the best mean of gain, chosen per cell, where the other values are reported"));
  INFO(text);
  CHECK(contains(text, "gain [%]         - maxrl     rate           - maxrl\n"));  // the choice stands once
  const TableModel turned = make_table(file_of(all), {.columns = "value", .value = {"rate", "gain"}, .best = {"lr"}});
  CHECK(turned.blocks[0].cells[1].chosen[0].value == "1");
  CHECK(turned.blocks[0].cells[1].centre == Approx(62));
  const TableModel held_out = make_table(file_of(all), {.columns = "value", .value = {"gain", "rate"}, .best = {"lr"}, .tune_seeds = 1});
  CHECK(contains(table_text(held_out), "the best mean of gain on seeds 0 to 0, chosen per cell, where the other"));
}

TEST_CASE("several values in Markdown, CSV and JSON", "[pages]") {
  const TableModel table =
      make_table(file_of(timed_runs()), {.columns = "value", .value = three, .baseline = "maxrl", .compare = Compare::percent});
  check_page("results/pages/values.md", table_markdown(table));
  check_page("results/pages/values.csv", rounded(table_csv(table)));
  check_page("results/pages/values.json", rounded(table_json(table)));
  CHECK_NOTHROW(nlohmann::json::parse(table_json(table)));
}

TEST_CASE("values of gradients: shown where the runs have them, else the table says what a suite must set") {
  auto all = some_runs({0.1});
  const ResultFile without = file_of(all);
  CHECK(
      contains(refusal(without, {.value = {"gradient_cosine"}}),
               "value: the results have no value \"gradient-cosine\": runs have it with `gradient` above 0 in [record] and an env of base "
               "bandit\nThere are: gain, regret"));
  CHECK(contains(refusal(without, {.value = {"judge-cost"}}), "runs have it with `price_per_call` in [rater.NAME]"));
  CHECK(contains(refusal(without, {.value = {"grounding"}}), "no value \"grounding\"\nThere are: gain"));
  for (RunRecord& r : all) {
    const bool ordinal = r.estimator != "maxrl";
    r.finals.push_back({"gradient_cosine", 0.5 + 0.01 * r.seed + (ordinal ? 0.1 + 0.01 * (r.seed == 1) : 0)});
    r.finals.push_back({"gradient_snr", ordinal && r.seed == 0 ? std::nan("") : 2});
  }
  const TableModel table =
      make_table(file_of(all), {.columns = "value", .value = {"gradient-cosine", "gradient-snr"}, .baseline = "maxrl"});
  REQUIRE(table.values.size() == 2);
  CHECK(value_text(table.values[0]) == "gradient-cosine");
  CHECK(table.values[0].more_is_better);
  CHECK(!table.values[0].percent);
  const TableCell &of_maxrl = table.blocks[0].cells[0], &of_odrpo = table.blocks[0].cells[2];
  CHECK(of_maxrl.centre == Approx(0.51));
  CHECK(of_odrpo.comparison.difference.mean == Approx(0.1 + 0.01 / 3));
  CHECK(table.blocks[0].cells[3].undefined == 1);
  const TableModel by_column = make_table(file_of(all), {.value = {"gradient_cosine"}});  // the column's own name shows it as it is
  CHECK(by_column.blocks[0].cells[0].centre == of_maxrl.centre);
  CHECK(by_column.values[0].more_is_better);
}

TEST_CASE("several values that do not go together") {
  const ResultFile file = file_of(timed_runs());
  CHECK(contains(refusal(file, {.value = {"gain", "regret"}}), "several values (gain, regret) need rows or columns \"value\""));
  CHECK(contains(refusal(file, {.columns = "value", .value = {"gain", "regret", "gain"}}), "\"gain\" is named twice"));
  CHECK(contains(refusal(file, {.columns = "value", .value = {"gain", "goodness"}}), "no value \"goodness\"\nThere are: gain, regret"));
  CHECK(contains(refusal(file, {.columns = "value", .value = {}}), "no value is named"));
  CHECK(contains(refusal(file, {.rows = "value", .columns = "value"}), "both"));
  CHECK(contains(refusal(file, {.rows = "value", .baseline = "gain"}), "make them the columns"));
  CHECK(contains(refusal(file, {.columns = "value", .best = {"value"}}), "no dimension \"value\""));
  auto all = timed_runs();
  for (RunRecord& r : all) r.axes[0].first = "value";
  CHECK(contains(refusal(file_of(all), {.columns = "value"}), "have an axis \"value\""));
  CHECK(make_table(file_of(all), {.best = {"value"}}).blocks[0].cells[0].chosen[0].axis == "value");
}

TEST_CASE("a suite's own table does without a baseline that is not there, and says so") {
  const auto runs = timed_runs();
  TableSpec spec{.baseline = "absent"};
  CHECK_THROWS_AS(make_table(file_of(runs), spec), Failure);
  const TableModel table = make_suite_table(file_of(runs), spec);
  CHECK(table.spec.baseline.empty());
  CHECK(contains(table_text(table), "no run of the baseline \"absent\" is here"));
  spec.value = {"nothing"};
  CHECK_THROWS_AS(make_suite_table(file_of(runs), spec), Failure);
}
