// Bad suites: exit code, line and column, and message of each are on the pages, beside near misses; and how several errors, and long lines, are printed.
#include <string>

#include "config/read/tree.hpp"
#include "tests/catch.hpp"
#include "tests/config/refusals.hpp"

using namespace odrpo;

TEST_CASE("every bad suite is refused with its code, place and reason, all errors in one pass", "[pages]") { check_suites("suites"); }
TEST_CASE("confusion matrices that are none are refused at the row or entry", "[pages]") { check_suites("confusion"); }
TEST_CASE("raters that contradict themselves are refused", "[pages]") { check_suites("raters"); }
TEST_CASE("groups that a form cannot compare are refused where it is named", "[pages]") { check_suites("groups"); }
TEST_CASE("conventions that a system does not have are refused with the reason", "[pages]") { check_suites("conventions"); }
TEST_CASE("keys of [learn] that would have no effect are refused", "[pages]") { check_suites("learn"); }
TEST_CASE("keys of texts' judges, transformers and hacking that would have no effect are refused", "[pages]") { check_suites("idle"); }
TEST_CASE("worlds whose responses are all equally good are refused", "[pages]") { check_suites("worlds"); }
TEST_CASE("bad limits of [gate] are refused at their place", "[pages]") { check_suites("gate"); }
TEST_CASE("weights and norms written as formulas: every mistake is told at its character", "[pages]") { check_suites("formulas"); }
TEST_CASE("models that cannot be", "[pages]") { check_suites("models"); }
TEST_CASE("every mistake in zip is told at its place, and what goes together is asked of each entry alone", "[pages]") { check_suites("zip"); }
TEST_CASE("toy-lm: what cannot be combined is refused with the reason", "[pages]") { check_suites("toy-lm"); }

TEST_CASE("twenty errors are told and the rest is counted") {
  std::string text = small_suite + "[learn]\n";
  for (int i = 0; i < 30; ++i) text += "zz" + std::to_string(i) + " = 1\n";
  const auto r = refusal(text);
  CHECK(r.has("bad.toml:25:1"));
  CHECK_FALSE(r.has("bad.toml:26:1"));
  CHECK(r.message.ends_with("\nand 10 more"));
}

namespace {

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
  CHECK(printed(line, 1) == margin + line.substr(0, 68) + caret(0));
  CHECK(printed(line, 46) == margin + line.substr(0, 68) + caret(45));
  CHECK(printed(line, 47) == margin + "..." + line.substr(12, 68) + caret(3 + 34));
  CHECK(printed(line, 121) == margin + "..." + line.substr(86) + caret(3 + 34));
  CHECK(printed(line, 151) == margin + "..." + line.substr(116) + caret(3 + 34));
  CHECK(printed(line.substr(0, 68), 61) == margin + line.substr(0, 68) + caret(60));
  CHECK(printed("abc", 6) == margin + "abc" + caret(5));  // behind the end
  // characters of two bytes, of two columns, a tab and a control character before the column
  const std::string odd = repeated("\xc3\xa9", 70) + repeated("\xe6\xbc\xa2", 18) + "\t\x01\"!" + repeated("y", 20);
  CHECK(printed(odd, 92) == margin + "..." + repeated("\xc3\xa9", 13) + repeated("\xe6\xbc\xa2", 18) + "  \\x01\"!" + repeated("y", 20) +
                                caret(3 + 13 + 2 * 18 + 2 + 4 + 1));
}
