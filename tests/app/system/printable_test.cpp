// What a terminal must not obey is escaped, everything else is left as it is; lines of 80 columns: what is broken where.
#include <algorithm>
#include <string>

#include "kernels/shared/utf8.hpp"
#include "kernels/system/terminal.hpp"
#include "kernels/system/text.hpp"
#include "tests/catch.hpp"

using namespace odrpo;

TEST_CASE("printable") {
  for (const char* plain : {"", "a b~", "tab\tand\nline", "ä €𝄞 משהו", "\\x1b"}) CHECK(printable(plain) == plain);
  CHECK(printable("\x1b[2J\x7f\r") == "\\x1b[2J\\x7f\\x0d");
  CHECK(printable("\xc2\x9b"
                  "1m") == "\\u009b1m");
  CHECK(printable("a\u202egnp.exe") == "a\\u202egnp.exe");
  CHECK(printable("\u2066\u2069\u200f\u061c\u2028") == "\\u2066\\u2069\\u200f\\u061c\\u2028");
  CHECK(printable(std::string("a\0b", 3)) == "a\\x00b");
}

TEST_CASE("characters that cannot be seen are escaped") {
  CHECK(printable("\ufeffa\u200bb\u2060") == "\\ufeffa\\u200bb\\u2060");
  CHECK(printable(printable("\u202e\xff")) == printable("\u202e\xff"));  // what is escaped stays
}

TEST_CASE("bytes that are no UTF-8 are escaped one by one") {
  CHECK(printable("a\xff\xfe.h5") == "a\\xff\\xfe.h5");
  CHECK(printable("\xe2\x82") == "\\xe2\\x82");                    // cut short
  CHECK(printable("\xc0\xaf") == "\\xc0\\xaf");                    // longer than it need be
  CHECK(printable("\xe0\x80\xaf") == "\\xe0\\x80\\xaf");           // the same in three bytes
  CHECK(printable("\xed\xa0\x80") == "\\xed\\xa0\\x80");           // half of a pair
  CHECK(printable("\xf4\x90\x80\x80") == "\\xf4\\x90\\x80\\x80");  // beyond the last character
  CHECK(printable("\xe2(\xa1") == "\\xe2(\\xa1");
}

TEST_CASE("one line stays one line") {
  CHECK(printable_line("a\nb: OK\tc") == "a\\x0ab: OK\tc");
  CHECK(printable_line("ä") == "ä");
}

TEST_CASE("text is broken at blanks and at line ends") {
  CHECK(broken("a bb ccc", 4) == std::vector<std::string>{"a bb", "ccc"});
  CHECK(broken("a\nbb", 80) == std::vector<std::string>{"a", "bb"});
  CHECK(broken("abcdefgh i", 3) == std::vector<std::string>{"abcdefgh", "i"});                 // a long word keeps together
  CHECK(broken("\u00e4\u00e4 \u00e4", 4) == std::vector<std::string>{"\u00e4\u00e4 \u00e4"});  // code points, not bytes
}

TEST_CASE("columns: the last cell is broken, a wide cell pushes it to the next line") {
  CHECK(rows_text({{"a", "1"}, {"long", "2"}}, 2) == "  a     1\n  long  2\n");
  CHECK(rows_text({}, 2).empty());
  const std::string wide(29, 'w'), words = "many words that do not fit into what is left of this line of eighty columns, surely";
  const std::string text = rows_text({{"a", wide, "x"}, {"b", "v", words}}, 0);
  CHECK(text.find("a  " + wide + "\n") != std::string::npos);
  std::size_t begin = 0;
  for (std::size_t end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
    CHECK(code_points(text.substr(begin, end - begin)) <= page_width());
    CHECK((end == begin || text[end - 1] != ' '));
  }
  CHECK(begin == text.size());
}

TEST_CASE("paragraphs hang") {
  CHECK(paragraph(std::string(70, 'a') + " " + std::string(20, 'b'), 2, 4) ==
        "  " + std::string(70, 'a') + "\n      " + std::string(20, 'b') + "\n");
}
