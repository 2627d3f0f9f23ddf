// The reader of score files: every mistake at its place, every accepted way of writing the same table.
#include "results/score_file.hpp"

#include <chrono>
#include <string>
#include <vector>

#include "kernels/failure.hpp"
#include "results/csv.hpp"
#include "tests/catch.hpp"

using namespace odrpo;

namespace {

const std::string header = "prompt_id,response_id,sample_id,score\n";

/// The message that a text is refused with; "accepted" when it is not.
std::string refusal(const std::string& text) {
  try {
    parse_scores(text, "f");
  } catch (const Failure& failure) {
    CHECK(failure.code == Exit::bad_input);
    return failure.what();
  }
  return "accepted";
}

bool same(const ScoreTable& a, const ScoreTable& b) {
  if (a.prompts.size() != b.prompts.size() || a.largest != b.largest || a.smallest != b.smallest) return false;
  for (std::size_t p = 0; p < a.prompts.size(); ++p) {
    const auto &x = a.prompts[p], &y = b.prompts[p];
    if (x.id != y.id || x.responses != y.responses || x.samples != y.samples || x.score != y.score) return false;
  }
  return true;
}

/// Prompt 3: two responses, scores 4 5 and 1 2; prompt 7: one response, score 10.
const std::string plain = header + "3,0,0,4\n3,0,1,5\n3,1,0,1\n3,1,1,2\n7,0,0,10\n";

}  // namespace

TEST_CASE("a table of scores, by hand") {
  const ScoreTable t = parse_scores(plain, "f");
  REQUIRE(t.prompts.size() == 2);
  CHECK(t.prompts[0].id == 3);
  CHECK(t.prompts[0].responses == 2);
  CHECK(t.prompts[0].samples == 2);
  CHECK(t.prompts[0].score == std::vector<std::uint8_t>{4, 5, 1, 2});
  CHECK(t.prompts[1].id == 7);
  CHECK(t.prompts[1].responses == 1);
  CHECK(t.prompts[1].samples == 1);
  CHECK(t.prompts[1].score == std::vector<std::uint8_t>{10});
  CHECK(t.largest == 10);
  CHECK(t.smallest == 1);
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
    if (refusal(text) == "accepted") CHECK(same(parse_scores(text, "f"), want));
  }
  // ids only order: negative, huge and with gaps
  const ScoreTable ids =
      parse_scores(header + "9223372036854775807,-5,1,7\n9223372036854775807,-5,-9,6\n-9223372036854775808,0,0,5\n", "f");
  CHECK(ids.prompts[0].score == std::vector<std::uint8_t>{5});
  CHECK(ids.prompts[1].score == std::vector<std::uint8_t>{6, 7});
  CHECK(parse_scores(header + "0,0,0,100\n0,0,1,1\n", "f").largest == max_score);
}

TEST_CASE("every mistake of a score file is told at its file, line and column") {
  const std::string rows4 = header + "0,0,0,4\n";
  struct Row {
    std::string text, message;
  };
  const Row rows[] = {
      // nothing there
      {"", "f:1:1: error: nothing in it; wanted a header prompt_id,response_id,sample_id,score and rows of whole numbers"},
      {"\xef\xbb\xbf", "f:1:1: error: nothing in it; wanted a header prompt_id,response_id,sample_id,score and rows of whole numbers"},
      {"# only\n\n# comments\n",
       "f:1:1: error: nothing in it; wanted a header prompt_id,response_id,sample_id,score and rows of whole numbers"},
      {header, "f:1:1: error: no scores below the header"},
      {"# c\n" + header + "# c\n", "f:2:1: error: no scores below the header"},
      // the header
      {"0,0,0,3\n0,0,1,4\n",
       "f:1:1: error: data where the header was expected: the first line must name the columns prompt_id,response_id,sample_id,score"},
      {"prompt_id,response_id,score\n0,0,3\n", "f:1:1: error: no column \"sample_id\"; found \"prompt_id\", \"response_id\", \"score\""},
      {"# c\nprompt,response_id,sample_id,Score\n0,0,0,3\n",
       "f:2:1: error: no column \"prompt_id\"; found \"prompt\", \"response_id\", \"sample_id\", \"Score\"\n"
       "f:2:1: error: no column \"score\"; found \"prompt\", \"response_id\", \"sample_id\", \"Score\" (names are written in small "
       "letters)"},
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
      {"prompt_id\tresponse_id\tsample_id\tscore\n0\t0\t0\t3\n",
       "f:1:1: error: columns separated by tabs: they must be separated by commas"},
      {"\x1f\x8b\x08", "f:1:1: error: compressed (gzip): unpack it first"},
      {"PK\x03\x04", "f:1:1: error: a zip archive or a spreadsheet: export it as CSV"},
      // the number of fields
      {rows4 + "0,0,1\n", "f:3:5: error: 3 fields, but the header has 4"},
      {rows4 + "0,0,1,3,\n", "f:3:9: error: 5 fields, but the header has 4"},
      {rows4 + "0\n", "f:3:1: error: 1 field, but the header has 4"},
      {rows4 + "0;0;1;3\n", "f:3:1: error: 1 field, but the header has 4"},
      // numbers
      {rows4 + "0,0,1,good\n", "f:3:7: error: score \"good\": a whole number is wanted"},
      {rows4 + "0,0,1,3.5\n", "f:3:7: error: score \"3.5\": a whole number is wanted"},
      {rows4 + "0,0,1,3.0\n", "f:3:7: error: score \"3.0\": a whole number is wanted"},
      {rows4 + "0,0,1,1e9\n", "f:3:7: error: score \"1e9\": a whole number is wanted"},
      {rows4 + "0,0,1,NaN\n", "f:3:7: error: score \"NaN\": a whole number is wanted"},
      {rows4 + "0,0,1,\n", "f:3:7: error: score is empty: a whole number is wanted"},
      {rows4 + "0,0,,3\n", "f:3:5: error: sample_id is empty: a whole number is wanted"},
      {rows4 + "p1,0, r ,3\n",
       "f:3:1: error: prompt_id \"p1\": a whole number is wanted\nf:3:7: error: sample_id \"r\": a whole number is wanted"},
      {rows4 + "0,1 2,1,3\n", "f:3:3: error: response_id \"1 2\": a whole number is wanted"},
      {rows4 + "0,0,1,\"3\"\"\"\n", "f:3:7: error: score \"3\"\"\": a whole number is wanted"},
      {rows4 + "9223372036854775808,0,1,3\n", "f:3:1: error: prompt_id \"9223372036854775808\" is too large"},
      {rows4 + "0,0,1,99999999999999999999\n", "f:3:7: error: score \"99999999999999999999\" is too large"},
      // the range
      {rows4 + "0,0,1,0\n", "f:3:7: error: score 0 is outside of 1..100"},
      {rows4 + "0,0,1,101\n", "f:3:7: error: score 101 is outside of 1..100"},
      {rows4 + "0,0,1,-3\n", "f:3:7: error: score -3 is outside of 1..100"},
      {rows4 + "0,0,1,1000000000\n", "f:3:7: error: score 1000000000 is outside of 1..100"},
      {"score,prompt_id,response_id,sample_id\n\n256,0,0,0\n", "f:3:1: error: score 256 is outside of 1..100"},
      // quotes
      {rows4 + "0,0,1,\"3\n", "f:3:7: error: a quote that is not closed"},
      {rows4 + "0,0,1,\"3\"4\n", "f:3:10: error: text after the closing quote"},
      {"prompt_id,response_id,sample_id,score,note\n0,0,0,3,\"two\nlines\"\n0,0,1,x,n\n",
       "f:4:7: error: score \"x\": a whole number is wanted"},
      // cells
      {rows4 + "0,0,1,3\n\n0,0,0,4\n", "f:5:1: error: prompt 0, response 0, sample 0 is given twice; first on line 2"},
      {rows4 + "0,0,0,1\n0,0,0,2\n",
       "f:3:1: error: prompt 0, response 0, sample 0 is given twice; first on line 2\n"
       "f:4:1: error: prompt 0, response 0, sample 0 is given twice; first on line 2"},
      {rows4 + "0,0,0,1\n0,0,1,x\n",
       "f:3:1: error: prompt 0, response 0, sample 0 is given twice; first on line 2\nf:4:7: error: score \"x\": a whole number is wanted"},
      {header + "5,0,0,4\n5,0,1,4\n5,2,0,3\n6,0,0,1\n", "f:4:1: error: prompt 5: response 2 has 1 sample, but response 0 has 2 (line 2)"},
      {header + "5,1,1,4\n5,0,0,4\n5,1,0,3\n5,2,0,1\n5,2,1,1\n",
       "f:3:1: error: prompt 5: response 0 has 1 sample, but response 1 has 2 (line 4)"},
      {header + "5,0,0,4\n5,0,1,4\n5,1,0,3\n5,1,1,3\n5,2,0,1\n5,2,1,1\n5,0,2,4\n",
       "f:8:1: error: prompt 5: response 0 has 3 samples, but response 1 has 2 (line 4)"},
      {header + "5,0,0,4\n5,0,1,4\n5,1,0,3\n", "f:4:1: error: prompt 5: response 1 has 1 sample, but response 0 has 2 (line 2)"},
      // text that must not reach a terminal as it is
      {rows4 + "0,0,1," + std::string("\x01\x1b[31m\x7f", 7) + "\n",
       "f:3:7: error: score \"\\x01\\x1b[31m\\x7f\": a whole number is wanted"},
      {rows4 + "0,0,1,\xc3\xa9\xc3\xff\xe2\x80\xae\n",
       "f:3:7: error: score \"\xc3\xa9\\xc3\\xff\\xe2\\x80\\xae\": a whole number is wanted"},
      {rows4 + "0,0,1," + std::string(1000, 'z') + "\n", "f:3:7: error: score \"" + std::string(40, 'z') + "…\": a whole number is wanted"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    CHECK(refusal(row.text) == row.message);
  }
  try {
    parse_scores(header + "0,0,0,5\n0,0,1,9\n0,1,0,8\n0,1,1,x\n", "f", 5);
    FAIL("accepted");
  } catch (const Failure& f) {
    CHECK(std::string(f.what()) ==
          "f:3:7: error: score 9 is above the judge's `levels`, 5\nf:5:7: error: score \"x\": a whole number is wanted");
  }
  CHECK(std::size(rows) >= 40);
  CHECK(refusal(std::string(max_scores_bytes + 1, '\n')) == "f:1:1: error: larger than 256 MiB");
}

TEST_CASE("twenty mistakes are told, then there is more") {
  for (const int mistakes : {20, 21, 1000}) {
    std::string text = header, twice = header;
    for (int i = 0; i < mistakes; ++i) text += "0,0," + std::to_string(1000 + i) + ",0\n";
    for (int i = 0; i <= mistakes; ++i) twice += "0,0,0,1\n";
    const std::string told = refusal(text), told_twice = refusal(twice);
    CAPTURE(mistakes, told);
    CHECK(std::count(told.begin(), told.end(), '\n') == (mistakes > 20 ? 20 : 19));
    CHECK(told.ends_with("… and more") == (mistakes > 20));
    CHECK(told.starts_with("f:2:10: error: score 0 is"));
    CHECK(told.find("f:21:10: error: score 0 is") != std::string::npos);
    CHECK(told.find("f:22:") == std::string::npos);
    CHECK(told_twice.ends_with("… and more") == (mistakes > 20));
    CHECK(told_twice.starts_with("f:3:1: error: prompt 0"));
  }
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

TEST_CASE("a file of a megabyte is read in well under a tenth of a second") {
  std::string text = header;
  for (int p = 0; p < 3000; ++p)
    for (int r = 0; r < 10; ++r)
      for (int n = 0; n < 4; ++n)
        text += std::to_string(p) + ',' + std::to_string(r) + ',' + std::to_string(n) + ',' + std::to_string(1 + (p + r * n) % 5) + '\n';
  REQUIRE(text.size() > 1'200'000);
  double best = 1e9;
  for (int round = 0; round < 5; ++round) {
    const auto start = std::chrono::steady_clock::now();
    const ScoreTable t = parse_scores(text, "f");
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    REQUIRE(t.prompts.size() == 3000);
    REQUIRE(t.prompts[2999].score[39] == 1 + (2999 + 9 * 3) % 5);
  }
#ifdef NDEBUG  // sanitizers take ten times as long
  constexpr double limit = 0.1;
#else
  constexpr double limit = 2;
#endif
  CAPTURE(best);
  CHECK(best < limit);
}
