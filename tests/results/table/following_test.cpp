// Dimensions that rows, columns or `best` decide: they belong to the cells, in every format, and split no table.
#include "results/export/table_json.hpp"
#include "tests/catch.hpp"
#include "tests/results/table/table_sample.hpp"

using namespace odrpo;
using namespace odrpo::sample;

namespace {

/// 2 estimators x votes {1, 8} x 3 seeds, in which `steps` is what steps_of(votes, estimator) says.
template <class StepsOf>
std::vector<RunRecord> runs_with(StepsOf steps_of) {
  std::vector<RunRecord> all = some_runs({0.1});
  for (RunRecord& r : all) r.axes = {{"steps", std::int64_t{steps_of(r.votes, r.estimator == "maxrl" ? 0 : 1)}}};
  return all;
}

}  // namespace

TEST_CASE("a dimension that follows the rows splits nothing, and rows are compared by seed") {
  const ResultFile file = file_of(runs_with([](int votes, int) { return 2400 / votes; }));
  const TableModel table = make_table(file, {.rows = "votes", .columns = "estimator", .baseline = "1"});
  REQUIRE(table.blocks.size() == 1);
  CHECK(table.split.empty());
  REQUIRE(table.following.size() == 1);
  CHECK(table.following[0].others == std::vector<std::string>{"votes"});
  CHECK(table.following[0].text == "steps follows votes: 1: 2400, 8: 300");
  for (const TableCell& cell : table.blocks[0].cells) {
    CHECK(cell.n == 3);
    CHECK(cell.followed == std::vector<std::string>{cell.row == "1" ? "2400" : "300"});
    if (cell.row == "8") CHECK(cell.comparison.difference.mean == Approx(5));
  }
  for (const Legend legend : {Legend::brief, Legend::full}) {
    CHECK(contains(table_text(table, legend), "\nsteps follows votes: 1: 2400, 8: 300\n"));
    CHECK(contains(table_markdown(table, legend), "\n- steps follows votes: 1: 2400, 8: 300\n"));
  }
  CHECK_FALSE(contains(table_text(table, Legend::none), "follows"));
  CHECK(contains(table_latex(table), "steps follows votes: 1: 2400, 8: 300"));
  const std::string csv = table_csv(table), json = table_json(table);
  CHECK(csv.starts_with("env,rater,policy,steps,votes,estimator,value,"));
  CHECK(contains(csv, "\nbandit,mixed,linear,300,8,maxrl,gain,"));
  CHECK(contains(json, "\"dimension\": \"steps\",\n      \"others\": [\n        \"votes\"\n      ]"));
  CHECK(contains(json, "\"followed\": {\n            \"steps\": \"300\"\n          }"));
}

TEST_CASE("a dimension that follows columns, or rows and columns together") {
  const ResultFile columns = file_of(runs_with([](int votes, int) { return 10 * votes; }));
  CHECK(make_table(columns, {}).following.at(0).text == "steps follows votes: 1: 10, 8: 80");
  CHECK(make_table(columns, {.rows = "estimator", .columns = "steps"}).following.at(0).text == "votes follows steps: 10: 1, 80: 8");
  CHECK(make_table(columns, {.rows = "votes", .columns = "value", .value = {"gain", "regret"}}).following.size() == 1);
  const ResultFile both = file_of(runs_with([](int votes, int e) { return votes + 100 * e * votes; }));
  const TableModel table = make_table(both, {});
  CHECK(table.blocks.size() == 1);
  CHECK(table.following.at(0).text ==
        "steps follows estimator, votes: maxrl, 1: 1; maxrl, 8: 8; odrpo-gini(maxrl), 1: 101; odrpo-gini(maxrl), 8: 808");
}

TEST_CASE("with best a dimension may follow the value that was chosen") {
  std::vector<RunRecord> all = some_runs({0.1, 1});
  for (RunRecord& r : all) {
    const double lr = std::get<double>(r.axes[0].second);
    r.axes = {{"lr", lr}, {"steps", std::int64_t{lr < 0.5 ? 7 : 9}}};
  }
  const TableModel table = make_table(file_of(all), {.best = {"lr"}});
  REQUIRE(table.blocks.size() == 1);
  CHECK(table.following.at(0).text == "steps follows lr: 0.1: 7, 1: 9");
  for (const TableCell& cell : table.blocks[0].cells) CHECK(cell.followed.at(0) == (cell.row == "maxrl" ? "7" : "9"));
}

TEST_CASE("what is not decided splits the table as ever, and follows a dimension that splits it") {
  const ResultFile file = file_of(runs_with([](int votes, int) { return 10 * votes; }));
  const TableModel blocks = make_table(file, {.rows = "estimator", .columns = "value", .value = {"gain", "regret"}});
  CHECK(blocks.blocks.size() == 2);
  CHECK(blocks.following.empty());
  CHECK(blocks.split == std::vector<std::string>{"votes", "steps"});
  std::vector<RunRecord> odd = runs_with([](int votes, int) { return 10 * votes; });
  odd.back().axes = {{"steps", std::int64_t{11}}};  // one run alone
  CHECK(make_table(file_of(odd), {}).following.empty());
  CHECK(make_table(file_of(odd), {}).blocks.size() == 3);
  std::vector<RunRecord> lacking = runs_with([](int votes, int) { return 10 * votes; });
  for (RunRecord& r : lacking)
    if (r.votes == 8) r.axes.clear();  // as of an axis that some variants alone have
  CHECK(make_table(file_of(lacking), {}).blocks.size() == 2);
  const TableModel usual = make_table(file_of(some_runs({0.1, 1})), {});
  CHECK(usual.following.empty());
  CHECK_FALSE(contains(table_json(usual), "follow"));
}

TEST_CASE("a long list of what follows what is cut") {
  std::vector<RunRecord> all;
  for (int votes = 1; votes <= 12; ++votes) {
    RunRecord r = run("bandit", "maxrl", votes, 0.1, 0, 20);
    r.axes = {{"steps", std::int64_t{100} * votes}};
    all.push_back(r);
  }
  const std::string text = make_table(file_of(all), {.rows = "votes", .columns = "estimator"}).following.at(0).text;
  CHECK(text.ends_with("7: 700, 8: 800, ..."));
}

TEST_CASE("a judge's modelled time shows medians and quartiles, its cost a mean, each in its unit") {
  std::vector<RunRecord> all = some_runs({0.1});
  for (RunRecord& r : all) {
    r.finals.push_back({modelled_seconds, 4 + 0.5 * r.seed});
    r.finals.push_back({"judge_cost", 3.0 * r.votes});
    r.finals.push_back({"judge_seconds", 4});
  }
  const ResultFile file = file_of(all);
  const TableModel table = make_table(
      file, {.rows = "estimator", .columns = "value", .value = {"modelled-seconds", "judge-cost", "judge-seconds"}, .baseline = "maxrl"});
  CHECK(table.values[0].median);
  CHECK(table.values[0].unit == "s");
  CHECK_FALSE(table.values[0].more_is_better);
  CHECK(table.blocks[0].cells[0].centre == 4.5);
  CHECK(table.blocks[0].cells[0].lo == 4.25);
  CHECK_FALSE(table.values[1].median);
  CHECK_FALSE(table.values[1].more_is_better);
  CHECK(table.blocks[1].cells[1].centre == 24);
  // a measured part of microseconds beside modelled seconds: no more than six digits
  for (RunRecord& r : all) r.finals[r.finals.size() - 3].value = 128 + 1e-6 * r.seed;
  const TableModel long_calls = make_table(file_of(all), {.columns = "votes", .value = {"modelled-seconds"}});
  CHECK(contains(table_text(long_calls), "maxrl              128.000 [128.000, 128.000]  128.000 [128.000, 128.000]\n"));
  CHECK(make_table(file, {.value = {"modelled_seconds"}}).values[0].name == "modelled_seconds");  // the column as it is
}
