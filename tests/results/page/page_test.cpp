// The HTML page of a result file: figures it refuses, tables that are too large, texts that it escapes.
#include "results/page/html_page.hpp"
#include "results/page/html_text.hpp"
#include "results/table/table.hpp"
#include "tests/catch.hpp"
#include "tests/results/table/table_sample.hpp"

using namespace odrpo;
using namespace odrpo::sample;

namespace {

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

/// A table of one value with so many rows and columns, whose names are long.
TableModel large_table(std::size_t rows, std::size_t columns, std::size_t blocks, const std::string& word) {
  TableModel table = make_table(file_of(some_runs({0.1})), {.baseline = "maxrl"});
  const TableCell cell = table.blocks[0].cells[0];
  table.rows.assign(rows, word);
  table.columns.assign(columns, word);
  table.blocks[0].cells.assign(rows * columns, cell);
  table.blocks.resize(blocks, table.blocks[0]);
  return table;
}

}  // namespace

TEST_CASE("a page of a small file has its table and its facts, and asks for nothing") {
  HtmlPage page;
  page.suite = "a<b>&\"c\"'d'";
  page.program = "odrpo-bench 0.1";
  page.commands = "odrpo-bench run x.toml\n";
  page.facts = {{"CPU", "<script>alert(1)</script>"}};
  page.tables = {make_table(file_of(some_runs({0.1})), {.baseline = "maxrl"})};
  page.documents = {{"The suite", "line 1\n\tline <2> \x1b[31m\n"}};
  page.runs = 12;
  page.failed = 1;
  page.failures = {{"id", "why"}};
  const std::string html = html_page(page);
  CHECK(is_html_page(html));
  CHECK_FALSE(is_html_page("<!DOCTYPE html>\n<html><head><title>another</title></head></html>"));
  CHECK(contains(html, "<h1>a&lt;b&gt;&amp;&quot;c&quot;&#39;d&#39;</h1>"));
  CHECK(contains(html, "<dd>&lt;script&gt;alert(1)&lt;/script&gt;</dd>"));
  CHECK(contains(html, "line 1\n\tline &lt;2&gt; \\x1b[31m\n</code>"));
  CHECK(contains(html, "<td data-value=\"72\"><b>72.0</b> <span>± 5.0</span></td>"));
  CHECK(contains(html, "<p>1 of 12 runs failed, and are left out of the numbers.</p>"));
  CHECK(count(html, "<script>") == 1);
  CHECK_FALSE(contains(html, "http:"));
  CHECK_FALSE(contains(html, "https:"));
  CHECK(html == html_page(page));
}

TEST_CASE("a page opens with the result in one sentence") {
  const auto opening = [](const std::vector<RunRecord>& runs, const TableSpec& spec, std::size_t failed = 0) {
    HtmlPage page;
    page.tables = {make_table(file_of(runs), spec)};
    page.runs = 12, page.failed = failed;
    return page::opening_sentence(page);
  };
  std::vector<RunRecord> one;  // one column
  for (const RunRecord& r : some_runs({0.1}))
    if (r.votes == 1) one.push_back(r);
  std::vector<RunRecord> far = one;  // the second row is far better, at every seed by nearly the same
  for (RunRecord& r : far)
    if (r.estimator != "maxrl") r.finals[0].value = 0.80 + 0.02 * r.seed + 0.001 * (r.seed == 1);
  CHECK(opening(far, {.baseline = "maxrl"}) ==
        "odrpo-gini(maxrl) has the best mean gain [%], 82.0 ± 5.0 (n = 3 seeds); significantly above maxrl (+10.0 ± 0.1 *).");
  CHECK(opening(far, {.baseline = "odrpo-gini(maxrl)"}) ==
        "odrpo-gini(maxrl) has the best mean gain [%], 82.0 ± 5.0 (n = 3 seeds); it is the baseline, and of 1 difference from odrpo-gini(maxrl), "
        "none is significantly better and 1 is significantly worse (maxrl).");
  CHECK(opening(far, {}) == "odrpo-gini(maxrl) has the best mean gain [%], 82.0 ± 5.0 (n = 3 seeds).");
  CHECK(opening(one, {.baseline = "maxrl"}, 1) ==
        "odrpo-gini(maxrl) has the best mean gain [%], 75.0 ± 6.6 (n = 3 seeds); significantly above maxrl (+3.0 ± 2.5 *); 1 of 12 runs failed and is left "
        "out.");
  CHECK(opening(one, {.value = {"regret"}, .baseline = "maxrl"}) ==
        "odrpo-gini(maxrl) has the best mean regret [levels], 1.0 ± 0.3 (n = 3 seeds); significantly below maxrl (-0.1 ± 0.1 *).");
  std::vector<RunRecord> near = one;  // once the second row is worse
  near[5].finals[0].value = 0.735;
  CHECK(opening(near, {.baseline = "maxrl"}) ==
        "odrpo-gini(maxrl) has the best mean gain [%], 73.5 ± 1.2 (n = 3 seeds), and a test cannot tell 1 other from it; no significant difference from "
        "maxrl is shown (+1.5 ± 4.5).");
  CHECK(opening(some_runs({0.1}), {.baseline = "maxrl"}) ==
        "maxrl and odrpo-gini(maxrl) each have the best mean gain [%], or one that a test cannot tell from it, in 2 of 2 columns; none of the 2 "
        "differences from maxrl is significant.");
  CHECK(opening(one, {.columns = "value", .value = {"gain", "regret"}}, 2) ==
        "odrpo-gini(maxrl) has the best mean gain [%], 75.0 ± 6.6 (n = 3 seeds); the other of 2 values is below; 2 of 12 runs failed and are left out.");
  CHECK(opening(one, {.rows = "value", .columns = "estimator", .value = {"gain", "regret"}}) ==
        "odrpo-gini(maxrl) has the best mean gain [%], 75.0 ± 6.6 (n = 3 seeds); the other of 2 values is below.");
  CHECK(opening(one, {.value = {"judge_calls"}}) == "No best judge_calls is named, since it is not known whether more or less is better.");
  CHECK(opening(one, {.value = {"seconds"}}) ==
        "maxrl has the best median seconds [us], 20.0 [15.0, 25.0] (n = 3 seeds), and a test cannot tell 1 other from it.");
  std::vector<RunRecord> rows;  // votes as rows; all differences are equal
  for (const RunRecord& r : some_runs({0.1}))
    if (r.estimator == "maxrl") rows.push_back(r);
  CHECK(opening(rows, {.rows = "votes", .columns = "estimator", .baseline = "1"}) ==
        "votes=8 has the best mean gain [%], 77.0 ± 5.0 (n = 3 seeds), and a test cannot tell 1 other from it; no significant difference from votes=1 is "
        "shown (+5.0 ± 0.0).");
  CHECK(opening(some_runs({0.1, 1}), {.baseline = "maxrl", .best = {"lr"}}) ==
        "odrpo-gini(maxrl) has the best mean gain [%], or one that a test cannot tell from it, in 2 of 2 columns; no difference from maxrl is tested.");
  CHECK(opening(some_runs({0.1, 1}), {.baseline = "maxrl", .best = {"lr"}, .labels = {{"odrpo-gini(maxrl)", "ODRPO Gini"}, {"maxrl", "MaxRL"}}}) ==
        "ODRPO Gini has the best mean gain [%], or one that a test cannot tell from it, in 2 of 2 columns; no difference from MaxRL is tested.");
  CHECK(opening(rows, {.rows = "votes", .columns = "estimator", .baseline = "1", .labels = {{"votes=8", "8 votes"}, {"votes=1", "one vote"}}}) ==
        "8 votes has the best mean gain [%], 77.0 ± 5.0 (n = 3 seeds), and a test cannot tell 1 other from it; no significant difference from one vote is "
        "shown (+5.0 ± 0.0).");
  std::vector<RunRecord> alone(one.begin(), one.begin() + 3);
  CHECK(opening(alone, {}) == "maxrl has the mean gain [%] 72.0 ± 5.0 (n = 3 seeds).");
  CHECK(page::opening_sentence(HtmlPage{}) == "No run has brought a number.");
}

TEST_CASE("a page opens with the result and its figure, and ends with how to repeat it") {
  HtmlPage page;
  page.commands = "odrpo-bench run x.toml\n";
  page.tables = {make_table(file_of(some_runs({0.1})), {.baseline = "maxrl"})};
  page.figures = {{"first", "", "<svg></svg>"}, {"second", "", "<svg></svg>"}};
  page.documents = {{"The suite", "x"}};
  const std::string html = html_page(page);
  std::size_t at = 0;
  for (const char* part : {"<p class=\"result\">", "<strong>first.", ">Tables</h2>", ">More figures</h2>", "<strong>second.", ">Suite</h2>", ">Reproduce</h2>", "run x.toml"}) {
    INFO(part);
    const std::size_t found = html.find(part);
    CHECK(found != std::string::npos);
    CHECK(found > at);
    at = found;
  }
}

TEST_CASE("texts in markup: the five signs that begin something, what XML forbids, and what a terminal obeys") {
  CHECK(markup_text("a_b\\c#{d}$% \u0180\u4e2d <&>\"'") == "a_b\\c#{d}$% \u0180\u4e2d &lt;&amp;&gt;&quot;&#39;");
  CHECK(markup_text("\uffbe\ufffd\ufffe\uffff|") == "\uffbe\ufffd??|");
  CHECK(markup_text("\x1b\n\u202e", "\n") == "\\x1b\n\\u202e");
}

TEST_CASE("the best cells of a page are bold, stars stand apart, and n/a has no number") {
  auto runs = some_runs({0.1});
  for (RunRecord& r : runs) {
    if (r.estimator == "maxrl" || r.votes != 8) continue;
    r.finals[0].value = std::numeric_limits<double>::quiet_NaN();
  }
  for (RunRecord& r : runs)
    if (r.estimator != "maxrl" && r.votes == 1) r.finals[0].value += 0.1 + 0.001 * r.seed;
  HtmlPage page;
  page.tables = {make_table(file_of(runs), {.baseline = "maxrl"})};
  const std::string html = html_page(page);
  CHECK(contains(html, "<b>85.1</b> <span>± "));
  CHECK(contains(html, "</span><em>*</em></td>"));
  CHECK(contains(html, "<td data-value=\"0\">baseline<em></em></td>"));
  CHECK(contains(html, "<td data-value=\"\">n/a</td>"));
  CHECK(contains(html, "<th scope=\"col\" data-column=\"0\" rowspan=\"2\">estimator</th>"));
  CHECK(contains(html, "<th scope=\"colgroup\" class=\"span\" colspan=\"2\">votes=1</th>"));
}

TEST_CASE("a page stays below 2 MB, and says what it leaves out") {
  const auto page_with = [](const TableModel& table) {
    HtmlPage page;
    page.suite = "large";
    page.tables = {table, table};
    return html_page(page);
  };
  SECTION("rows") {
    const std::string html = page_with(large_table(20'000, 4, 1, "name"));
    CHECK(html.size() < 1'200'000);
    CHECK(contains(html, " of 20000 rows, in 1 tables, are not shown: a page has at most 1000 kB of tables."));
  }
  SECTION("columns") {
    const std::string html = page_with(large_table(3, 500, 1, "name"));
    CHECK(contains(html, "400 of 500 columns are not shown: a table of this page has at most 100."));
    CHECK(count(html, "scope=\"colgroup\"") == 200);
  }
  SECTION("blocks") {
    const std::string html = page_with(large_table(10, 4, 2'000, "name"));
    CHECK(html.size() < 1'200'000);
    CHECK(contains(html, " of 20000 rows, in 2000 tables, are not shown"));
  }
  SECTION("names") {
    const std::string html = page_with(large_table(300, 300, 3, std::string(4096, '"')));
    CHECK(html.size() < 1'900'000);
    CHECK(contains(html, "&quot;…"));
  }
  SECTION("texts, lists and figures") {
    HtmlPage page;
    page.tables = {large_table(20'000, 4, 1, "name")};
    std::string line = std::string(99, '"') + "\n", text;
    for (int i = 0; i < 10'000; ++i) text += line;
    page.documents = {{"suite", text}, {"settings", text}, {"one line", std::string(1'000'000, '<')}};
    for (int i = 0; i < 5'000; ++i) page.tables[0].formulas.emplace_back("f" + std::to_string(i), line);
    for (int i = 0; i < 10; ++i) page.figures.push_back({"figure", "caption", "<svg>" + std::string(200'000, ' ') + "</svg>"});
    const std::string html = html_page(page);
    CHECK(html.size() < 2'000'000);
    CHECK(count(html, "The rest is not shown: a text of this page has at most 120 kB.") == 3);
    CHECK(contains(html, "8 of 10 figures are not shown: a page has at most 500 kB of them."));
    CHECK(contains(html, " more, which this page has no room for</li>"));
  }
}

TEST_CASE("a page takes figures of shapes and text alone") {
  CHECK(
      svg_problem("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 1 1\"><title>a > b</title><g fill=\"none\"><path d='M0,0'/></g>"
                  "<use xlink:href='#p'/><rect fill=\"url(#q)\" />\n<text x=\"1\">on= style=</text></svg>\n")
          .empty());
  for (const char* bad : {"",
                          "<p></p>",
                          "<svg></svg><p></p>",
                          "<svg><svg></svg></svg>",
                          "<?xml version=\"1.0\"?><svg></svg>",
                          "<svg><script>1</script></svg>",
                          "<svg><ScRiPt >1</sCrIpT></svg>",
                          "<svg><g style=\"fill:red\"></g></svg>",
                          "<svg><g a=\">\" style='x'></g></svg>",
                          "<svg><g\nSTYLE=\"x\"></g></svg>",
                          "<svg><g/style=\"x\"></g></svg>",
                          "<svg onload=\"x\"></svg>",
                          "<svg><g onclick='x'/></svg>",
                          "<svg><g fill=red></g></svg>",
                          "<svg><g fill></g></svg>",
                          "<svg><g =\"x\"></g></svg>",
                          "<svg><image href=\"x\"/></svg>",
                          "<svg><a href=\"#x\"></a></svg>",
                          "<svg><use href=\"http://x\"/></svg>",
                          "<svg><use xlink:href=\"x.svg#a\"/></svg>",
                          "<svg><style>g{}</style></svg>",
                          "<svg><foreignObject></foreignObject></svg>",
                          "<svg><rect fill=\"url(http://x)\"/></svg>",
                          "<svg><!-- --></svg>",
                          "<svg><g fill=\"x></g></svg>",
                          "<svg><animate/></svg>"}) {
    INFO(bad);
    CHECK_FALSE(svg_problem(bad).empty());
  }
  HtmlPage page;
  page.figures = {{"bad", "", "<svg><script></script></svg>"}};
  CHECK(failure_of([&] { html_page(page); }).first == Exit::internal);
}

TEST_CASE("a drawing in a page keeps its shapes and its text, and nothing else") {
  const std::string given = R"svg(<?xml version="1.0" standalone="no"?>
<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd">
<svg width="100" height="50" viewBox="0 0 100 50" xmlns="http://www.w3.org/2000/svg" onload="alert(1)">
<title>Gnuplot</title><style>g{fill:red}</style><script>alert(1)</script>
<!-- <rect x="1"/> -->
<defs><circle id='dot' r='1'/><filter id="f"><feFlood/></filter></defs>
<g id="a" fill="red" style="fill: none; stroke:#00FF00;background:url(http://x)" class="c" filter="url(#f)">
	<use xlink:href='#dot' x="3"/><use xlink:href="http://x/#dot"/><rect fill = "url(#p)"/><a href="#x"><text>linked</text></a>
	<text onclick="x">a &lt;b&gt; &amp; "c"</text></g>
</svg>
)svg";
  const std::string drawn = inline_svg(given, "f1-", "curves <1>", 2);
  INFO(drawn);
  CHECK(svg_problem(drawn).empty());
  CHECK(drawn.starts_with(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" xmlns:xlink=\"http://www.w3.org/1999/xlink\" width=\"200\" height=\"100\" "
      "viewBox=\"0 0 100 50\" role=\"img\" aria-label=\"curves &lt;1&gt;\">"));
  CHECK(contains(drawn, "<circle id=\"f1-dot\" r=\"1\"/>"));
  CHECK(contains(drawn, "<g id=\"f1-a\" fill=\"none\" stroke=\"#00FF00\">"));
  CHECK(contains(drawn, "<use xlink:href=\"#f1-dot\" x=\"3\"/><use/><rect fill=\"url(#f1-p)\"/>"));
  CHECK(contains(drawn, "<text>a &lt;b&gt; &amp; \"c\"</text></g>"));
  for (const char* gone : {"alert", "Gnuplot", "style", "class", "filter", "feFlood", "http://x", "linked", "<!--", "DOCTYPE", "onclick"})
    CHECK_FALSE(contains(drawn, gone));
  for (const char* bad : {"", "<p></p>", "<svg><g", "<svg><g a=b></g></svg>", "<svg><!-- </svg>"})
    CHECK(failure_of([&] { inline_svg(bad, "", "", 1); }).first == Exit::internal);
}
