// The reader of score files: every mistake at its place, every accepted way of writing the same table.
#include "results/scores/score_file.hpp"

#include <sys/mman.h>

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
std::string refusal(std::string_view text) {
  try {
    parse_scores(text, "f");
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
      "# where it comes from\n\n  \n# more, with a \" in it\n" + plain + "\n\n# the end",
      header + "7,0,0,10\n# amid\n3,1,1,2\n\n3,1,0,1\n\t\n3,0,1,5\r\n3,0,0,4\n",
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

TEST_CASE("every mistake of a score file is told at its file, line and column") {
  const std::string rows4 = header + "0,0,0,4\n";
  struct Row {
    std::string text, message;
  };
  const Row rows[] = {
      // nothing there
      {"", "f:1:1: error: nothing in it; wanted a header prompt_id,response_id,sample_id,score and a row for each score"},
      {"\xef\xbb\xbf", "f:1:1: error: nothing in it; wanted a header prompt_id,response_id,sample_id,score and a row for each score"},
      {"# only\n\n# comments\n",
       "f:1:1: error: nothing in it; wanted a header prompt_id,response_id,sample_id,score and a row for each score"},
      {header, "f:1:1: error: no scores below the header"},
      {"# c\n" + header + "# c\n", "f:2:1: error: no scores below the header"},
      // the header
      {"0,0,0,3\n0,0,1,4\n",
       "f:1:1: error: data where the header was expected: the first line must name the columns prompt_id,response_id,sample_id,score"},
      {"prompt_id,sample_id,score\n0,0,3\n", "f:1:1: error: no column \"response_id\"; found \"prompt_id\", \"sample_id\", \"score\""},
      {"# c\nprompt,response_id,sample_id,Score\n0,0,0,3\n",
       "f:2:1: error: no column \"prompt_id\"; found \"prompt\", \"response_id\", \"sample_id\", \"Score\"\n"
       "f:2:1: error: no column \"score\"; found \"prompt\", \"response_id\", \"sample_id\", \"Score\" (capital and small letters "
       "differ)"},
      {"prompt_id,response_id,sample_id,score,score\n0,0,0,3,3\n", "f:1:39: error: column \"score\" stands twice"},
      // other formats, told once
      {"\xff\xfep\0r\0o\0", "f:1:1: error: UTF-16 text: save it as UTF-8"},
      {std::string("\xfe\xff\0p\0r\0o", 8), "f:1:1: error: UTF-16 text: save it as UTF-8"},
      {std::string("\xff\xfe\0\0p\0\0\0", 8), "f:1:1: error: UTF-32 text: save it as UTF-8"},
      {std::string("\0\0\xfe\xff\0\0\0p", 8), "f:1:1: error: UTF-32 text: save it as UTF-8"},
      {std::string("p\0r\0o\0", 6), "f:1:1: error: UTF-16 text: save it as UTF-8"},
      {std::string("\0p\0r\0o", 6), "f:1:1: error: UTF-16 text: save it as UTF-8"},
      {std::string("p\0\0\0r\0\0\0", 8), "f:1:1: error: UTF-32 text: save it as UTF-8"},
      {std::string("\0\0\0p\0\0\0r", 8), "f:1:1: error: UTF-32 text: save it as UTF-8"},
      {rows4 + std::string("0,0,1,\0", 7), "f:3:7: error: a NUL byte: this is no text, or UTF-16 in part"},
      {std::string("\0\0\0", 3), "f:1:1: error: a NUL byte: this is no text, or UTF-16 in part"},
      {"prompt_id,response_id,sample_id,score\r0,0,0,3\r", "f:1:1: error: its lines end in CR alone: save it with line ends LF or CRLF"},
      {"sep=,\n" + rows4,
       "f:1:1: error: a line for Excel: delete it; the first line must name the columns prompt_id,response_id,sample_id,score"},
      {"SEP=;\n" + rows4,
       "f:1:1: error: a line for Excel: delete it; the first line must name the columns prompt_id,response_id,sample_id,score"},
      {"prompt_id;response_id;sample_id;score\n0;0;0;3\n",
       "f:1:1: error: columns separated by semicolons: they must be separated by commas"},
      {"\x1f\x8b\x08", "f:1:1: error: compressed (gzip): unpack it first"},
      {"PK\x03\x04", "f:1:1: error: a zip archive or a spreadsheet: export it as CSV"},
      // the number of fields
      {rows4 + "0,0,1\n", "f:3:5: error: 3 fields, but the header has 4"},
      {rows4 + "0,0,1,3,\n", "f:3:9: error: 5 fields, but the header has 4"},
      {rows4 + "0\n", "f:3:1: error: 1 field, but the header has 4"},
      {rows4 + "0;0;1;3\n", "f:3:1: error: 1 field, but the header has 4"},
      // ids
      {rows4 + "0,0,,3\n", "f:3:5: error: sample_id is empty"},
      {rows4 + ",0,\"\",3\n", "f:3:1: error: prompt_id is empty\nf:3:4: error: sample_id is empty"},
      {rows4 + "0, ,1,3\n", "f:3:4: error: response_id is empty"},
      // numbers
      {rows4 + "0,0,1,NaN\n", "f:3:7: error: score \"NaN\" is no finite number; leave a missing score blank"},
      {rows4 + "0,0,1,-inf\n", "f:3:7: error: score \"-inf\" is no finite number; leave a missing score blank"},
      {rows4 + "0,0,1,1e999\n", "f:3:7: error: score \"1e999\" is out of the range of numbers"},
      {rows4 + "0,0,1,\"1,000\"\n", "f:3:7: error: score \"1,000\" has a thousands separator: write the digits alone"},
      {rows4 + "0,0,1,\"-12,345.5\"\n", "f:3:7: error: score \"-12,345.5\" has a thousands separator: write the digits alone"},
      {rows4 + "0,0,1,\"3,5\"\n", "f:3:7: error: score \"3,5\" has a decimal comma: write a point"},
      {rows4 + "0,0,1,\"1234,567\"\n", "f:3:7: error: score \"1234,567\" has a decimal comma: write a point"},
      // quotes
      {rows4 + "0,0,1,\"3\n", "f:3:7: error: a quote that is not closed"},
      {rows4 + "0,0,1,\"3\"4\n", "f:3:10: error: text after the closing quote"},
      {"prompt_id,response_id,sample_id,score,note\n0,0,0,3,\"two\nlines\"\n0,0,1,inf,n\n",
       "f:4:7: error: score \"inf\" is no finite number; leave a missing score blank"},
      {"note,prompt_id,response_id,sample_id,score\n\"two\n\nlines\",0,,0,inf\nn,,0,0,3\n",
       "f:4:10: error: response_id is empty\nf:4:13: error: score \"inf\" is no finite number; leave a missing score blank\n"
       "f:5:3: error: prompt_id is empty"},
      {"note,prompt_id,response_id,sample_id,score\n\"two\nlines\" x,0,0,0,3\n", "f:3:8: error: text after the closing quote"},
      {"note,prompt_id,response_id,sample_id,score\n\"two\nlines\",\"0\n", "f:3:8: error: a quote that is not closed"},
      // cells
      {rows4 + "0,0,1,3\n\n0,0,0,4\n", "f:5:1: error: prompt 0, response 0, sample 0 is given twice; first on line 2"},
      {rows4 + "0,0,0,1\n0,0,0,2\n",
       "f:3:1: error: prompt 0, response 0, sample 0 is given twice; first on line 2\n"
       "f:4:1: error: prompt 0, response 0, sample 0 is given twice; first on line 2"},
      {rows4 + "0,0,0,\n", "f:3:1: error: prompt 0, response 0, sample 0 is given twice; first on line 2"},
      {header + "a,b,c,1\na,b,c,2\n", "f:3:1: error: prompt \"a\", response \"b\", sample \"c\" is given twice; first on line 2"},
      {rows4 + "0,0,00,5\n", "f:3:1: error: prompt 0, response 0, sample 0 is given twice; first on line 2"},
      // no scores
      {header + "0,0,0,\n0,0,1,\n", "f:1:1: error: no row has a score"},
      {header + "0,0,0,good\n0,0,1,3\n0,0,2,bad\n0,0,3,5\n0,0,4,\"so, so\"\n",
       "f:2:7: error: 3 of 5 scores are no numbers, the first is \"good\": is \"score\" the column of the scores?"},
      // text that must not reach a terminal as it is
      {header + "0,0,0," + std::string("\x01\x1b[31m\x7f", 7) + "\n",
       "f:2:7: error: 1 of 1 scores are no numbers, the first is \"\\x01\\x1b[31m\\x7f\": is \"score\" the column of the scores?"},
      {header + "0,0,0," + std::string(1000, 'z') + "\n", "f:2:7: error: 1 of 1 scores are no numbers, the first is \"" +
                                                              std::string(40, 'z') + "…\": is \"score\" the column of the scores?"},
      {header + "\x1b,\xc3\xa9\xc3\xff\xe2\x80\xae,0,1\n\x1b,\xc3\xa9\xc3\xff\xe2\x80\xae,0,1\n",
       "f:3:1: error: prompt \"\\x1b\", response \"\xc3\xa9\\xc3\\xff\\xe2\\x80\\xae\", sample 0 is given twice; first on line 2"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    CHECK(refusal(row.text) == row.message);
  }
  CHECK(std::size(rows) >= 40);
  // one byte too many, of memory that nobody touches
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
