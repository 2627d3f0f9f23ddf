// Odd files of scores, and bad ones: judges, gold scores, scales, blank cells, three formats. What each becomes, or how it is refused.
#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "kernels/shared/failure.hpp"
#include "results/scores/score_file.hpp"
#include "tests/catch.hpp"
#include "tests/results/scores/score_tables.hpp"

using namespace odrpo;

namespace {

/// "1..5 | p: 4 5/1 ." : the scale, then every prompt with the scores of its responses by column; `.` = none, `?` = unreadable, and =GOLD.
/// Judges with names, counts and notes follow where there are any.
std::string shown(const ScoreTable& t) {
  std::string text = scale_text(t.values) + " |";
  for (const auto& p : t.prompts) {
    text += " " + p.id + ":";
    for (const auto& r : t.responses_of(p)) {
      std::vector<std::string> cells(t.columns.size(), ".");
      for (std::uint32_t i = r.first; i < r.first + r.count; ++i)
        cells[t.column[i]] = t.level[i] == ScoreTable::unreadable ? "?" : exact_text(t.values[t.level[i] - 1]);
      for (const auto& c : cells) text += (text.back() == '/' ? "" : " ") + c;
      if (has_gold(r)) text += "=" + exact_text(r.gold);
      text += &r == &t.responses_of(p).back() ? "" : "/";
    }
  }
  for (const auto& j : t.judges)
    if (!j.name.empty()) text += " " + j.name + "=" + std::to_string(j.ratings);
  if (t.missing() > 0) text += fmt::format(" blank {}", t.missing());
  if (t.unreadables() > 0) text += fmt::format(" unreadable {}", t.unreadables());
  for (const auto& note : t.notes) text += " (" + note + ")";
  return text;
}

struct File {
  const char* what;
  std::string text, result;
  std::string name = "f.csv";
  ScoreColumns columns{};
  std::string scale{};
};

std::string result_of(const File& f) {
  try {
    return shown(parse_scores(f.text, f.name, f.columns, f.scale.empty() ? ScoreScale{} : parse_scale(f.scale).value()));
  } catch (const Failure& failure) {
    CHECK(failure.code == Exit::bad_input);
    return failure.what();
  }
}

ScoreColumns rater(std::string column) {
  ScoreColumns c;
  c.rater = std::move(column);
  return c;
}

const std::string four = "prompt_id,response_id,sample_id,score\n", three = "prompt_id,response_id,score\n";
const std::string judged = "prompt_id,response_id,rater_id,score\n", golden = "prompt_id,response_id,score,gold\n";

void check(const std::vector<File>& files) {
  for (const File& f : files) {
    CAPTURE(f.what, f.text);
    CHECK(result_of(f) == f.result);
  }
}

}  // namespace

TEST_CASE("odd scores: ids, judges, samples and gold") {
  check({
      {"one response, one score", four + "0,0,0,3\n", "1..3 | 0: 3"},
      {"one score per response", four + "0,0,0,3\n0,1,0,1\n1,0,0,2\n", "1..3 | 0: 3/1 1: 2"},
      {"all equal", four + "0,0,0,2\n0,0,1,2\n", "1, 2 | 0: 2 2"},
      {"unequal numbers of scores", four + "0,0,0,1\n0,0,1,2\n0,1,0,3\n", "1..3 | 0: 1 2/3 ."},
      {"texts as ids, in order of their bytes", four + "b,x,0,1\na,y,0,2\na,x,0,3\n10,x,0,3\n9,x,0,2\n", "1..3 | 9: 2 10: 3 a: 3/2 b: 1"},
      {"ids that differ by case", four + "p1,a,0,1\nP1,a,0,2\n",
       "1, 2 | P1: 2 p1: 1 (prompts \"p1\" and \"P1\" differ by capital letters alone and are taken for two)"},
      {"ids with leading zeros are numbers", four + "007,0,0,1\n7,00,1,2\n-0,0,0,2\n", "1, 2 | 0: 2 . 7: 1 2"},
      {"ids beyond 64 bits are texts", four + "9223372036854775808,0,0,1\n9223372036854775807,0,0,2\n",
       "1, 2 | 9223372036854775807: 2 9223372036854775808: 1"},
      {"quoted ids with commas and quotes", four + "\"a,b\",\"say \"\"x\"\"\",0,1\n\"a,b\",\"say \"\"x\"\"\",1,2\n", "1, 2 | a,b: 1 2"},
      {"no samples: numbered in the order of the file", three + "0,0,3\n0,1,1\n0,0,2\n", "1..3 | 0: 3 2/1 ."},
      {"samples left out", "prompt_id,response_id,sample_id,score\n0,0,x,3\n0,0,x,1\n", "1..3 | 0: 3 1", "f.csv",
       [] {
         ScoreColumns c;
         c.sample = "";
         return c;
       }()},
      {"samples of one name", four + "0,0,x,3\n0,0,x,1\n",
       "f.csv:3:1: error: prompt 0, response 0, sample \"x\" is given twice; first on line 2"},
      {"a sample column in capitals", "prompt_id,response_id,Sample_ID,score\n0,0,0,3\n",
       "f.csv:1:1: error: no column \"sample_id\"; found \"prompt_id\", \"response_id\", \"Sample_ID\", \"score\" (capital and small "
       "letters "
       "differ)"},
      {"a row that starts with #", four + "#1,0,0,3\n0,0,0,2\n",
       "1, 2 | 0: 2 (1 line below the header skipped as comments, for they start with #)"},
      {"judges by name", judged + "0,0,b,1\n0,0,a,2\n0,0,b,3\n", "1..3 | 0: 2 1 3 a=1 b=2"},
      {"one judge only", judged + "0,0,gpt,1\n0,0,gpt,2\n", "1, 2 | 0: 1 2 gpt=2"},
      {"judges and samples", "prompt_id,response_id,rater_id,sample_id,score\n0,0,b,0,1\n0,0,a,0,2\n0,0,a,1,3\n",
       "1..3 | 0: 2 3 1 a=2 b=1"},
      {"a cell of a judge twice", "prompt_id,response_id,rater_id,sample_id,score\n0,0,b,0,1\n0,0,b,0,2\n",
       "f.csv:3:1: error: prompt 0, response 0, judge \"b\", sample 0 is given twice; first on line 2"},
      {"a blank judge", judged + "0,0,,1\n", "f.csv:2:5: error: rater_id is empty"},
      {"judges not asked for", judged + "0,0,b,1\n0,0,a,2\n", "1, 2 | 0: 1 2", "f.csv", rater("")},
      {"the judge is the sample", four + "0,0,0,1\n0,0,1,2\n", "1, 2 | 0: 1 2 0=1 1=1", "f.csv", rater("sample_id")},
      {"the judge is a quotient", four + "0,0,0,1\n0,0,1,2\n0,0,2,3\n0,0,3,1\n", "1..3 | 0: 1 2 3 1 0=2 1=2", "f.csv",
       rater("sample_id / 2")},
      {"a quotient without spaces, below zero", four + "0,0,-1,1\n0,0,0,2\n0,0,2,3\n", "1..3 | 0: 1 2 3 -1=1 0=2", "f.csv",
       rater("sample_id/3")},
      {"a quotient of samples from 1", four + "0,0,1,1\n0,0,2,2\n0,0,3,3\n0,0,4,1\n", "1..3 | 0: 1 2 3 1 0=2 1=2", "f.csv",
       rater("(sample_id - 1) / 2")},
      {"a quotient of samples moved up", four + "0,0,-1,1\n0,0,0,2\n0,0,1,3\n", "1..3 | 0: 1 2 3 0=2 1=1", "f.csv",
       rater("( sample_id + 1 )/2")},
      {"a quotient of numbers at the ends", four + "0,0,9223372036854775807,1\n0,0,-9223372036854775808,2\n",
       "1, 2 | 0: 2 1 -9223372036854775799=1 9223372036854775807=1", "f.csv", rater("(sample_id + 9) / 1")},
      {"judges in turn", four + "0,0,0,1\n0,0,1,2\n0,0,2,3\n0,0,3,1\n", "1..3 | 0: 1 3 2 1 0=2 1=2", "f.csv", rater("sample_id % 2")},
      {"judges in turn, below zero", four + "0,0,-1,1\n0,0,0,2\n0,0,2,3\n", "1..3 | 0: 2 1 3 0=1 2=2", "f.csv", rater("sample_id%3")},
      {"a remainder of nothing is a column", four + "0,0,0,1\n",
       "f.csv:1:1: error: no column \"sample_id % 0\"; found \"prompt_id\", \"response_id\", \"sample_id\", \"score\"", "f.csv",
       rater("sample_id % 0")},
      {"a quotient moved by no number is a column", four + "0,0,0,1\n",
       "f.csv:1:1: error: no column \"(sample_id - x) / 2\"; found \"prompt_id\", \"response_id\", \"sample_id\", \"score\"", "f.csv",
       rater("(sample_id - x) / 2")},
      {"a quotient of a text", four + "0,0,x,1\n",
       "f.csv:2:5: error: sample_id \"x\": a whole number is wanted, for the judge is sample_id / 2", "f.csv", rater("sample_id / 2")},
      {"a quotient by zero is a column", four + "0,0,0,1\n",
       "f.csv:1:1: error: no column \"sample_id / 0\"; found \"prompt_id\", \"response_id\", \"sample_id\", \"score\"", "f.csv",
       rater("sample_id / 0")},
      {"a column named like a quotient", "prompt_id,response_id,a / 2,score\n0,0,x,1\n0,0,y,2\n", "1, 2 | 0: 1 2 x=1 y=1", "f.csv",
       rater("a / 2")},
      {"a judge's column that is not there", four + "0,0,0,1\n",
       "f.csv:1:1: error: no column \"model\"; found \"prompt_id\", \"response_id\", \"sample_id\", \"score\"", "f.csv", rater("model")},
      {"other names", "item,answer,n,rating\n0,0,0,1\n0,0,1,2\n", "1, 2 | 0: 1 2", "f.csv",
       [] {
         ScoreColumns c;
         c.prompt = "item", c.response = "answer", c.sample = "n", c.score = "rating";
         return c;
       }()},
      {"gold", golden + "0,0,1,2\n0,0,2,2\n0,1,1,0.5\n", "1, 2 | 0: 1 2=2/1 .=0.5"},
      {"gold in some rows", golden + "0,0,1,\n0,0,2,2\n0,1,1,\n", "1, 2 | 0: 1 2=2/1 ."},
      {"no gold at all", golden + "0,0,1,\n0,0,2,\n", "1, 2 | 0: 1 2"},
      {"gold that contradicts itself", golden + "0,0,1,3\n0,0,2,\n0,0,2,4\n",
       "f.csv:4:7: error: gold of prompt 0, response 0 is 4, but 3 on line 2"},
      {"gold that is no number", golden + "0,0,1,good\n", "f.csv:2:7: error: gold \"good\": a number is wanted"},
      {"gold that is not finite", golden + "0,0,1,nan\n",
       "f.csv:2:7: error: gold \"nan\" is no finite number; leave a missing score blank"},
  });
}

TEST_CASE("odd scores: scales, blank cells and answers that cannot be read") {
  check({
      {"whole numbers from 1", four + "0,0,0,2\n0,0,1,4\n", "1..4 | 0: 2 4"},
      {"from 0", four + "0,0,0,0\n0,0,1,3\n0,0,2,1\n", "0..3 | 0: 0 3 1"},
      {"half points", four + "0,0,0,0.5\n0,0,1,2\n0,0,2,1.5\n", "0.5..2 by 0.5 | 0: 0.5 2 1.5"},
      {"percents", four + "0,0,0,0\n0,0,1,100\n0,0,2,20\n", "0..100 by 20 | 0: 0 100 20"},
      {"tenths", four + "0,0,0,0.1\n0,0,1,0.3\n0,0,2,0.7\n", "0.1..0.7 by 0.2 | 0: 0.1 0.3 0.7"},
      {"negative", four + "0,0,0,-1\n0,0,1,1\n0,0,2,0\n", "-1..1 | 0: -1 1 0"},
      {"a minus zero", four + "0,0,0,-0.0\n0,0,1,1\n0,0,2,0\n", "0, 1 | 0: 0 1 0"},
      {"no even grid", four + "0,0,0,0\n0,0,1,0.333\n0,0,2,1\n", "0, 0.333, 1 | 0: 0 0.333 1"},
      {"whole numbers far apart", four + "0,0,0,1\n0,0,1,1000\n", "1, 1000 | 0: 1 1000"},
      {"one value that is no level", four + "0,0,0,0\n0,0,1,0\n", "0 | 0: 0 0"},
      {"numbers written in other ways", four + "0,0,0,3.0\n0,0,1,+2\n0,0,2,1e0\n0,0,3,\" 2 \"\n", "1..3 | 0: 3 2 1 2"},
      {"a stated scale", four + "0,0,0,2\n0,0,1,4\n", "0..10 by 2 | 0: 2 4", "f.csv", {}, "0..10 by 2"},
      {"off the stated scale, once for each value",
       four + "0,0,0,2\n0,0,1,11\n0,0,2,11\n0,0,3,-1\n",
       "f.csv:3:7: error: score 11 is off the scale: 0..10\nf.csv:5:7: error: score -1 is off the scale: 0..10",
       "f.csv",
       {},
       "0..10"},
      {"between the stated levels",
       four + "0,0,0,2.5\n",
       "f.csv:2:7: error: score 2.5 is off the scale: 0..5 by 0.2",
       "f.csv",
       {},
       "0..5 by 0.2"},
      {"blank cells", four + "0,0,0,\n0,0,1,2\n0,1,0,1\n0,1,1, \n", "1, 2 | 0: . 2/1 . blank 2"},
      {"a response of blank cells", four + "0,0,0,1\n0,1,0,\n", "1 | 0: 1/. blank 1"},
      {"blank cells of judges", judged + "0,0,a,1\n0,0,b,\n", "1 | 0: 1 . a=1 b=0 blank 1"},
      {"unreadable answers", four + "0,0,0,3\n0,0,1,N/A\n0,0,2,2\n", "1..3 | 0: 3 ? 2 unreadable 1"},
      {"half of them unreadable", four + "0,0,0,3\n0,0,1,five\n", "1..3 | 0: 3 ? unreadable 1"},
      {"the wrong column", four + "0,0,0,a\n0,0,1,b\n0,0,2,3\n",
       "f.csv:2:7: error: 2 of 3 scores are no numbers, the first is \"a\": is \"score\" the column of the scores?"},
      {"percent signs are no numbers", four + "0,0,0,80%\n",
       "f.csv:2:7: error: 1 of 1 scores are no numbers, the first is \"80%\": is \"score\" the column of the scores?"},
      {"two thousands separators", four + "0,0,0,\"1,000,000\"\n",
       "f.csv:2:7: error: score \"1,000,000\" has a thousands separator: write the digits alone"},
      {"a list is an unreadable answer", four + "0,0,0,\"1,2,3\"\n0,0,1,2\n", "1, 2 | 0: ? 2 unreadable 1"},
      {"Infinity", four + "0,0,0,Infinity\n", "f.csv:2:7: error: score \"Infinity\" is no finite number; leave a missing score blank"},
  });
  // 101 different scores
  std::string many = four;
  for (int i = 0; i < 103; ++i) many += "0,0," + std::to_string(i) + "," + std::to_string(i * i) + "\n";
  CHECK(result_of({"", many, ""}) == "f.csv:102:9: error: score 10000 is the 101st different score: a scale has at most 100 levels");
  // sample ids that no two responses share
  std::string calls = four;
  for (int i = 0; i < 66'000; ++i) calls += std::to_string(i / 2) + ",0,call" + std::to_string(i) + "," + std::to_string(1 + i % 2) + "\n";
  const ScoreTable t = parse_scores(calls, "f");
  CHECK(t.columns.size() == 2);
  CHECK(complete_columns(t, t.prompts[32'999]).size() == 2);
  CHECK(t.notes ==
        std::vector<std::string>{"its 66000 samples are too many to be the same ones for all responses: they are numbered anew for each"});
}

TEST_CASE("odd scores: TSV and JSON lines") {
  const std::string tab = "prompt_id\tresponse_id\tscore\n";
  check({
      {"tabs", tab + "0\t0\t3\n0\t0\t2\n", "1..3 | 0: 3 2", "f.tsv"},
      {"tabs without an extension", "# tabs\n" + tab + "0\t0\t3\n", "1..3 | 0: 3", "f"},
      {"tabs in a .csv", tab + "0\t0\t3\n", "f.csv:1:1: error: columns separated by tabs: they must be separated by commas"},
      {"commas in a .tsv", three + "0,0,3\n", "f.tsv:1:1: error: columns separated by commas: they must be separated by tabs", "f.tsv"},
      {"commas inside of tabs", tab + "a,b\t0\t3\na,b\t0\t2\n", "1..3 | a,b: 3 2", "f.tsv"},
      {"a decimal comma", tab + "0\t0\t3,5\n", "f.tsv:2:5: error: score \"3,5\" has a decimal comma: write a point", "f.tsv"},
      {"blank cells of tabs", tab + "0\t0\t\n0\t0\t2\n0\t\t2\n", "f.tsv:4:3: error: response_id is empty", "f.tsv"},
      {"a BOM and CRLF", "\xef\xbb\xbf" + tab + "0\t0\t3\r\n0\t0\t2\r\n", "1..3 | 0: 3 2", "F.TSV"},
      {"objects", R"({"prompt_id": 1, "response_id": "a", "score": 2}
{"score": 1.0, "response_id": "a", "prompt_id": "1"})",
       "1, 2 | 1: 2 1", "f.jsonl"},
      {"objects without an extension", "\n{\"prompt_id\":0,\"response_id\":0,\"score\":\"3\"}\r\n\r\n", "1..3 | 0: 3", "f"},
      {"a BOM", "\xef\xbb\xbf{\"prompt_id\":0,\"response_id\":0,\"score\":3}", "1..3 | 0: 3", "f.ndjson"},
      {"null is blank, a text is unreadable, true too", R"({"prompt_id":0,"response_id":0,"score":null,"x":{"score":[9]}}
{"prompt_id":0,"response_id":0,"score":"no"}
{"prompt_id":0,"response_id":0,"score":2}
{"prompt_id":0,"response_id":0,"score":1}
{"prompt_id":0,"response_id":0,"score":true})",
       "1, 2 | 0: . ? 2 1 ? blank 1 unreadable 2", "f.jsonl"},
      {"judges and gold", R"({"prompt_id":0,"response_id":0,"score":3,"rater_id":"a"}
{"prompt_id":0,"response_id":0,"score":2,"rater_id":"b","gold":2.5})",
       "1..3 | 0: 3 2=2.5 a=1 b=1", "f.jsonl"},
      {"a quotient", R"({"prompt_id":0,"response_id":0,"score":3,"sample_id":2}
{"prompt_id":0,"response_id":0,"score":2,"sample_id":1})",
       "1..3 | 0: 2 3 0=1 1=1", "f.jsonl", rater("sample_id / 2")},
      {"a list", R"([{"prompt_id":0,"response_id":0,"score":3}])",
       "f.jsonl:1:1: error: a JSON list: write each of its objects in a line of its own (JSON lines; jq -c '.[]')", "f.jsonl"},
      {"numbers", "3\n4\n", "f.jsonl:1:1: error: an object is wanted in each line (2 times)", "f.jsonl"},
      {"a list in a later line", "{\"prompt_id\":0,\"response_id\":0,\"score\":3}\n[1]\n",
       "f.jsonl:2:1: error: an object is wanted in each line", "f.jsonl"},
      {"nothing", "\n \n", "f.jsonl:1:1: error: nothing in it; wanted an object a line, with the keys prompt_id, response_id, score",
       "f.jsonl"},
      {"scores as a list", R"({"prompt_id":0,"response_id":0,"score":[3,4]})",
       "f.jsonl:1:32: error: score is a list: a number or a text is wanted", "f.jsonl"},
      {"an id as an object", R"({"prompt_id":{"a":1},"response_id":0,"score":3})",
       "f.jsonl:1:2: error: prompt_id is an object: a number or a text is wanted", "f.jsonl"},
      {"an id that is null", R"({"prompt_id":null,"response_id":0,"score":3})", "f.jsonl:1:2: error: prompt_id is empty", "f.jsonl"},
      {"another key for the score", R"({"prompt_id":0,"response_id":0,"scores":[3,4]})",
       "f.jsonl:1:1: error: no key \"score\"; found \"prompt_id\", \"response_id\", \"scores\"", "f.jsonl"},
      {"a key twice", R"({"prompt_id":0,"response_id":0,"score":3,"score":4})", "f.jsonl:1:42: error: key \"score\" stands twice",
       "f.jsonl"},
      {"a line cut short", "{\"prompt_id\":0,\"response_id\":0,\"score\":3}\n{\"prompt_id\":0,",
       "f.jsonl:2:16: error: this line is no JSON object", "f.jsonl"},
      {"an object of many lines", "{\n\"prompt_id\":0}\n", "f.jsonl:1:2: error: this line is no JSON object (2 times)", "f.jsonl"},
      {"two objects in a line", R"({"prompt_id":0,"response_id":0,"score":3}{})", "f.jsonl:1:42: error: this line is no JSON object",
       "f.jsonl"},
      {"NaN", R"({"prompt_id":0,"response_id":0,"score":NaN})", "f.jsonl:1:40: error: this line is no JSON object", "f.jsonl"},
      {"a sample in some lines", R"({"prompt_id":0,"response_id":0,"score":3}
{"prompt_id":0,"response_id":0,"score":3,"sample_id":2})",
       "f.jsonl:2:42: error: key \"sample_id\" stands here, but not on line 1", "f.jsonl"},
      {"a judge missing in a later line", R"({"prompt_id":0,"response_id":0,"score":3,"rater_id":"a"}
{"prompt_id":0,"response_id":0,"score":3})",
       "f.jsonl:2:1: error: no key \"rater_id\"", "f.jsonl"},
      {"text that is no UTF-8", "{\"prompt_id\":\"\xff\",\"response_id\":0,\"score\":3}",
       "f.jsonl:1:15: error: this line is no JSON object", "f.jsonl"},
  });
}

TEST_CASE("one table is the same from CSV, TSV and JSON lines, in any order of rows") {
  std::mt19937_64 draw(71);
  for (int round = 0; round < 60; ++round) {
    struct Row {
      std::string prompt, response, rater, sample, score, gold;
    };
    std::vector<Row> rows;
    for (int p = 0; p < 1 + static_cast<int>(draw() % 5); ++p)
      for (int r = 0; r < 1 + static_cast<int>(draw() % 4); ++r)
        for (int j = 0; j < 1 + static_cast<int>(draw() % 3); ++j)
          for (int s = 0; s < static_cast<int>(draw() % 4); ++s) {
            const int kind = static_cast<int>(draw() % 12);
            rows.push_back({p % 2 ? "p, " + std::to_string(p) : std::to_string(p), std::to_string(r), "j" + std::to_string(j),
                            std::to_string(s),
                            kind == 0   ? ""
                            : kind == 1 ? "none"
                                        : exact_text(static_cast<double>(draw() % 9) / 2),
                            r == 0 ? exact_text(p) : ""});
          }
    rows.push_back({"last", "0", "j0", "0", "2", ""});
    for (int i = 0; i < 5; ++i) rows.push_back({"last", "1", "j0", std::to_string(i), "1.5", ""});
    std::shuffle(rows.begin(), rows.end(), draw);
    std::string csv = "prompt_id,response_id,rater_id,sample_id,score,gold\n",
                tsv = "gold\tscore\tsample_id\trater_id\tresponse_id\tprompt_id\n", json;
    const auto value = [](const std::string& v) { return v.empty() ? "null" : number_of(v) ? v : "\"" + v + "\""; };
    for (const Row& r : rows)
      csv += csv_field(r.prompt) + "," + r.response + "," + r.rater + "," + r.sample + "," + r.score + "," + r.gold + "\n";
    std::shuffle(rows.begin(), rows.end(), draw);
    for (const Row& r : rows) {
      tsv += r.gold + "\t" + r.score + "\t" + r.sample + "\t" + r.rater + "\t" + r.response + "\t" + r.prompt + "\n";
      json += fmt::format(R"({{"prompt_id":{},"response_id":{},"rater_id":{},"sample_id":{},"score":{},"gold":{}}})", value(r.prompt),
                          value(r.response), value(r.rater), value(r.sample), value(r.score), value(r.gold)) +
              "\n";
    }
    CAPTURE(round, csv);
    const ScoreTable a = parse_scores(csv, "f.csv", {}, *parse_scale("0..4 by 0.5"));
    CHECK(difference(a, parse_scores(tsv, "f.tsv", {}, *parse_scale("0..4 by 0.5"))) == "");
    CHECK(difference(a, parse_scores(json, "f.jsonl", {}, *parse_scale("0..4 by 0.5"))) == "");
  }
}

TEST_CASE("scales as texts") {
  const auto round_trip = [](std::string_view text) {
    const auto scale = parse_scale(text);
    return scale ? scale_text(scale->values) : "none";
  };
  CHECK(round_trip("1..5") == "1..5");
  CHECK(round_trip(" 0 .. 100 by 5 ") == "0..100 by 5");
  CHECK(round_trip("0..1 by 0.1") == "0..1 by 0.1");
  CHECK(parse_scale("0..1 by 0.1")->values[3] == 0.3);
  CHECK(round_trip("-2..2") == "-2..2");
  CHECK(round_trip("-1..-0.5 by 0.25") == "-1..-0.5 by 0.25");
  CHECK(round_trip("0..1") == "0, 1");
  for (const char* bad : {"",
                          "5",
                          "1-5",
                          "..",
                          "1..",
                          "..5",
                          "5..1",
                          "1..1",
                          "0..100",
                          "0..10 by 3",
                          "0..10 by 0",
                          "0..10 by -1",
                          "0..10 by",
                          "0..inf",
                          "nan..5",
                          "0..1 by 0.001",
                          "1..5 by 1 by 1",
                          "1e300..1e301",
                          "a..b",
                          "1...5",
                          "0..1e-20 by 1e-21"}) {
    CAPTURE(bad);
    CHECK(round_trip(bad) == "none");
  }
  CHECK(scale_text(scale_of_scores({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13.0001, 200})) == "0, 1, 2, 3, 4, 5, …, 200");
}
