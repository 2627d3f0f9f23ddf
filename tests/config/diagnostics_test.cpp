// Checks how errors of a suite are printed: their order, the exit code of several, and the caret below a line that is cut.
#include "config/read/diagnostics.hpp"

#include <string>

#include "tests/catch.hpp"

using namespace odrpo;

namespace {

std::string repeated(const std::string& piece, int n) {
  std::string text;
  for (int i = 0; i < n; ++i) text += piece;
  return text;
}

/// The exit code and text of what finish() throws.
std::pair<Exit, std::string> thrown_by(const Diagnostics& errors) {
  try {
    errors.finish();
  } catch (const Failure& failure) {
    return {failure.code, failure.what()};
  }
  return {Exit::ok, ""};
}

/// What is printed of an error in this column of the only line.
std::string printed(const std::string& line, int column) {
  Diagnostics errors("f.toml", line, {});
  errors.add({0, 1, column}, "wrong");
  const std::string head = "f.toml:1:" + std::to_string(column) + ": error: wrong\n", text = thrown_by(errors).second;
  REQUIRE(text.starts_with(head));
  return text.substr(head.size());
}

}  // namespace

TEST_CASE("of several errors the first in the file gives the exit code, whichever was found first") {
  const std::vector<std::string> set{"x=1", "y=2"};
  Diagnostics errors("f.toml", "one\ntwo\nthree\n", set);
  CHECK(thrown_by(errors).first == Exit::ok);
  const std::string at_set = "--set 2: error: missing\n      | --set y=2", third = "f.toml:3:2: error: absent\n    3 | three\n      |  ^",
                    second = "g.csv:7:1: error: no number", first = "f.toml:1:1: error: wrong\n    1 | one\n      | ^";
  errors.add_file({2, 0, 0}, Exit::io, "missing");
  CHECK(thrown_by(errors) == std::pair(Exit::io, at_set));
  errors.add_file({0, 3, 2}, Exit::limits, "absent");
  CHECK(thrown_by(errors) == std::pair(Exit::limits, third + "\n" + at_set));
  errors.add_lines({0, 2, 1}, Exit::bad_input, second);
  CHECK(thrown_by(errors) == std::pair(Exit::bad_input, second + "\n" + third + "\n" + at_set));
  errors.add({0, 1, 1}, "wrong");
  CHECK(thrown_by(errors) == std::pair(Exit::suite, first + "\n" + second + "\n" + third + "\n" + at_set));
}

TEST_CASE("a long line is cut around the column, and the caret stands below that column") {
  const std::string digits = "0123456789", line = repeated(digits, 15), margin = "    1 | ", below = "\n      | ";
  const auto caret = [&](std::size_t columns) { return below + std::string(columns, ' ') + "^"; };
  CHECK(printed(line, 1) == margin + repeated(digits, 10) + caret(0));
  CHECK(printed(line, 67) == margin + repeated(digits, 10) + caret(66));
  CHECK(printed(line, 68) == margin + "..." + line.substr(17, 100) + caret(3 + 50));
  CHECK(printed(line, 121) == margin + "..." + line.substr(70) + caret(3 + 50));
  CHECK(printed(line, 151) == margin + "..." + line.substr(100) + caret(3 + 50));
  CHECK(printed(line.substr(0, 100), 91) == margin + line.substr(0, 100) + caret(90));
  CHECK(printed("abc", 6) == margin + "abc" + caret(5));  // behind the end
  // characters of two bytes, of two columns, a tab and a control character before the column
  const std::string odd = repeated("\xc3\xa9", 70) + repeated("\xe6\xbc\xa2", 18) + "\t\x01\"!" + repeated("y", 20);
  CHECK(printed(odd, 92) == margin + "..." + repeated("\xc3\xa9", 29) + repeated("\xe6\xbc\xa2", 18) + "  \\x01\"!" + repeated("y", 20) +
                                caret(3 + 29 + 2 * 18 + 2 + 4 + 1));
}
