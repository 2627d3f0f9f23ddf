// The reader of score files: every accepted way of writing the same table; many mistakes (single ones: forms_test.cpp), large files.
#include "results/scores/score_file.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <string>
#include <vector>

#include "kernels/shared/failure.hpp"
#include "results/scores/csv.hpp"
#include "tests/catch.hpp"
#include "tests/results/scores/score_tables.hpp"

using namespace odrpo;

namespace {

const std::string header = "prompt_id,response_id,sample_id,score\n";

/// The message that a text is refused with; "accepted" when it is not.
std::string refusal(std::string_view text, const std::string& file = "f", const ScoreColumns& columns = {}) {
  try {
    parse_scores(text, file, {.columns = columns});
  } catch (const Failure& failure) {
    CHECK(failure.code == Exit::bad_input);
    return failure.what();
  }
  return "accepted";
}

/// Scores of a prompt's responses, in order.
std::vector<double> scores_of(const ScoreTable& t, std::size_t prompt) {
  std::vector<double> scores;
  for (const auto& r : t.responses_of(t.prompts[prompt]))
    for_each_score(t, r, [&](int level, std::uint32_t) { scores.push_back(t.values[level - 1]); });
  return scores;
}

/// Prompt 3: two responses, scores 4 5 and 1 2; prompt 7: one response, score 10.
const std::string plain = header + "3,0,0,4\n3,0,1,5\n3,1,0,1\n3,1,1,2\n7,0,0,10\n";

}  // namespace

TEST_CASE("a table of scores, by hand") {
  const ScoreTable t = parse_scores(plain, "f");
  REQUIRE(t.prompts.size() == 2);
  CHECK(t.prompts[0].id == "3");
  CHECK(t.prompts[0].count == 2);
  CHECK(t.prompts[1].id == "7");
  CHECK(t.prompts[1].first == 2);
  CHECK(t.prompts[1].count == 1);
  CHECK(t.level == std::vector<std::uint8_t>{4, 5, 1, 2, 10});
  CHECK(t.column == std::vector<std::uint32_t>{0, 1, 0, 1, 0});
  REQUIRE(t.responses.size() == 3);
  CHECK(t.responses[1].first == 2);
  CHECK(t.responses[1].count == 2);
  CHECK(t.responses[2].first == 4);
  CHECK(t.responses[2].count == 1);
  CHECK(!has_gold(t.responses[0]));
  REQUIRE(t.columns.size() == 2);
  CHECK(t.columns[1].judge == 0);
  CHECK(t.columns[1].sample == "1");
  REQUIRE(t.judges.size() == 1);
  CHECK(t.judges[0].name.empty());
  CHECK(t.judges[0].ratings == 5);
  CHECK(t.values == scale_of_levels(10).values);
  CHECK(t.missing() + t.unreadables() == 0);
  CHECK(t.notes.empty());
}

TEST_CASE("every accepted way of writing the same table") {
  const ScoreTable want = parse_scores(plain, "f");
  std::string crlf;
  for (const char c : plain) crlf += c == '\n' ? std::string("\r\n") : std::string(1, c);
  const std::string texts[] = {
      crlf,
      "\xef\xbb\xbf" + plain,
      "\xef\xbb\xbf" + crlf,
      plain.substr(0, plain.size() - 1),  // no line end after the last row
      crlf.substr(0, crlf.size() - 2),
      crlf.substr(0, crlf.size() - 1),
      "# where it comes from\n\n  \n# more, with a \" in it\n" + plain + "\n\n",
      header + "7,0,0,10\n3,1,1,2\n\n3,1,0,1\n\t\n3,0,1,5\r\n3,0,0,4\n",
      "score,sample_id,prompt_id,response_id\n4,0,3,0\n5,1,3,0\n1,0,3,1\n2,1,3,1\n10,0,7,0\n",
      "judge,prompt_id,response_id,note,sample_id,score,\na,3,0,,0,4,\n,3,0,x,1,5,\nb,3,1,\"a, "
      "\"\"b\"\"\nc\",0,1,1.5\nc,3,1,y,1,2,\nd,7,0,z,0,10,",
      "\"prompt_id\",\"response_id\",\"sample_id\",\"score\"\n\"3\",\"0\",\"0\",\"4\"\n\"3\",0,1,\"5\"\r\n3,1,0,1\n3,1,1,2\n7,0,0,\"10\"",
      " prompt_id , response_id,\tsample_id,score \n3, 0,0 ,4\n 3,0,1,\t5\n3,1,0, \"1\" \n3,1,1,02\n7,0,0,0010\n",
  };
  for (const std::string& text : texts) {
    CAPTURE(text);
    CHECK(refusal(text) == "accepted");
    if (refusal(text) == "accepted") CHECK(difference(parse_scores(text, "f"), want) == "");
  }
  // ids only order: negative, huge and with gaps
  const ScoreTable ids =
      parse_scores(header + "9223372036854775807,-5,1,7\n9223372036854775807,-5,-9,6\n-9223372036854775808,0,0,5\n", "f");
  CHECK(scores_of(ids, 0) == std::vector<double>{5});
  CHECK(scores_of(ids, 1) == std::vector<double>{6, 7});
  CHECK(parse_scores(header + "0,0,0,100\n0,0,1,1\n", "f").levels() == most_levels);
}

TEST_CASE("a file of scores that is one byte too large, of memory that nobody touches") {
  void* memory = ::mmap(nullptr, max_scores_bytes + 1, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  REQUIRE(memory != MAP_FAILED);
  CHECK(refusal(std::string_view(static_cast<const char*>(memory), max_scores_bytes + 1)) == "f:1:1: error: larger than 1024 MiB");
  ::munmap(memory, max_scores_bytes + 1);
}

TEST_CASE("twenty mistakes are told, then there is more") {
  for (const int mistakes : {20, 21, 1000}) {
    std::string text = header, twice = header;
    for (int i = 0; i < mistakes; ++i) text += "0,0," + std::to_string(1000 + i) + ",inf\n";
    for (int i = 0; i <= mistakes; ++i) twice += "0,0,0,1\n";
    const std::string told = refusal(text), told_twice = refusal(twice);
    CAPTURE(mistakes, told);
    CHECK(std::count(told.begin(), told.end(), '\n') == (mistakes > 20 ? 20 : 19));
    CHECK(told.ends_with("… and more") == (mistakes > 20));
    CHECK(told.starts_with("f:2:10: error: score \"inf\" is"));
    CHECK(told.find("f:21:10: error: score \"inf\" is") != std::string::npos);
    CHECK(told.find("f:22:") == std::string::npos);
    CHECK(told_twice.ends_with("… and more") == (mistakes > 20));
    CHECK(told_twice.starts_with("f:3:1: error: prompt 0"));
  }
}

TEST_CASE("doubled quotes are one in quoted cells, and two in cells without quotes") {
  std::vector<std::string> texts;
  std::vector<CsvField> fields;
  CsvErrors errors("f");
  CsvReader reader("\"5\"\" wide\",5\"\" wide,\"\"\"\",x\"\",\"\"");
  REQUIRE(reader.next(fields, errors));
  for (const CsvField& field : fields) texts.push_back(csv_text(field));
  CHECK(texts == std::vector<std::string>{"5\" wide", "5\"\" wide", "\"", "x\"\"", ""});
  CHECK_FALSE(errors.any());
  // ids: the first two rows are one response, the third is another one
  const ScoreTable t = parse_scores(header + "0,\"5\"\"\",0,1\n0,5\",1,2\n0,5\"\",0,3\n", "f");
  CHECK(t.responses.size() == 2);
  CHECK(scores_of(t, 0) == std::vector<double>{1, 2, 3});
}

TEST_CASE("text of a file is shown safely, whatever its bytes") {
  CHECK(shown_cell("") == "\"\"");
  CHECK(shown_cell("plain") == "\"plain\"");
  CHECK(shown_cell("\xf0\x9f\x98\x80") == "\"\xf0\x9f\x98\x80\"");
  CHECK(shown_cell("\xf4\x90\x80\x80") == "\"\\xf4\\x90\\x80\\x80\"");  // beyond Unicode
  CHECK(shown_cell("\xc0\x80") == "\"\\xc0\\x80\"");                    // NUL, overlong
  CHECK(shown_cell("\xed\xa0\x80") == "\"\\xed\\xa0\\x80\"");           // a surrogate
  CHECK(shown_cell("\xc2\x85\xe2\x82") == "\"\\xc2\\x85\\xe2\\x82\"");  // C1 control; cut short
  CHECK(shown_cell(std::string(40, 'a')) == "\"" + std::string(40, 'a') + "\"");
  CHECK(shown_cell(std::string(41, 'a')) == "\"" + std::string(40, 'a') + "…\"");
}

TEST_CASE("a file of a megabyte is read whole") {
  std::string text = header;
  for (int p = 0; p < 3000; ++p)
    for (int r = 0; r < 10; ++r)
      for (int n = 0; n < 4; ++n)
        text += std::to_string(p) + ',' + std::to_string(r) + ',' + std::to_string(n) + ',' + std::to_string(1 + (p + r * n) % 5) + '\n';
  REQUIRE(text.size() > 1'200'000);
  const ScoreTable t = parse_scores(text, "f");
  REQUIRE(t.prompts.size() == 3000);
  CHECK(t.level.size() == 120'000);
  CHECK(scores_of(t, 2999)[39] == 1 + (2999 + 9 * 3) % 5);
}

TEST_CASE("a mistake of every JSON line is told once, with a count and with how its key is named") {
  std::string lines;
  for (int i = 0; i < 1000; ++i) lines += "{\"item\":0,\"n\":" + std::to_string(i) + ",\"score\":3}\n";
  const std::string found = R"("item", "n", "score")";
  CHECK(refusal(lines, "f.jsonl") == "f.jsonl:1:1: error: no key \"prompt_id\" (1000 times); found " + found +
                                                     "\nf.jsonl:1:1: error: no key \"response_id\" (1000 times); found " + found);
  ScoreColumns flags;
  flags.named_by = "--", flags.response = "answer";
  CHECK(refusal(lines, "f.jsonl", flags) ==
        "f.jsonl:1:1: error: no key \"prompt_id\" (1000 times); found " + found +
            "; --prompt says which one it is\nf.jsonl:1:1: error: no key \"answer\" (1000 times); found " + found);
  CHECK(refusal("item,answer,score\n0,0,3\n", "f.csv", flags) ==
        R"(f.csv:1:1: error: no column "prompt_id"; found "item", "answer", "score"; --prompt says which one it is)");
  // among others, behind which there is more
  lines = "{\"prompt_id\":0,\"response_id\":0,\"score\":3}\nx\n" + lines;
  for (int i = 0; i < 30; ++i) lines += "{\"prompt_id\":0,\"response_id\":0,\"score\":\"1e99" + std::to_string(i) + "\"}\n";
  const std::string many = refusal(lines, "f.jsonl");
  CHECK(many.starts_with("f.jsonl:2:1: error: this line is no JSON object\nf.jsonl:3:1: error: no key \"prompt_id\" (1000 times)\n"));
  CHECK(std::count(many.begin(), many.end(), '\n') == 20);
  CHECK(many.ends_with("… and more"));
}
