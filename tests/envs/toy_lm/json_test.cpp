// The parser of JSON answers: strings by hand, agreement with another parser on mutations, random bytes; and the matrix it makes of a
// judge.
#include <map>
#include <nlohmann/json.hpp>
#include <random>

#include "envs/toy_lm/judge_json.hpp"
#include "tests/catch.hpp"
#include "tests/envs/toy_lm/json_definition.hpp"
#include "tests/rounds.hpp"

using namespace odrpo;

namespace {

std::string repeated(std::string_view piece, int times) {
  std::string s;
  for (int i = 0; i < times; ++i) s += piece;
  return s;
}

}  // namespace

TEST_CASE("the score of the first object that has one") {
  CHECK(parse_score(R"({"score": 7})", 10) == 7);
  CHECK(parse_score(R"(so {"a": {"score": 3}} then {"score":10,"x":[1,2,{"score":2}]} and {"score": 5})", 10) == 10);
  CHECK(parse_score("\xef\xbb\xbf ```json\n{\r\n\t\"score\" : 1 }```", 10) == 1);
  CHECK(parse_score(R"({broken {"score": 4}})", 10) == 4);
  CHECK(parse_score(R"({"a": 1, "b": {"score": 4}, oops)", 10) == 4);  // the outer object is broken, the inner one is not
  CHECK(parse_score(R"([{"score": 4}])", 10) == 4);
  CHECK(parse_score(R"({"score": 4, "score": 6})", 10) == 6);
  CHECK_FALSE(parse_score(R"({"score": 4, "score": "6"})", 10));
  CHECK(parse_score(R"({"s\u0063ore": 9})", 10) == 9);
  CHECK_FALSE(parse_score(R"({"Score": 9})", 10));
  CHECK_FALSE(parse_score(R"({"score ": 9})", 10));
  CHECK_FALSE(parse_score(R"({"scor": 9})", 10));
  CHECK_FALSE(parse_score(R"({"a\score": 9})", 10));
  CHECK_FALSE(parse_score(R"({"score": [7]})", 10));
  CHECK_FALSE(parse_score(R"({"text": "{\"score\": 7}"})", 10));
  CHECK(parse_score(R"({"score": "{" , "score": 2})", 10) == 2);
  CHECK_FALSE(parse_score("", 10));
  CHECK_FALSE(parse_score("7", 10));
}

TEST_CASE("the paper's key is rating, and score is read where there is none") {
  CHECK(parse_score("```json\n{\n\"rating\": 4\n}\n```", 10) == 4);
  CHECK(parse_score(R"({"rating": 4, "score": 6})", 10) == 4);
  CHECK(parse_score(R"({"score": 6, "rating": 4})", 10) == 4);
  CHECK_FALSE(parse_score(R"({"rating": "4", "score": 6})", 10));
  CHECK_FALSE(parse_score(R"({"rating": [4], "score": 6})", 10));
  CHECK(parse_score(R"({"parts": {"rating": 2}, "score": 6})", 10) == 6);
  CHECK(parse_score(R"({"rating": 4, "rating": 6})", 10) == 6);
  CHECK(parse_score(R"({"r\u0061ting": 9})", 10) == 9);
  CHECK_FALSE(parse_score(R"({"grade": 7})", 10));
}

TEST_CASE("scores are whole numbers of the scale, however they are written") {
  const auto score = [](const std::string& number, int levels = 10) { return parse_score("{\"score\":" + number + "}", levels); };
  for (int k = 1; k <= 100; ++k) CHECK(score(std::to_string(k), 100) == k);
  CHECK(score("7.0") == 7);
  CHECK(score("70e-1") == 7);
  CHECK(score("0.1E+2") == 10);
  CHECK(score("7.000000000000000000000000000000") == 7);
  for (const char* none :
       {"0", "-0", "-7", "11", "7.5", "1e999", "1e-999", "0.9999999999999999", "null", "true", "\"7\"", "{}", "100000000000000000000"})
    CHECK_FALSE(score(none));
  for (const char* broken : {"07", "+7", "7.", ".7", "7e", "7e+", "0x7", "NaN", "Infinity", "7_0", "--7", "-", "7 7", "'7'", "nul", "True"})
    CHECK_FALSE(score(broken));
  CHECK_FALSE(score("6", 5));
}

TEST_CASE("agreement with the definition on mutated answers") {
  std::mt19937_64 g(11);
  const std::string_view alphabet = "{}[]\",:\\ 0123456789.-+eEratingscore\nun\x01\xc3\xa9";
  int scored = 0;
  for (int i = 0; i < 60000; ++i) {
    std::string text = write_answer(static_cast<Answer>(g() % answer_kinds), 1 + static_cast<int>(g() % 10), 10);
    if (g() % 2) text = text.substr(text.find('{') == std::string::npos ? 0 : text.find('{'));
    for (int m = static_cast<int>(g() % 4); m > 0 && !text.empty(); --m) {
      const std::size_t at = g() % text.size();
      const char c = alphabet[g() % alphabet.size()];
      if (g() % 3 == 0) text.erase(at, 1 + g() % 4);
      else if (g() % 2) text.insert(at, 1, c);
      else text[at] = c;
    }
    INFO(text);
    const auto score = parse_score(text, 10);
    REQUIRE(score == defined_score(text, 10));
    scored += score.has_value();
  }
  CHECK(scored > 10000);
  CHECK(scored < 50000);
}

TEST_CASE("any bytes are an answer: random bytes, deep nesting, texts made to be read again and again", "[slow]") {
  std::mt19937_64 g(12);
  for (int i = 0; i < 20000; ++i) {
    std::string bytes(g() % 200, ' ');
    for (char& b : bytes) b = g() % 3 ? static_cast<char>(g()) : "{\"score\":7}[],\\"[g() % 15];
    const auto score = parse_score(bytes, 10);
    if (score) REQUIRE((*score >= 1 && *score <= 10));
  }
  const int n = rounds(20000, 200000);
  for (const char* piece : {"{", "[", "{\"", "{\"a\":", "{\"a\":[", "{\"a\":\"", "{\"\":[1,", "{ ", "\"{", "{\"score\":", "\\{\"", "{},"})
    CHECK_FALSE(parse_score(repeated(piece, n), 10));
  CHECK(parse_score(repeated("{\"a\":", n) + "{\"score\":3}", 10) == 3);
  CHECK(parse_score(repeated("{\"a\":", 30) + "[" + repeated("{},", n) + "{\"score\":3}", 10) == 3);
  CHECK(parse_score("{\"score\":4,\"a\":[" + repeated("1,", n) + "1]}", 10) == 4);
}

TEST_CASE("every way of writing is read as its line of help says") {
  for (int levels : {5, 10}) {
    for (int s = 1; s <= levels; ++s) {
      for (const auto& way : answer_words) {
        const int i = static_cast<int>(way.value);
        const auto read = parse_score(write_answer(way.value, s, levels), levels);
        INFO(way.word << " " << s);
        if (way.value == Answer::draft) CHECK(read == (s > 1 ? s - 1 : 2));
        else if (way.value == Answer::out_of_range && s == 1 && levels == 10) CHECK(read == 10);
        else if (i < first_broken) CHECK(read == s);
        else CHECK_FALSE(read);
      }
    }
  }
  CHECK(std::size(answer_words) == answer_kinds);
  for (int i = 0; i < answer_kinds; ++i) CHECK(static_cast<int>(answer_words[i].value) == i);
}

TEST_CASE("the reading matrix by hand, and as literal answers have it") {
  const JsonJudge judge{0.14, 0.09};  // 7 odd ways of 0.02, 9 broken ones of 0.01
  const std::vector<double> m = reading_matrix(judge, 10);
  REQUIRE(m.size() == 110);
  const auto at = [&](int meant, int read) { return m[(meant - 1) * 11 + read - 1]; };
  for (int s = 1; s <= 10; ++s) {
    double sum = 0;
    for (int r = 1; r <= 11; ++r) sum += at(s, r);
    CHECK(sum == Approx(1));
    CHECK(at(s, s) == Approx(0.77 + 0.12));
    CHECK(at(s, s > 1 ? s - 1 : 2) == Approx(0.02));
    CHECK(at(s, 11) == Approx(s == 1 ? 0.08 : 0.09));
  }
  CHECK(at(1, 10) == Approx(0.01));

  const int n = 100000;
  for (int meant : {1, 6}) {
    std::map<int, int> count;
    for (std::uint32_t i = 0; i < n; ++i) {
      const Answer way = choose_answer(judge, 5, 0, static_cast<std::uint32_t>(meant), i);
      ++count[parse_score(write_answer(way, meant, 10), 10).value_or(11)];
    }
    for (int r = 1; r <= 11; ++r) {
      const double p = at(meant, r);
      CHECK(std::abs(count[r] - n * p) <= 5 * std::sqrt(n * p * (1 - p)));
    }
  }

  std::vector<double> meant(10, 0.0), read(11, 9.0);
  meant[0] = 0.5;
  meant[5] = 0.5;
  read_row(m, meant, read);
  CHECK(read[0] == Approx(0.445));
  CHECK(read[5] == Approx(0.445));
  CHECK(read[4] == Approx(0.01));
  CHECK(read[9] == Approx(0.005));
  CHECK(read[10] == Approx(0.085));
}

TEST_CASE("shares beyond one keep their proportion, zero shares never occur") {
  CHECK(answer_share({1.0, 0.5}, Answer::plain) == 0);
  CHECK(answer_share({1.0, 0.5}, Answer::draft) == Approx(2.0 / 3 / 7));
  CHECK(answer_share({1.0, 0.5}, Answer::silent) == Approx(1.0 / 3 / 9));
  int broken = 0, plain = 0;
  for (std::uint32_t i = 0; i < 30000; ++i) {
    CHECK(choose_answer({0, 0}, 6, 1, 0, i) == Answer::plain);
    CHECK(static_cast<int>(choose_answer({1, 0}, 6, 1, 0, i)) < first_broken);
    const Answer way = choose_answer({1.0, 0.5}, 6, 1, 0, i);
    broken += static_cast<int>(way) >= first_broken;
    plain += way == Answer::plain;
  }
  CHECK(plain == 0);
  CHECK(std::abs(broken - 10000) < 6 * std::sqrt(30000 * 2.0 / 9));
}
