// Reads, compares and rewrites golden pages.
#include "tests/page.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <regex>
#include <sstream>
#include <vector>

#include "tests/catch.hpp"
#include "tests/source_path.hpp"

namespace {

std::string contents(const std::string& page) {
  std::ifstream file(source_path("tests/" + page), std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write(const std::string& page, const std::string& text) { std::ofstream(source_path("tests/" + page), std::ios::binary) << text; }

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  if (!text.empty() && !text.ends_with('\n')) lines.back() += " (no end of line)";
  return lines;
}

/// Three lines before the first difference, then at most 40 of each text up to the last difference.
std::string difference(const std::string& expected, const std::string& found) {
  constexpr std::ptrdiff_t context = 3, most = 40;
  const std::vector<std::string> old_lines = lines_of(expected), new_lines = lines_of(found);
  const auto [a, b] = std::mismatch(old_lines.begin(), old_lines.end(), new_lines.begin(), new_lines.end());
  const auto tail = std::mismatch(old_lines.rbegin(), std::make_reverse_iterator(a), new_lines.rbegin(), std::make_reverse_iterator(b));
  std::string text = "@@ line " + std::to_string(a - old_lines.begin() + 1) + " @@\n";
  const auto add = [&](const char* mark, auto from, auto to) {
    for (auto line = from; line != to && line - from < most; ++line) text += mark + *line + "\n";
  };
  add(" ", a - std::min(context, a - old_lines.begin()), a);
  add("-", a, tail.first.base());
  add("+", b, tail.second.base());
  return text;
}

/// Compares the texts; true if the page has to be written: they differ, and an update is asked for.
bool differs(const std::string& page, const std::string& expected, const std::string& found) {
  const bool update = std::getenv("ODRPO_UPDATE_PAGES") != nullptr;
  if (found == expected || update) CHECK(true);
  else FAIL_CHECK("tests/" << page << " differs (-) from what is made now (+); if it should: cmake --build BUILD --target update_pages\n"
                           << difference(expected, found));
  return update && found != expected;
}

}  // namespace

void check_page(const std::string& page, const std::string& text) {
  if (differs(page, contents(page), text)) write(page, text);
}

void check_cases(const std::string& page, const std::function<std::string(const std::string& input)>& answer) {
  const std::string all = contents(page), begin = "=== ", middle = "\n---\n";
  bool changed = false;
  std::size_t at = all.starts_with(begin) ? 0 : all.find("\n" + begin) + 1;
  std::string made = all.substr(0, at);
  REQUIRE(all.substr(at).starts_with(begin));
  while (at < all.size()) {
    const std::size_t next = std::min(all.find("\n" + begin, at), all.size() - 1) + 1;
    const std::string one = all.substr(at, next - at);
    const std::size_t input = one.find('\n') + 1, input_end = std::min(one.find(middle, input - 1), one.size() - 1) + 1;
    INFO(one.substr(0, input - 1));
    const std::string again = one.substr(0, input_end) + middle.substr(1) + answer(one.substr(input, input_end - input));
    changed |= differs(page, one, again);
    made += again;
    at = next;
  }
  if (changed) write(page, made);
}

std::string rounded(const std::string& text) {
  static const std::regex number("-?[0-9]+\\.[0-9]+(e[+-][0-9]+)?");
  std::string made, rest = text;
  for (std::smatch found; std::regex_search(rest, found, number); rest = found.suffix()) {
    std::string digits = found.str();
    if (std::count_if(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; }) > 12) {
      char ten[32];
      std::snprintf(ten, sizeof ten, "%.10g", std::stod(digits));
      digits = ten;
    }
    made += found.prefix().str() + digits;
  }
  return made + rest;
}
