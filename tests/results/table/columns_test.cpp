// Tables from coded columns: which columns a table asks for, how numbers of axes print, and that a million runs take seconds.
#include <set>

#include "results/export/json_text.hpp"
#include "tests/catch.hpp"
#include "tests/results/table/table_sample.hpp"

using namespace odrpo;
using namespace odrpo::sample;

namespace {

/// What is known before any column is read.
ResultFile head_of(ResultFile file) {
  file.columns.clear();
  file.failed_ids.clear();
  return file;
}

std::vector<std::string> rows_of(const std::vector<AxisValue>& values) {
  auto all = some_runs({0.1});
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].axes[0].second = values[i % values.size()];
    all[i].seed = static_cast<int>(i);
  }
  return make_table(file_of(all), {.rows = "lr", .columns = "rater"}).rows;
}

}  // namespace

TEST_CASE("a result file finds its columns") {
  auto all = some_runs({0.1});
  all[1].status = RunStatus::failed;
  const ResultFile file = file_of(all);
  REQUIRE(file.column("estimator"));
  CHECK(file.column("estimator")->text(0) == "maxrl");
  CHECK(file.column("estimator")->size() == file.runs);
  CHECK(file.column("no such") == nullptr);
  REQUIRE(file.info("learn.steps"));
  CHECK(file.info("learn.steps")->axis == "learn.steps");
  CHECK(file.info("learn.steps")->integer);
  CHECK(file.info("nothing") == nullptr);
  CHECK(file.ok(0));
  CHECK_FALSE(file.ok(1));
  REQUIRE(file.provenance_text("table"));
  CHECK(file.provenance_text("nothing") == nullptr);
  for (const char* name : {"run", "id", "votes", "status", "step_time_median", "curves", "provenance"}) CHECK(is_reserved_column(name));
  CHECK_FALSE(is_reserved_column("final_gain"));
}

TEST_CASE("a table asks for the columns of its values, and needs no other") {
  const ResultFile file = file_of(some_runs({0.1})), head = head_of(file);
  const auto columns = [&](std::vector<std::string> values) {
    return table_columns(head, {.columns = "value", .value = std::move(values)});
  };
  CHECK(columns({"gain"}) == std::vector<std::string>{"final_gain"});
  CHECK(columns({"seconds", "judge-calls", "final_gain", "gain"}) ==
        std::vector<std::string>{"step_time_median", "judge_calls", "final_gain"});
  CHECK(columns({"votes"}) == std::vector<std::string>{"votes"});
  const auto [code, message] = failure_of([&] { columns({"gian"}); });
  CHECK(code == Exit::usage);
  CHECK(message ==
        "value: the results have no value \"gian\"; did you mean \"gain\"?\nThere are: gain, regret, seconds, final_gain, judge_calls");
  CHECK(failure_of([&] { columns({"learn.schedule"}); }).first == Exit::usage);  // text

  ResultFile least = file;
  std::erase_if(least.columns, [](const Column& c) {
    const std::set<std::string> kept{"env", "rater", "policy", "estimator", "votes", "seed", "status", "regret"};
    return c.axis.empty() && !kept.count(c.name);
  });
  CHECK(table_text(make_table(least, {.value = {"regret"}})) == table_text(make_table(file, {.value = {"regret"}})));
  CHECK(failure_of([&] { make_table(least, {.value = {"gain"}}); }).first == Exit::internal);
}

TEST_CASE("numbers of axes print in their shortest form, whole ones with all digits") {
  CHECK(rows_of({50.0, 0.1, 1e-7, 1e16, -0.25}) == std::vector<std::string>{"50", "0.1", "1e-07", "1e+16", "-0.25"});
  CHECK(rows_of({std::int64_t{50}, std::int64_t{-3}, std::int64_t{9007199254740991}}) ==
        std::vector<std::string>{"50", "-3", "9007199254740991"});
  CHECK(rows_of({std::string("b"), std::string("a")}) == std::vector<std::string>{"b", "a"});
}

TEST_CASE("axes come in the order in which the runs bring them, and a run without one has a dash") {
  auto all = some_runs({0.1});
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i < 6) all[i].axes.erase(all[i].axes.begin());
    all[i].axes.emplace_back("late", std::string(i < 9 ? "" : "x"));
  }
  const ResultFile file = file_of(all);
  const TableModel table = make_table(file, {.rows = "late", .columns = "learn.lr"});
  CHECK(table.rows == std::vector<std::string>{"-", "x"});
  CHECK(table.columns == std::vector<std::string>{"-", "0.1"});
  CHECK(contains(refusal(file, {.rows = "nothing"}), "estimator, votes, learn.steps, learn.schedule, learn.lr, late"));
}

TEST_CASE("a cell of very many seeds is compared by one pass over both") {
  ResultFile file = file_of(some_runs({0.1}));
  const std::size_t seeds = 200'000, rows = 2;
  file.runs = rows * seeds;
  for (Column& column : file.columns) {
    if (column.numeric) column.number.assign(file.runs, column.number[0]);
    else column.code.assign(file.runs, 0);
    for (std::size_t i = 0; i < file.runs; ++i) {  // the seeds of the second row run backwards and lack the even ones
      if (column.name == "estimator") column.code[i] = i < seeds ? 0 : 1;
      if (column.name == "seed") column.number[i] = static_cast<double>(i < seeds ? i : 2 * (file.runs - i) - 1);
      if (column.name == "final_gain") column.number[i] = i < seeds ? 0.5 : 0.75;
    }
  }
  const TableModel table = make_table(file, {.baseline = "maxrl"});
  const TableCell& cell = table.blocks[0].cells[1];
  CHECK(cell.n == 200'000);
  CHECK(cell.values.front().first == 1);
  CHECK(cell.comparison.difference.n == 100'000);
  CHECK(cell.comparison.difference.mean == Approx(25));
}

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
