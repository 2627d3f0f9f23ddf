// Tables from a small file with known numbers: golden texts, choice of the best axis value, pairing, what is left out.
#include "results/export/json_text.hpp"
#include "tests/catch.hpp"
#include "tests/page.hpp"
#include "tests/results/table/table_sample.hpp"

using namespace odrpo;
using namespace odrpo::sample;

TEST_CASE("the spec a run stored") {
  const TableSpec spec = parse_table_spec(
      "rows = estimator\ncolumns = rater\nvalue = regret\nbaseline = maxrl\nbest = lr, learn.kl\ntune_seeds = 10\nnew = 1\n\n=\nx");
  CHECK(spec.rows == "estimator");
  CHECK(spec.columns == "rater");
  CHECK(spec.value == std::vector<std::string>{"regret"});
  CHECK(spec.baseline == "maxrl");
  CHECK(spec.best == std::vector<std::string>{"lr", "learn.kl"});
  CHECK(spec.tune_seeds == 10);
  CHECK(parse_table_spec("").rows == "estimator");
}

TEST_CASE("a table in text", "[pages]") {
  const ResultFile file = file_of(some_runs({0.1}));
  check_page("results/pages/table.txt", table_text(make_table(file, {.baseline = "maxrl"})));
}

TEST_CASE("a table names settings that its file says are not the usual ones") {
  ResultFile file = file_of(some_runs({0.1}));
  for (auto& [name, text] : file.provenance)
    if (name == "formulas") text += "\tlearn.epochs=4\n\tlearn.whiten=none\n\tnothing\n";
  const TableModel table = make_table(file, {});
  CHECK(contains(table_text(table), "learn.schedule=cosine, learn.epochs=4, learn.whiten=none\nraters:"));
  CHECK(contains(table_json(table), "\"settings\": {\n    \"learn.epochs\": \"4\""));
}

TEST_CASE("the same table in Markdown, CSV, JSON and LaTeX", "[pages]") {
  const TableModel table = make_table(file_of(some_runs({0.1})), {.baseline = "maxrl"});
  check_page("results/pages/table.md", table_markdown(table));
  check_page("results/pages/table.csv", rounded(table_csv(table)));
  check_page("results/pages/table.json", rounded(table_json(table)));
  check_page("results/pages/table.tex", table_latex(table));
  check_page("results/pages/table-siunitx.tex", table_latex(table, Legend::brief, true));
}

TEST_CASE("cells and paired differences") {
  const TableModel table = make_table(file_of(some_runs({0.1})), {.baseline = "maxrl"});
  REQUIRE(table.blocks.size() == 1);
  const TableCell &base = table.blocks[0].cells[0], &cell = table.blocks[0].cells[2];
  CHECK(base.centre == Approx(72));
  CHECK(base.sd == Approx(2));
  CHECK(base.comparison.difference.n == 0);
  CHECK(cell.n == 3);
  CHECK(cell.comparison.difference.n == 3);
  CHECK(cell.comparison.difference.mean == Approx(3));  // 3, 2, 4
  CHECK(cell.comparison.difference.sd == Approx(1));
  CHECK(cell.comparison.difference.hi - cell.comparison.difference.mean == Approx(4.302652729911275 / std::sqrt(3.0)));
}

TEST_CASE("shares of runs have intervals where a mean of zeros has none", "[pages]") {
  std::vector<RunRecord> all = some_runs({0.1});
  for (RunRecord& r : all)  // maxrl collapses at one vote, in seed 2 at eight; odrpo never
    r.finals.push_back({"collapsed", r.estimator == "maxrl" && (r.votes == 1 || r.seed == 2) ? 1.0 : 0.0});
  const TableModel table = make_table(file_of(all), {.value = {"collapsed"}, .baseline = "maxrl"});
  check_page("results/pages/table-shares.txt", table_text(table));  // three pairs prove nothing (p = .25): no star
  CHECK(contains(table_csv(table), "share and 95% Wilson interval"));
  CHECK(contains(table_json(table), "Wilson"));
  all.resize(1);
  CHECK(contains(table_text(make_table(file_of(all), {.value = {"collapsed"}})), "100.0 [20.7, 100.0]"));
}

TEST_CASE("the best value of an axis, chosen per cell") {
  const ResultFile file = file_of(some_runs({0.1, 1}));
  const TableModel table = make_table(file, {.baseline = "maxrl", .best = {"lr"}});
  REQUIRE(table.blocks.size() == 1);
  CHECK(table.spec.best == std::vector<std::string>{"learn.lr"});
  CHECK(table.blocks[0].cells[0].chosen[0].value == "0.1");
  CHECK(table.blocks[0].cells[2].chosen[0].value == "1");
  CHECK(table.blocks[0].cells[2].centre == Approx(76));
  CHECK(table.blocks[0].cells[2].comparison.difference.mean == Approx(4));
  CHECK(contains(table_text(table), "chosen on the reported seeds"));

  const TableModel held_out = make_table(file, {.baseline = "maxrl", .best = {"lr"}, .tune_seeds = 1});
  CHECK(held_out.blocks[0].cells[0].n == 2);
  CHECK(held_out.blocks[0].cells[0].centre == Approx(73));
  CHECK(contains(table_text(held_out), "the other seeds are reported"));

  const TableModel regret = make_table(file, {.value = {"regret"}, .best = {"learn.lr"}});  // less is better
  CHECK(regret.blocks[0].cells[0].chosen[0].value == "0.1");
  CHECK(regret.blocks[0].cells[2].chosen[0].value == "1");
}

TEST_CASE("a best value at the edge of a grid of three or more numbers is marked") {
  const auto text = [](const TableModel& table) { return table_text(table); };
  const TableModel two = make_table(file_of(some_runs({0.1, 1})), {.best = {"lr"}});
  CHECK(two.blocks[0].cells[0].chosen[0].at_edge == false);  // of two one is always at an edge
  CHECK(!contains(text(two), "!"));

  std::vector<RunRecord> all = some_runs({0.1, 0.2, 1});
  for (std::size_t i = 0; i < all.size(); ++i) all[i].id += "/" + std::to_string(i);
  const TableModel three = make_table(file_of(all), {.best = {"lr"}});
  CHECK(three.blocks[0].cells[0].chosen[0].value == "0.1");
  CHECK(three.blocks[0].cells[0].chosen[0].at_edge == true);
  CHECK(contains(text(three), "\n!: the largest or smallest tried; a wider grid may find better\n"));
  CHECK(contains(text(three), "72.0 ± 5.0 @0.1!  "));
  CHECK(contains(table_markdown(three), "| 72.0 ± 5.0 @0.1! |"));
  CHECK(contains(table_json(three), "\"at_edge\": {\n            \"learn.lr\": true"));
  CHECK(contains(table_csv(three), ",star,learn.lr_at_edge,formula,rater_text,among_best,suite,digest\n"));
  CHECK(contains(table_csv(three), ",true,advantage (r - mean) / mean,"));

  for (RunRecord& r : all) {  // the middle one is best
    const double lr = std::get<double>(r.axes[0].second);
    r.finals[0].value += lr == 0.2 ? 0.05 : 0;
  }
  const TableModel inside = make_table(file_of(all), {.best = {"lr"}});
  CHECK(inside.blocks[0].cells[0].chosen[0].at_edge == false);
  CHECK(!contains(text(inside), "!"));
  CHECK(contains(table_csv(inside), ",false,sum over levels,"));

  for (RunRecord& r : all)  // of words none is the largest
    r.axes[0].second = std::string(std::get<double>(r.axes[0].second) == 0.2 ? "b" : std::get<double>(r.axes[0].second) == 1 ? "c" : "a");
  for (RunRecord& r : all) r.finals[0].value = r.finals[0].value - (std::get<std::string>(r.axes[0].second) == "b" ? 0.5 : 0);
  CHECK(!contains(text(make_table(file_of(all), {.best = {"lr"}})), "!"));
}

TEST_CASE("a difference that rounds to zero has no sign") {
  for (const double shift : {2e-5, -2e-5, 0.0}) {
    std::vector<RunRecord> all = some_runs({0.1});
    for (std::size_t i = 0; i < 6; ++i)
      all[6 + i].finals[0].value = all[i].finals[0].value + shift + (i % 3 == 0 ? 0.01 : i % 3 == 1 ? -0.01 : 0);
    const std::string text = table_text(make_table(file_of(all), {.baseline = "maxrl"}));
    INFO(text);
    CHECK(contains(text, "  0.0 ± 2.5"));
    CHECK(!contains(text, "+0.0"));
    CHECK(!contains(text, "-0.0"));
  }
}

TEST_CASE("names that differ in - and _ alone, and rows that are the same number") {
  std::vector<RunRecord> all = some_runs({0.1, 1});
  for (RunRecord& r : all) {
    r.finals.push_back({"final_quality", 5});
    r.finals.push_back({"largest_fall", 2});
    r.finals.push_back({"win_rate_length_controlled", 0.5});
    r.axes[1].second = std::int64_t{std::get<double>(r.axes[0].second) == 1 ? 1000000 : 20};
  }
  const ResultFile file = file_of(all);
  const auto value = [&](const std::string& name) { return make_table(file, {.value = {name}}).values[0]; };
  CHECK(value("final-quality").name == "final_quality");
  CHECK(value("judge-calls").name == "judge_calls");
  CHECK(value("win_rate").name == "win-rate");
  CHECK(value("largest-fall").unit == "levels");  // the word
  CHECK(value("largest_fall").unit.empty());      // the file's column
  CHECK(contains(refusal(file, {.columns = "value", .value = {"final-quality", "final_quality"}}), "\"final_quality\" is named twice"));

  const auto base = [&](const std::string& row) { return make_table(file, {.rows = "learn.steps", .baseline = row}).spec.baseline; };
  CHECK(base("1e6") == "1000000");
  CHECK(base("20.0") == "20");
  CHECK(contains(refusal(file, {.rows = "learn.steps", .baseline = "2e6"}), "not among the rows"));
}

TEST_CASE("other dimensions split the table") {
  const TableModel table = make_table(file_of(some_runs({0.1, 1})), {});
  CHECK(table.split == std::vector<std::string>{"learn.lr"});
  CHECK(table.blocks.size() == 2);
  CHECK(contains(table_text(table), "\nlearn.lr=1\n"));
  const TableModel turned =
      make_table(file_of(some_runs({0.1, 1})), {.rows = "learn.lr", .columns = "estimator", .value = {"judge_calls"}});
  CHECK(turned.rows == std::vector<std::string>{"0.1", "1"});
  CHECK(turned.split == std::vector<std::string>{"votes"});
  CHECK(contains(table_text(turned), "1000"));
}

TEST_CASE("step times show medians and quartiles") {
  const TableModel table = make_table(file_of(some_runs({0.1})), {.value = {"seconds"}});
  CHECK(table.values[0].median);
  CHECK(table.blocks[0].cells[0].centre == Approx(20));
  CHECK(contains(table_text(table), "20.0 [15.0, 25.0]"));
}

TEST_CASE("failed and undefined runs are left out and counted", "[pages]") {
  auto all = some_runs({0.1});
  all[0].status = RunStatus::failed;
  all[4].finals[0].value = sample::nan;
  const TableModel table = make_table(file_of(all), {.baseline = "maxrl"});
  const auto& cells = table.blocks[0].cells;
  CHECK(cells[0].n == 2);
  CHECK(cells[0].failed == 1);
  CHECK(cells[1].n == 2);
  CHECK(cells[1].undefined == 1);
  CHECK(cells[2].n == 3);
  CHECK(cells[2].comparison.difference.n == 2);
  check_page("results/pages/table-left-out.txt", table_text(table));

  all = some_runs({0.1, 1});  // the better mean does not win with a run that failed
  for (RunRecord& r : all)
    if (r.estimator != "maxrl" && std::get<double>(r.axes[0].second) == 1 && r.seed == 0) r.status = RunStatus::failed;
  CHECK(make_table(file_of(all), {.best = {"lr"}}).blocks[0].cells[2].chosen[0].value == "0.1");
}

TEST_CASE("one seed has no interval", "[pages]") {
  auto all = some_runs({0.1});
  std::erase_if(all, [](const RunRecord& r) { return r.seed > 0; });
  check_page("results/pages/table-one-seed.txt", table_text(make_table(file_of(all), {.baseline = "maxrl"})));
}

TEST_CASE("many columns go below each other") {
  auto all = some_runs({0.1});
  const auto few = all;
  for (int votes : {2, 3, 4, 5, 6, 7, 9})
    for (RunRecord r : few) {
      if (r.votes != 1) continue;
      r.votes = votes;
      r.id.append("/").append(std::to_string(votes));
      all.push_back(r);
    }
  const std::string text = table_text(make_table(file_of(all), {.baseline = "maxrl"}));
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t end = text.find('\n', from);
    CHECK(end - from <= 112);  // bytes: ± takes two
    from = end + 1;
  }
  CHECK(contains(text, "votes=9"));
}

TEST_CASE("words that the file does not know") {
  const ResultFile file = file_of(some_runs({0.1}));
  CHECK(contains(refusal(file, {.rows = "estimatr"}), "env, rater, policy, estimator, votes, learn.lr"));
  CHECK(contains(refusal(file, {.columns = "seed"}), "columns"));
  CHECK(contains(refusal(file, {.rows = "votes", .columns = "votes"}), "both"));
  CHECK(contains(refusal(file, {.value = {"goodness"}}), "gain, regret, seconds"));
  CHECK(contains(refusal(file, {.value = {"id"}}), "no value"));
  CHECK(contains(refusal(file, {.baseline = "grpo"}), "maxrl, odrpo-gini(maxrl)"));
  CHECK(contains(refusal(file, {.best = {"votes"}}), "already"));
  CHECK(contains(refusal(file, {.best = {"learn.lr"}, .tune_seeds = 3}), "leave none"));
}
