// Odd files of scores, and bad ones: judges, gold scores, scales, blank cells, three formats. What each becomes, or how it is refused.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "kernels/shared/failure.hpp"
#include "kernels/system/text.hpp"
#include "results/scores/score_file.hpp"
#include "tests/catch.hpp"
#include "tests/page.hpp"
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
  for (const auto& warning : t.warnings) text += " (WARNING: " + warning + ")";
  return text;
}

/// A file of the page: lines @FLAG, then the text, whose escapes become bytes.
struct File {
  std::string name = "f.csv", text;
  ScoreReading how;
};

File file_of(const std::string& input) {
  File f;
  const std::map<std::string, std::string*> texts = {{"file", &f.name}, {"prompt", &f.how.columns.prompt}, {"response", &f.how.columns.response},
                                                     {"sample", &f.how.columns.sample}, {"score", &f.how.columns.score}, {"rater", &f.how.columns.rater}};
  std::size_t at = 0;
  for (std::size_t end; input[at] == '@'; at = end + 1) {
    end = input.find('\n', at);
    const std::size_t blank = std::min(input.find(' ', at), end);
    const std::string flag = input.substr(at + 1, blank - at - 1), value = blank < end ? input.substr(blank + 1, end - blank - 1) : "";
    const auto options = reading_options();
    const auto option = std::find_if(options.begin(), options.end(), [&](const ReadingOption& o) { return o.key == flag; });
    if (option != options.end()) REQUIRE(option->set(f.how, split(value, ',')).empty());
    else if (flag == "scale") f.how.scale = parse_scale(value).value();
    else *texts.at(flag) = value;
  }
  for (; at < input.size(); ++at) {
    if (input[at] != '\\') f.text += input[at];
    else if (const char next = input[++at]; next == 'x') f.text += static_cast<char>(std::stoi(input.substr(at + 1, 2), nullptr, 16)), at += 2;
    else if (next != '\n') f.text += next == 't' ? '\t' : '\r';
  }
  return f;
}

std::string result_of(const File& f) {
  try {
    return shown(parse_scores(f.text, f.name, f.how));
  } catch (const Failure& failure) {
    CHECK(failure.code == Exit::bad_input);
    return failure.what();
  }
}

}  // namespace

TEST_CASE("odd scores: every mistake at its place, ids, judges, samples, gold, scales, blank and unreadable cells, TSV and JSON lines", "[pages]") {
  check_cases("results/pages/score-files.txt", [](const std::string& input) { return result_of(file_of(input)) + "\n"; });
}

TEST_CASE("odd scores: too many different ones, and too many names of samples") {
  const std::string four = "prompt_id,response_id,sample_id,score\n";
  std::string many = four;
  for (int i = 0; i < 103; ++i) many += "0,0," + std::to_string(i) + "," + std::to_string(i * i) + "\n";
  CHECK(result_of(file_of(many)) == "f.csv:102:9: error: score 10000 is the 101st different score: a scale has at most 100 levels; `round` = 1000 or `bins` = 10 makes levels");
  // sample ids that no two responses share
  std::string calls = four;
  for (int i = 0; i < 66'000; ++i) calls += std::to_string(i / 2) + ",0,call" + std::to_string(i) + "," + std::to_string(1 + i % 2) + "\n";
  const ScoreTable t = parse_scores(calls, "f");
  CHECK(t.columns.size() == 2);
  CHECK(complete_columns(t, t.prompts[32'999]).size() == 2);
  CHECK(t.notes ==
        std::vector<std::string>{"its 66000 samples are too many to be the same ones for all responses: they are numbered anew for each"});
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
                            : kind == 1 ? "unsure"
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
    const ScoreTable a = parse_scores(csv, "f.csv", {.scale = *parse_scale("0..4 by 0.5")});
    CHECK(difference(a, parse_scores(tsv, "f.tsv", {.scale = *parse_scale("0..4 by 0.5")})) == "");
    CHECK(difference(a, parse_scores(json, "f.jsonl", {.scale = *parse_scale("0..4 by 0.5")})) == "");
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
  for (const char* bad :
       {"", "5", "1-5", "..", "1..", "..5", "5..1", "1..1", "0..100", "0..10 by 3", "0..10 by 0", "0..10 by -1", "0..10 by",
        "0..inf", "nan..5", "0..1 by 0.001", "1..5 by 1 by 1", "1e300..1e301", "a..b", "1...5", "0..1e-20 by 1e-21"}) {
    CAPTURE(bad);
    CHECK(round_trip(bad) == "none");
  }
  CHECK(scale_text(scale_of_scores({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13.0001, 200})) == "0, 1, 2, 3, 4, 5, …, 200");
}
