// Forms of a table: legends, widths, decimals, the best cells, baselines of groups of rows, LaTeX.
#include <cmath>

#include "kernels/shared/utf8.hpp"
#include "results/export/json_text.hpp"
#include "tests/catch.hpp"
#include "tests/page.hpp"
#include "tests/results/table/table_sample.hpp"

using namespace odrpo;
using namespace odrpo::sample;

namespace {

/// A cell of a table: `seeds` seeds whose mean is `centre` and whose interval has this half-width.
struct Cell {
  double centre, half;
  int seeds = 3;
};

/// The numbers of a table of these estimators (rows) at 1, 2, ... votes (columns).
std::string numbers_of(const std::vector<std::pair<std::string, std::vector<Cell>>>& rows) {
  std::vector<RunRecord> all;
  for (const auto& [estimator, cells] : rows)
    for (std::size_t c = 0; c < cells.size(); ++c)
      for (int seed = 0; seed < cells[c].seeds; ++seed) {
        std::vector<double> away;
        for (int i = 0; i < cells[c].seeds; ++i) away.push_back(i - (cells[c].seeds - 1) / 2.0);
        const double scale = cells[c].half / (mean_interval(away).hi - mean_interval(away).mean);
        RunRecord r = run("bandit", estimator, static_cast<int>(c) + 1, 0.1, seed, 20);
        r.finals = {{"regret", cells[c].centre + scale * away[static_cast<std::size_t>(seed)]}};
        all.push_back(r);
      }
  const std::string text = table_text(make_table(file_of(all), {.value = {"regret"}}), Legend::none);
  return text.substr(text.find("\n\n") + 2);
}

/// The LaTeX of a row's name.
std::string latex_of(const std::string& name) {
  auto all = some_runs({0.1});
  for (RunRecord& r : all)
    if (r.estimator != "maxrl") r.estimator = name;
  const std::string latex = table_latex(make_table(file_of(all), {}), Legend::none), before = "\\\\\n";
  const std::size_t end = latex.find(" & $\\mathbf{75.0}$ $\\pm$ $6.6$ & $\\mathbf{80.0}$ $\\pm$ $6.6$ \\\\\n\\bottomrule\n");
  const std::size_t from = latex.rfind(before, end) + before.size();
  return latex.substr(from, end - from);
}

}  // namespace

TEST_CASE("the legend of a table can be short or left out, and its lines fit a terminal", "[pages]") {
  const TableModel table = make_table(file_of(some_runs({0.1})), {.baseline = "maxrl"});
  check_page("results/pages/table-bare.txt", table_text(table, Legend::none, 80));
  check_page("results/pages/table-brief.txt", table_text(table, Legend::brief, 80));
  for (const std::size_t width : {45u, 60u, 80u, 100u}) {
    const std::string text = table_text(table, Legend::full, width);
    for (std::size_t from = 0; from < text.size();) {
      const std::size_t end = text.find('\n', from);
      INFO(width << ": " << text.substr(from, end - from));
      CHECK(columns_of(text.substr(from, end - from)) <= width);
      from = end + 1;
    }
    CHECK(contains(text, "75.0 ± 6.6  +3.0 ± 2.5"));  // no number is broken
  }
}

TEST_CASE("the best cells of a column are marked, with those that are not distinguishable from them") {
  std::vector<RunRecord> all;
  for (int e = 0; e < 4; ++e)
    for (int seed = 0; seed < 6; ++seed) {
      RunRecord r = run("bandit", e == 0 ? "grpo" : e == 1 ? "maxrl" : e == 2 ? "rloo" : "reinforce", 1, 0.1, seed, 20);
      const double noise = 0.01 * ((seed * 7 + e * 3) % 5);
      r.finals = {{"final_gain", (e == 0 ? 0.7 : e == 1 ? 0.701 : 0.5) + noise}, {"regret", e == 3 ? 0.1 + noise : 1 + noise}};
      all.push_back(r);
    }
  const auto best = [&](const TableSpec& spec) {
    std::string rows;
    const TableModel table = make_table(file_of(all), spec);
    for (const TableCell& cell : table.blocks[0].cells)
      if (cell.among_best) rows += cell.row + " ";
    return rows;
  };
  CHECK(best({}) == "grpo maxrl ");
  CHECK(best({.value = {"regret"}}) == "reinforce ");  // less is better
  CHECK(best({.columns = "value", .value = {"gain", "regret"}}) == "grpo maxrl reinforce ");
  for (RunRecord& r : all) r.finals.push_back({"unknown", 1.0});
  CHECK(best({.value = {"unknown"}}).empty());  // more may be better or worse
  for (RunRecord& r : all) r.finals[0].value = r.estimator == "grpo" || r.estimator == "rloo" ? 0.7 + 0.01 * r.seed : 0.1;
  CHECK(best({}) == "grpo rloo ");  // the same for every seed
  std::erase_if(all, [](const RunRecord& r) { return r.seed > 0; });
  all[0].finals[0].value = 0.8;
  CHECK(best({}) == "grpo ");  // one seed: nothing is tested
}

TEST_CASE("rows with baselines of their own are compared with these") {
  std::vector<RunRecord> all;
  const char* names[] = {"rloo", "odrpo(maxrl)", "maxrl", "odrpo(grpo)", "grpo", "odrpo-gini(grpo)"};
  for (int e = 0; e < 6; ++e)
    for (int seed = 0; seed < 3; ++seed) {
      RunRecord r = run("bandit", names[e], 1, 0.1, seed, 20);
      r.finals = {{"final_gain", 0.1 * e + 0.01 * seed * (e + 1)}, {"regret", 1}};
      all.push_back(r);
    }
  const TableSpec spec{.groups = {{"grpo", {"odrpo(grpo)", "odrpo-gini(grpo)"}}, {"maxrl", {"odrpo(maxrl)"}}}};
  const TableModel table = make_table(file_of(all), spec);
  CHECK(table.rows == std::vector<std::string>{"grpo", "odrpo(grpo)", "odrpo-gini(grpo)", "maxrl", "odrpo(maxrl)", "rloo"});
  CHECK(table.tested[0] == 3);
  const auto difference = [&](std::size_t row) { return table.blocks[0].cells[row].comparison.difference.mean; };
  CHECK(difference(1) == Approx(-10 - 1));  // e = 3 against 4: .1, and .01 a seed
  CHECK(difference(2) == Approx(10 + 1));
  CHECK(difference(4) == Approx(-10 - 1));
  CHECK(table.blocks[0].cells[5].comparison.difference.n == 0);
  const std::string text = table_text(table);
  CHECK(contains(text, "\nestimator         votes=1      - baseline\ngrpo "));
  CHECK(contains(text, "\nrloo              1.0 ± 2.5\n"));  // of no group
  CHECK(contains(text, "baselines: grpo of odrpo(grpo), odrpo-gini(grpo); maxrl of odrpo(maxrl)"));
  CHECK(contains(text, "column \"- baseline\": this row minus its baseline, paired by seed"));
  const std::string csv = table_csv(table), latex = table_latex(table);
  CHECK(contains(csv, ",maxrl,3,-11"));
  CHECK(contains(latex, "\\\\\n\\midrule\nmaxrl & "));
  CHECK(contains(latex, "\\\\\n\\midrule\nrloo & "));
  CHECK(contains(table_json(table), "\"maxrl\": [\n      \"odrpo(maxrl)\"\n    ]"));
  CHECK(parse_table_spec(table_spec_lines(spec)).groups == spec.groups);
  CHECK(table_spec_problem(table_spec_lines(spec)).empty());

  // one group alone is told as a baseline is
  CHECK(contains(table_text(make_table(file_of(all), {.groups = {{"grpo", {"rloo"}}}})), "- grpo"));
  for (const TableSpec& wrong : {TableSpec{.groups = {{"gpro", {"rloo"}}}}, TableSpec{.groups = {{"grpo", {"rolo"}}}},
                                 TableSpec{.groups = {{"grpo", {"rloo", "rloo"}}}}, TableSpec{.groups = {{"grpo", {"grpo"}}}}})
    CHECK_THROWS_AS(make_table(file_of(all), wrong), Failure);

  // what a suite's own table lacks is left out
  std::erase_if(all, [](const RunRecord& r) { return r.estimator == "odrpo(grpo)" || r.estimator == "maxrl"; });
  const TableModel left = make_suite_table(file_of(all), spec);
  CHECK(left.rows == std::vector<std::string>{"grpo", "odrpo-gini(grpo)", "rloo", "odrpo(maxrl)"});
  CHECK(contains(table_text(left), "no run of the baseline \"maxrl\" is here"));
}

TEST_CASE("names in LaTeX: its own characters, ligatures, and letters that its fonts have or lack") {
  const std::pair<const char*, const char*> names[] = {
      {"a_b#c", "a\\_b\\#c"},
      {"C:\\n\\end", "C:\\textbackslash{}n\\textbackslash{}end"},
      {"&%${}", "\\&\\%\\$\\{\\}"},
      {"~^<>|\"'`",
       "\\textasciitilde{}\\textasciicircum{}\\textless{}\\textgreater{}\\textbar{}\\textquotedbl{}\\textquotesingle{}\\textasciigrave{}"},
      {"--[x]*,,", "{-}{-}{[}x{]}{*}{,}{,}"},
      {"n=8 @0.3/1 (grpo)!?;:+.", "n=8 @0.3/1 (grpo)!?;:+."},
      {"5 ± 1", "5 $\\pm$ 1"},
      {"\u00bf\u00c0\u017e\u0180", "U+00BF\u00c0\u017eU+0180"},
      {"\u0126\u0127\u0138\u013f\u0140\u0149\u0166\u0167\u017f", "U+0126U+0127U+0138U+013FU+0140U+0149U+0166U+0167U+017F"},
      {"\u01c4\u03bc\u4e2d\U0001f600", "U+01C4U+03BCU+4E2DU+1F600"},
  };
  for (const auto& [name, latex] : names) CHECK(latex_of(name) == latex);
}

TEST_CASE("numbers have the decimals at which the median half-width keeps one digit, all in a table the same") {
  CHECK(numbers_of({{"grpo", {{0.28, 0.08}}}}) == "estimator  votes=1\ngrpo       0.28 ± 0.08\n");
  CHECK(numbers_of({{"grpo", {{0.28, 0.003}}}}) == "estimator  votes=1\ngrpo       0.280 ± 0.003\n");
  CHECK(numbers_of({{"grpo", {{0.28, 0.1}}}}) == "estimator  votes=1\ngrpo       0.3 ± 0.1\n");
  CHECK(numbers_of({{"grpo", {{128, 12}}}}) == "estimator  votes=1\ngrpo       128.0 ± 12.0\n");
  CHECK(numbers_of({{"grpo", {{1.28, 0.08}, {1.5, 0.4}, {1, 0.004}}}}) ==
        "estimator  votes=1      votes=2      votes=3\ngrpo       1.28 ± 0.08  1.50 ± 0.40  1.00 ± 0.00\n");
}

TEST_CASE("cells show their seeds where most have another number of them") {
  CHECK(numbers_of({{"grpo", {{0.5, 0.2}, {0.6, 0.2, 4}, {0.7, 0.2}}}}) ==
        "estimator  votes=1    votes=2          votes=3\ngrpo       0.5 ± 0.2  0.6 ± 0.2 (n=4)  0.7 ± 0.2\n");
  CHECK(numbers_of({{"grpo", {{0.5, 0.2, 4}, {0.6, 0.2}, {0.7, 0.2, 4}}}}) ==
        "estimator  votes=1    votes=2          votes=3\ngrpo       0.5 ± 0.2  0.6 ± 0.2 (n=3)  0.7 ± 0.2\n");
  CHECK(numbers_of({{"grpo", {{0.5, 0.2}, {0.6, 0.2, 4}}}}) ==  // as many of both: the larger number goes without saying
        "estimator  votes=1          votes=2\ngrpo       0.5 ± 0.2 (n=3)  0.6 ± 0.2\n");
}
