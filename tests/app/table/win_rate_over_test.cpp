// Win rates over an estimator's final policies: whose opponent a run is, and what has none.
#include <cmath>

#include "app/table/query.hpp"
#include "envs/toy_lm/held_out.hpp"
#include "results/table/table.hpp"
#include "results/table/table_spec.hpp"
#include "tests/catch.hpp"
#include "tests/results/sample.hpp"

using namespace odrpo;
using sample::contains, sample::failure_of;

namespace {

/// The file with its win rates over an estimator; the column's numbers.
std::vector<double> rates(const std::string& path, const std::string& value, bool lenient = false) {
  ResultFile file = read_results(path);
  const std::size_t columns = file.columns.size();
  app::add_win_rates(file, path, {"gain", value, value}, lenient, {});
  REQUIRE(file.columns.size() == columns + 1);
  CHECK(file.info(file.columns.back().name) != nullptr);
  CHECK(opponent_of(file.columns.back().name).size() == value.size() - win_rate_over.size());
  return file.columns.back().number;
}

double expected(const RunRecord& a, const RunRecord& b) {
  std::vector<double> quality, length;
  for (std::size_t i = 0; i < a.evaluated[0].values.size(); ++i) {
    quality.push_back(a.evaluated[0].values[i] - b.evaluated[0].values[i]);
    length.push_back(a.evaluated[1].values[i] - b.evaluated[1].values[i]);
  }
  return expected_win_rate(quality, length, {}).rate;
}

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

}  // namespace

TEST_CASE("the opponent is the estimator's run of the same settings and seed") {
  const sample::Scratch scratch;
  auto all = sample::with_evaluated(sample::runs());
  const std::string name = "odrpo-gini(maxrl)";
  all[12].status = RunStatus::failed;                      // odrpo-gini(maxrl), votes 1, lr 0.1, seed 0
  for (Curve& c : all[13].evaluated) c.values.pop_back();  // seed 1: another number of prompts
  all[14].evaluated.clear();                               // seed 2: none
  all[5].status = RunStatus::failed;                       // maxrl, votes 1, lr 1, seed 2
  sample::write_file(scratch.file(), all);
  const auto over = rates(scratch.file(), "win-rate-over-" + name), back = rates(scratch.file(), "win_rate_over_maxrl");
  REQUIRE(over.size() == all.size());
  int known = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    INFO(all[i].id);
    const bool is_other = all[i].estimator == name;
    const std::size_t partner = i % 24 < 12 ? i + 12 : i - 12;  // 12 runs of each estimator in a world
    REQUIRE(all[partner].seed == all[i].seed);
    REQUIRE(all[partner].votes == all[i].votes);
    REQUIRE(all[partner].axes[0] == all[i].axes[0]);
    const auto wrote = [&](std::size_t r) { return all[r].status == RunStatus::ok && !all[r].evaluated.empty(); };
    const bool compared = wrote(i) && wrote(partner) && all[i].evaluated[0].values.size() == all[partner].evaluated[0].values.size();
    const double none = sample::nan, rate = compared ? expected(all[i], all[partner]) : none, own = wrote(i) ? 0.5 : none;
    CHECK(same(over[i], is_other ? own : rate));
    CHECK(same(back[i], is_other ? rate : own));
    known += compared;
  }
  CHECK(known == 2 * (12 - 4));
}

TEST_CASE("an axis that the opponents lack does not part them from the others, and two values are two columns") {
  const sample::Scratch scratch;
  auto all = sample::with_evaluated(sample::runs());
  for (RunRecord& run : all)
    if (run.estimator == "maxrl") run.axes.erase(run.axes.begin() + 2);  // a text, the schedule
  sample::write_file(scratch.file(), all);
  ResultFile file = read_results(scratch.file());
  app::add_win_rates(file, scratch.file(), {"win-rate-over-maxrl", "win-rate-over-odrpo-gini(maxrl)"}, false, {});
  const Column *over = file.column("win-rate-over-maxrl"), *back = file.column("win-rate-over-odrpo-gini(maxrl)");
  REQUIRE(over != nullptr);
  REQUIRE(back != nullptr);
  for (std::size_t i = 0; i < 12; ++i) {
    CHECK(over->number[i] == 0.5);
    CHECK(over->number[i + 12] == expected(all[i + 12], all[i]));
    CHECK(std::isnan(back->number[i]));  // its opponent would have to have a schedule
    CHECK(back->number[i + 12] == 0.5);
  }
}

TEST_CASE("what one run wins, the other loses") {
  const sample::Scratch scratch;
  sample::write_file(scratch.file(), sample::with_evaluated(sample::runs()));
  const auto over = rates(scratch.file(), "win-rate-over-odrpo-gini(maxrl)"), back = rates(scratch.file(), "win-rate-over-maxrl");
  for (std::size_t i = 0; i < 12; ++i) CHECK(over[i] + back[i + 12] == Approx(1).epsilon(1e-9));
  for (std::size_t i = 24; i < over.size(); ++i) CHECK(std::isnan(over[i]));  // a world without evaluations
}

TEST_CASE("no such estimator, no evaluations") {
  const sample::Scratch scratch;
  sample::write_file(scratch.file(), sample::with_evaluated(sample::runs(1)));
  const auto [code, message] = failure_of([&] { rates(scratch.file(), "win-rate-over-maxlr"); });
  CHECK(code == Exit::usage);
  CHECK(contains(message, "value: \"win-rate-over-maxlr\": the results have no estimator \"maxlr\""));
  CHECK(contains(message, "did you mean \"maxrl\"?"));
  for (const double rate : rates(scratch.file(), "win-rate-over-grpo", true)) CHECK(std::isnan(rate));
  sample::write_file(scratch.file("plain.h5"), sample::runs(1));
  const auto [plain, why] = failure_of([&] { rates(scratch.file("plain.h5"), "win-rate-over-maxrl"); });
  CHECK(plain == Exit::usage);
  CHECK(contains(why, "value: \"win-rate-over-maxrl\": the results have no evaluations per prompt"));
}

TEST_CASE("the value is read by itself, and shown in percent") {
  const sample::Scratch scratch;
  sample::write_file(scratch.file(), sample::with_evaluated(sample::runs()));
  TableSpec spec;
  spec.columns = values_dimension;
  spec.value = {"gain", "win-rate-over-maxrl"};
  ResultFile file = read_results(scratch.file(), [&](const ResultFile& head) { return app::stored_columns(head, spec); });
  CHECK(file.column("final_gain") != nullptr);
  CHECK(failure_of([&] { make_table(file, spec); }).first == Exit::usage);
  app::add_win_rates(file, scratch.file(), spec.value, false, {});
  const TableModel table = make_table(file, spec);
  REQUIRE(table.values.size() == 2);
  CHECK(table.values[1].unit == "%");
  CHECK(table.values[1].ranked);
  CHECK(table.values[1].meaning == win_rate_over_word.meaning);
  CHECK(table.blocks[0].cells[1].centre == 50);  // maxrl against itself
}
