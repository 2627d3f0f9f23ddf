// What a terminal must not obey is escaped, everything else is left as it is.
#include "kernels/shared/utf8.hpp"

#include <string>

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
