// Tables from coded columns: which columns a table asks for, how numbers of axes print, and that a million runs take seconds.
#include <set>

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
        "value: the results have no value \"gian\" (they have gain, regret, seconds, final_gain, judge_calls); did you mean \"gain\"?");
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
