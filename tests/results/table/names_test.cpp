// Names and texts from a file as tables print them: what a terminal, a spreadsheet or a Markdown reader must not obey.
#include <nlohmann/json.hpp>

#include "kernels/shared/utf8.hpp"
#include "results/export/json_text.hpp"
#include "tests/catch.hpp"
#include "tests/results/table/table_sample.hpp"

using namespace odrpo;
using namespace odrpo::sample;

namespace {

/// A name, and the same as every format shows it.
struct Name {
  std::string raw, shown;
};
const Name hostile[] = {
    {"\x1b[31mred", "\\x1b[31mred"},
    {"line\nbreak\rand\ttab", "line\\x0abreak\\x0dand\\x09tab"},
    {"\xc2\x9b"
     "1m\x7f",
     "\\u009b1m\\x7f"},
    {"\u202egnp.exe", "\\u202egnp.exe"},
    {"\u061c\u200e\u200f\u202a\u202d\u2066\u2069", "\\u061c\\u200e\\u200f\\u202a\\u202d\\u2066\\u2069"},
    {"a\u2028b\u2029c\ufeff\u200b", "a\\u2028b\\u2029c\\ufeff\\u200b"},
    {"\xff\xc0\xaf", "\\xff\\xc0\\xaf"},                                      // overlong
    {"\xed\xa0\x80\xf4\x90\x80\x80", "\\xed\\xa0\\x80\\xf4\\x90\\x80\\x80"},  // a surrogate, beyond U+10FFFF
    {"=HYPERLINK(\"http://evil\")", "=HYPERLINK(\"http://evil\")"},
    {"+1+1", "+1+1"},
    {"-2+3", "-2+3"},
    {"@SUM(A1)", "@SUM(A1)"},
    {"\t=1", "\\x09=1"},
    {"a,b;\"c\"", "a,b;\"c\""},
    {"[text](http://evil)", "[text](http://evil)"},
    {"![img](//x)|<b>`", "![img](//x)|<b>`"},
    {"back\\", "back\\"},
    {"日本語 模型", "日本語 模型"},
    {"ä ± μ", "ä ± μ"},
};

/// The name as world, rater, estimator, suite, axis, text of an axis, column, formula and description of a rater.
TableModel table_named(const std::string& name) {
  auto all = some_runs({0.1, 1});
  for (RunRecord& r : all) {
    r.rater = name;
    if (r.estimator != "maxrl") r.estimator = name;
    r.axes[0].first = name + "axis";
    r.axes[2].second = name;
    r.finals.push_back({name + "column", 1.0 * r.seed});
    if (r.seed == 2) r.status = RunStatus::failed;
    r.id = name + r.id;
  }
  ResultFile file = file_of(all);
  file.suite = name;
  for (auto& [key, text] : file.provenance)
    if (key == "formulas" || key == "raters") text = name + "\t" + name + "\n";
  return make_table(file, {.columns = "value", .value = {"gain", name + "column"}, .baseline = name});
}

/// Can the lines `name<TAB>text` of a file hold it?
bool fits_line(const Name& name) { return name.raw.find_first_of("\t\n") == std::string::npos; }

/// Is every character one that may be printed?
bool printable(const std::string& text) { return printable_text(text, "\n") == text; }

/// The records of a CSV text (RFC 4180, lines end in \n).
std::vector<std::vector<std::string>> records(const std::string& csv) {
  std::vector<std::vector<std::string>> all(1, {""});
  bool quoted = false;
  for (std::size_t i = 0; i < csv.size(); ++i) {
    if (csv[i] == '"' && quoted && i + 1 < csv.size() && csv[i + 1] == '"') all.back().back() += csv[++i];
    else if (csv[i] == '"') quoted = !quoted;
    else if (csv[i] == ',' && !quoted) all.back().emplace_back();
    else if (csv[i] == '\n' && !quoted) all.emplace_back(1, "");
    else all.back().back() += csv[i];
  }
  all.pop_back();
  return all;
}

std::string row_of(const std::string& text, const std::string& begin) {
  const auto from = text.find("\n" + begin);
  return from == std::string::npos ? "" : text.substr(from + 1, text.find('\n', from + 1) - from - 1);
}

/// A table whose one row is called `name`.
std::string markdown_of(const std::string& name) {
  auto all = some_runs({0.1});
  for (RunRecord& r : all) r.estimator = name;
  for (std::size_t i = 0; i < all.size(); ++i) all[i].seed = static_cast<int>(i);
  const std::string text = table_markdown(make_table(file_of(all), {}));
  const std::string head = "|---|---|---|\n| ";
  const auto from = text.find(head) + head.size();
  return text.substr(from, text.find(" | ", from) - from);
}

}  // namespace

TEST_CASE("names from a file are printable in every format") {
  for (const Name& name : hostile) {
    const TableModel table = table_named(name.raw);
    const std::string text = table_text(table), markdown = table_markdown(table), csv = table_csv(table), json = table_json(table);
    INFO(name.shown);
    CHECK(printable(text));
    CHECK(printable(markdown));
    CHECK(printable(csv));
    CHECK(printable(json));
    CHECK(contains(text, "suite " + name.shown + ", digest 0123456789ab"));
    CHECK(contains(text, "\n" + name.shown + " "));
    const auto read = nlohmann::json::parse(json);
    CHECK(read["suite"] == name.shown);
    CHECK(read["baseline"] == name.shown);
    CHECK(read["rows"]["values"][1] == name.shown);
    if (!fits_line(name)) continue;
    CHECK(read["formulas"].value(name.shown, "") == name.shown);
    CHECK(read["raters"].value(name.shown, "") == name.shown);
  }
}

TEST_CASE("columns of a text table stay aligned whatever the names") {
  for (const Name& name : hostile) {
    INFO(name.shown);
    const std::string text = table_text(table_named(name.raw));
    const std::string heading = row_of(text, "estimator  "), first = row_of(text, "maxrl  "), second = row_of(text, name.shown + "  ");
    const auto width_before = [](const std::string& line, const std::string& word) { return columns_of(line.substr(0, line.find(word))); };
    REQUIRE(contains(first, "71"));
    CHECK(width_before(heading, "gain [%]") == width_before(first, "71"));
    CHECK(width_before(heading, "gain [%]") == width_before(second, "73"));
  }
}

TEST_CASE("text cells of CSV are never formulas") {
  for (const Name& name : hostile) {
    INFO(name.shown);
    const auto all = records(table_csv(table_named(name.raw)));
    REQUIRE(all.size() > 4);
    const auto guarded = [](const std::string& text) { return std::string("=+-@").find(text[0]) == std::string::npos ? text : "'" + text; };
    for (const auto& record : all) {
      REQUIRE(record.size() == all[0].size());
      for (const std::string& field : record) CHECK((field.empty() || std::string("=+@\t\r").find(field[0]) == std::string::npos));
    }
    const auto column = [&](const std::string& of) { return std::find(all[0].begin(), all[0].end(), of) - all[0].begin(); };
    CHECK(all[3][column("rater")] == guarded(name.shown));
    CHECK(all[3][column("estimator")] == guarded(name.shown));
    CHECK(all[3][column("baseline")] == guarded(name.shown));
    if (fits_line(name)) CHECK(all[3][column("formula")] == guarded(name.shown));
    CHECK(all[4][column("value")] == guarded(name.shown + "column"));
    CHECK(column(guarded(name.shown + "axis")) < static_cast<std::ptrdiff_t>(all[0].size()));
  }
}

TEST_CASE("numbers of CSV never change, nor does the mark of a run without an axis") {
  auto all = some_runs({0.1, 1});
  for (RunRecord& r : all) {
    const double rate = std::get<double>(r.axes[0].second);
    r.axes[0].second = rate == 1 ? -0.5 : -1e-7;
    r.finals[0].value = -r.finals[0].value;
    if (rate == 1) r.axes.pop_back();
  }
  const auto read = records(table_csv(make_table(file_of(all), {.rows = "learn.lr", .columns = "estimator", .baseline = "-0.5"})));
  const auto column = [&](const std::string& of) { return std::find(read[0].begin(), read[0].end(), of) - read[0].begin(); };
  std::vector<std::string> rates, schedules;
  for (std::size_t i = 1; i < read.size(); ++i) {
    rates.push_back(read[i][column("learn.lr")]);
    schedules.push_back(read[i][column("learn.schedule")]);
    CHECK(read[i][column("baseline")] == "-0.5");
  }
  CHECK(std::count(rates.begin(), rates.end(), "-1e-07") == 8);
  CHECK(std::count(rates.begin(), rates.end(), "-0.5") == 8);
  CHECK(std::count(schedules.begin(), schedules.end(), "-") == 8);
  CHECK(read[1][column("centre")].substr(0, 3) == "-72");
}

TEST_CASE("names in Markdown show as they are") {
  const std::pair<std::string, std::string> cells[] = {
      {"odrpo-gini(maxrl)", "odrpo-gini(maxrl)"},
      {"a [levels] (b) #1 + 2. -x! {y}", "a [levels] (b) #1 + 2. -x! {y}"},
      {"[text](http://evil)", "\\[text\\](http\\://evil)"},
      {"![img](a.png)", "!\\[img\\](a.png)"},
      {"[a][b]", "\\[a\\]\\[b\\]"},
      {"*a* _b_ ~~c~~ `d`", "\\*a\\* \\_b\\_ \\~\\~c\\~\\~ \\`d\\`"},
      {"<b>&lt;&#64;&", "\\<b>\\&lt;\\&#64;&"},
      {"a|b\\|c\\", "a\\|b\\\\\\|c\\\\"},
      {"http://x https://y ftp://z", "http\\://x https\\://y ftp\\://z"},
      {"www.evil.example WWW.x", "www\\.evil.example WWW\\.x"},
      {"me@evil.example", "me\\@evil.example"},
      {"\u202e\x1b", "\\\\u202e\\\\x1b"},
  };
  for (const auto& [name, shown] : cells) CHECK(markdown_of(name) == shown);
}

TEST_CASE("a name that begins a line of Markdown begins nothing else, and none ends a code span") {
  const auto blocks = [](const std::string& axis) {
    auto all = some_runs({0.1, 1});
    for (RunRecord& r : all) r.axes[0].first = axis;
    return table_markdown(make_table(file_of(all), {}));
  };
  CHECK(contains(blocks("[x]: http://evil"), "\n\\[x]: http\\://evil=0.1\n"));
  CHECK(contains(blocks("# head"), "\n\\# head=0.1\n"));
  CHECK(contains(blocks("- item"), "\n\\- item=0.1\n"));
  CHECK(contains(blocks("+ item"), "\n\\+ item=0.1\n"));
  CHECK(contains(blocks("> quote"), "\n\\> quote=0.1\n"));
  CHECK(contains(blocks("12. item"), "\n12\\. item=0.1\n"));
  CHECK(contains(blocks("1) item"), "\n1\\) item=0.1\n"));
  CHECK(contains(blocks("learn.lr"), "\nlearn.lr=0.1\n"));
  const auto code = [](const std::string& name) { return table_markdown(table_named(name)); };
  CHECK(contains(code("a`b"), "\n- rater ``a`b``: a\\`b\n"));
  CHECK(contains(code("``x`"), "\n- formula of ``` ``x` ```: \\`\\`x\\`\n"));
  CHECK(contains(code("mixed"), "\n- rater `mixed`: mixed\n"));
}
