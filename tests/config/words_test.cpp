// Suggestions, globs, numbers and names as text.
#include "kernels/shared/words.hpp"

#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "config/write/field_list.hpp"
#include "kernels/system/text.hpp"
#include "tests/catch.hpp"

using namespace odrpo;

TEST_CASE("edit distance counts inserts, deletes, replacements and swaps") {
  CHECK(edit_distance("", "") == 0);
  CHECK(edit_distance("abc", "") == 3);
  CHECK(edit_distance("steps", "setps") == 1);
  CHECK(edit_distance("steps", "step") == 1);
  CHECK(edit_distance("steps", "stops") == 1);
  CHECK(edit_distance("weight-decay", "WEIGHT_DECAY") == 0);
  CHECK(edit_distance("kitten", "sitting") == 3);
}

TEST_CASE("suggestions are near or none") {
  const std::vector<std::string_view> words{"steps", "batch", "lr", "schedule", "whiten"};
  CHECK(nearest_word("stesp", words) == "steps");
  CHECK(nearest_word("Batch", words) == "batch");
  CHECK(nearest_word("l", words) == "lr");
  CHECK(nearest_word("shedul", words) == "schedule");
  CHECK(nearest_word("gravity", words).empty());
  CHECK(nearest_word(std::string(100000, 'x'), words).empty());
  CHECK(nearest_word("", words).empty());
  CHECK(nearest_word("sche", words) == "schedule");
  CHECK(nearest_word("Sched", words) == "schedule");
  CHECK(nearest_word("s", words).empty());
  const std::vector<std::string_view> ties{"first", "nearest-mean", "nearest"};
  CHECK(nearest_word("near", ties) == "nearest");
  CHECK(nearest_word("nearest_m", ties) == "nearest");  // an edit or two, before words that begin so
  CHECK(one_of(words) == "steps, batch, lr, schedule or whiten");
  CHECK(joined(words, {}, "; ") == "steps; batch; lr; schedule; whiten");
}

TEST_CASE("texts are split at separators, and lines at their ends") {
  using Parts = std::vector<std::string>;
  CHECK(split("a,b", ',') == Parts{"a", "b"});
  CHECK(split("", ',') == Parts{""});
  CHECK(split(",a,, b,", ',') == Parts{"", "a", "", " b", ""});
  CHECK(lines_of("a\n\nb\n") == Parts{"a", "", "b"});
  CHECK(lines_of("a\nb") == Parts{"a", "b"});
  CHECK(lines_of("\n") == Parts{""});
  CHECK(lines_of("").empty());
}

TEST_CASE("a number is a whole text, in its type's range and the one asked for") {
  CHECK(number_from<double>("-2.5e3") == -2500);
  CHECK(std::isinf(*number_from<double>("inf")));
  CHECK(number_from<int>("010") == 10);
  for (const auto* text : {"", " 1", "1 ", "+1", "1x", "0x1", "1,5", "1e999", "-"}) {
    INFO(text);
    CHECK_FALSE(number_from<double>(text));
  }
  for (const auto* text : {"", "1.0", "9999999999", "1e3"}) CHECK_FALSE(number_from<int>(text));
  CHECK_FALSE(number_from<std::size_t>("-1"));
  CHECK(number_from<int>("3", 1, 3) == 3);
  CHECK_FALSE(number_from<int>("4", 1, 3));
  CHECK_FALSE(number_from<double>("nan", 0, 1));
}

TEST_CASE("globs match whole ids, and '*' crosses '/'") {
  const std::string id = "bandit/mixed/linear/odrpo-gini(maxrl)/n8/lr=0.1/s3";
  for (const auto* glob : {"*", "bandit/*", "*/s3", "*/n8/*", "*odrpo*(maxrl)*", "bandit/mixed/linear/odrpo-gini(maxrl)/n8/lr=0.1/s3",
                           "*/s[0-4]", "*/s[0-3]", "*/s[3-4]", "*/s[!4]", "*/n?/*", "**", "*s?"}) {
    INFO(glob);
    CHECK(glob_match(glob, id));
  }
  for (const auto* glob : {"", "bandit", "*/s", "*/n1/*", "*/s[4-9]", "*/s[!3]", "s3", "*/N8/*", "?"}) {
    INFO(glob);
    CHECK_FALSE(glob_match(glob, id));
  }
  for (const auto* glob : {"[", "[a", "*/s[0-4", "[abc][d", "[]"}) CHECK(has_open_bracket(glob));
  for (const auto* glob : {"", "*", "[a]", "[]]", "x]", "[[]", "[!a]*[b-c]"}) CHECK_FALSE(has_open_bracket(glob));
  const struct {
    const char *glob, *text;
    bool match;
  } golden[] = {{"*", "", true}, {"?", "", false}, {"?", "/", true}, {"[/]", "/", true}, {"*", ".a/b", true},
                // sets: '!' negates, '^' does not; the first character is never the end; no classes; an open bracket stands for itself
                {"[", "[", true}, {"[a", "[a", true}, {"[]", "[]", true}, {"[]]", "]", true}, {"[]-a]", "^", true}, {"[!]", "x", true},
                {"[!]", "[!]", false}, {"[!]a]", "xa]", true}, {"[!!]", "!", false}, {"[!!]", "a", true}, {"[^a]", "^", true},
                {"[^a]", "b", false}, {"[a-]", "-", true}, {"[-a]", "-", true}, {"[c-a]", "b", false}, {"[a-c-e]", "-", true},
                {"[a-c-e]", "d", false}, {"[[:alpha:]]", "q", false}, {"[[:alpha:]]", "a]", true}, {"[[.a.]]", "a", false},
                {"[a-z][0", "a[0", true}, {"[*]", "*", true}, {"[*]", "a", false}, {"[?]x", "?x", true},
                // a backslash stands for itself, and a character is a byte
                {"\\*", "\\x", true}, {"\\*", "*", false}, {"[a\\]b]", "\\b]", true}, {"?", "\xc3\xa9", false}, {"??", "\xc3\xa9", true},
                {"[\xc3\xa9]", "\xa9", true}, {"*\xc3\xa9", "caf\xc3\xa9", true}};
  for (const auto& [glob, text, match] : golden) {
    INFO(glob << " and " << text);
    CHECK(glob_match(glob, text) == match);
  }
  CHECK_FALSE(glob_match("a*a*a*a*a*a*a*a*b", std::string(10'000, 'a')));
  CHECK(glob_match("", ""));
  CHECK_FALSE(glob_match(std::string(60, '*') + "b", std::string(5000, 'a')));
}

TEST_CASE("carets stand below what is wide or has no width") {
  CHECK(columns_of("abc é") == 5);
  CHECK(columns_of("😀日本") == 6);
  CHECK(columns_of("e\xcc\x81") == 1);
  CHECK(columns_of("") == 0);
}

TEST_CASE("long texts keep their ends", "[words]") {
  CHECK(shortened("odrpo-gini-median(grpo), votes=8", 40) == "odrpo-gini-median(grpo), votes=8");
  CHECK(shortened("odrpo-gini-median(grpo), votes=8", 20) == "odrpo-gini…, votes=8");
  CHECK(shortened("日本日本日", 8) == "日本…日");
  CHECK(shortened("abcdef", 1) == "…");
  CHECK(shortened("abcdef", 0).empty());
  for (std::size_t columns = 0; columns < 40; ++columns) CHECK(columns_of(shortened("a日e\xcc\x81😀 plain text\xff and more", columns)) <= columns);
}

TEST_CASE("numbers are written in their shortest exact form") {
  CHECK(number_text(0.03) == "0.03");
  CHECK(number_text(1) == "1");
  CHECK(number_text(1e-6) == "1e-06");
  CHECK(number_text(0.1 + 0.2) == "0.30000000000000004");
  CHECK(count_text(1e9) == "1,000,000,000");
  CHECK(count_text(999) == "999");
  CHECK(count_text(1000) == "1,000");
  CHECK(count_text(3.3e17) == "3.3e+17");
}

TEST_CASE("sizes have three digits, times two, in the largest unit of which there is about one") {
  CHECK(bytes_text(0) == "0 B");
  CHECK(bytes_text(999) == "999 B");
  CHECK(bytes_text(1000) == "0.977 KiB");
  CHECK(bytes_text(1024) == "1 KiB");
  CHECK(bytes_text(999 * 1024) == "999 KiB");
  CHECK(bytes_text(1000 * 1024) == "0.977 MiB");
  CHECK(bytes_text(3.5 * (1 << 30)) == "3.5 GiB");
  CHECK(bytes_text(7 * 1125899906842624.0) == "7 PiB");
  CHECK(seconds_text(0.0123) == "12 ms");
  CHECK(seconds_text(0.0994) == "99 ms");
  CHECK(seconds_text(0.0995) == "0.1 s");
  CHECK(seconds_text(99.4) == "99 s");
  CHECK(seconds_text(99.5) == "1.7 min");
  CHECK(seconds_text(5969) == "99 min");
  CHECK(seconds_text(5970) == "1.66 h");
  CHECK(seconds_text(360000) == "100 h");
}

TEST_CASE("user text is safe to print") {
  CHECK(shown("plain é") == "plain é");
  CHECK(shown("a\x1b[31m\n") == "a\\x1b[31m\\x0a");
  CHECK(shown("\xc2\x9b"
              "31m") == "\\u009b31m");
  CHECK(shown("\xff") == "\\xff");
  CHECK(shown(std::string(100, 'x'), 10) == "xxxxxxxxxx...");
  CHECK(is_name("a"));
  CHECK(is_name("A.b_c-9"));
  for (const auto* bad : {"", ".a", "-a", "a/b", "a b", "é"}) CHECK_FALSE(is_name(bad));
  CHECK(is_name(std::string(64, 'a')));
  CHECK_FALSE(is_name(std::string(65, 'a')));
}

TEST_CASE("the vocabulary lists every catalogue, with defaults inside their ranges") {
  std::size_t keys = 0;
  for (const auto& part : vocabulary()) {
    CHECK_FALSE(part.title.empty());
    CHECK((!part.entries.empty() || !part.keys.empty()));
    for (const auto& entry : part.entries) CHECK_FALSE((entry.word.empty() || entry.help.empty()));
    auto all = part.keys;
    for (const auto& entry : part.entries) all.insert(all.end(), entry.keys.begin(), entry.keys.end());
    for (const auto& key : all) {
      INFO(part.name << " " << key.key);
      ++keys;
      CHECK_FALSE(key.help.empty());
      if (key.type == "word") CHECK(std::any_of(key.words.begin(), key.words.end(), [&](const Choice& w) { return w.word == key.value; }));
      if (key.type == "number" && key.value != "unset") {
        CHECK(std::stod(key.value) >= std::get<double>(*key.min));
        CHECK(std::stod(key.value) <= std::get<double>(*key.max));
      }
      if (key.type == "integer" && key.value != "unset") {
        CHECK(std::stoll(key.value) >= std::get<std::int64_t>(*key.min));
        CHECK(std::stoll(key.value) <= std::get<std::int64_t>(*key.max));
      }
    }
  }
  CHECK(keys > 50);
}
