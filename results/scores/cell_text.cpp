// Implements cell_text.hpp.
#include "results/scores/cell_text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "kernels/shared/utf8.hpp"
#include "kernels/system/text.hpp"

namespace odrpo {
namespace {

constexpr const char* decimal_comma = "has a decimal comma: write a point";

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_blank(std::string_view text) {
  constexpr std::array<std::string_view, 5> words = {"na", "n/a", "nan", "null", "none"};
  const auto same = [&](std::string_view word) {
    return std::equal(text.begin(), text.end(), word.begin(), word.end(), [](char a, char b) { return (a | 32) == (b | 32); });
  };
  return text.empty() || std::any_of(words.begin(), words.end(), same);
}

struct Number {
  std::optional<double> value;
  bool too_large = false;
};
Number number_in(std::string_view text) {
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || end != text.data() + text.size()) return {};
  if (error == std::errc::result_out_of_range) return {std::nullopt, true};
  if (error != std::errc()) return {};
  return {value == 0 ? 0.0 : value};
}

/// Of a text with commas among its digits.
const char* comma_mistake(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  const auto comma = text.find(',');
  if (comma == std::string_view::npos || comma == 0) return nullptr;
  if (!std::all_of(text.begin(), text.end(), [](char c) { return is_digit(c) || c == ',' || c == '.'; })) return nullptr;
  const auto after = text.substr(comma + 1), group = after.substr(0, after.find_first_of(",."));
  if (group.size() == 3 && comma <= 3) return "has a thousands separator: write the digits alone";
  return !after.empty() && std::all_of(after.begin(), after.end(), is_digit) ? decimal_comma : nullptr;
}

}  // namespace

CellText read_cell(std::string_view text) {
  if (!text.empty() && text.size() <= 3 && std::all_of(text.begin(), text.end(), is_digit)) {  // nearly every score
    int value = 0;
    for (const char c : text) value = 10 * value + (c - '0');
    return {CellText::Kind::number, static_cast<double>(value)};
  }
  text = trimmed(text, " ");
  const auto first = text.empty() ? '\0' : static_cast<char>(text[0] | 32);
  if (text.empty() || first == 'n') {
    if (is_blank(text)) return {CellText::Kind::blank};
  }
  const Number number = number_in(text);
  if (number.too_large) return {.mistake = "is out of the range of numbers"};
  if (number.value && std::isfinite(*number.value)) return {CellText::Kind::number, *number.value};
  if (number.value) return {.mistake = "is no finite number: leave a missing value blank"};
  if (const auto slash = text.find('/'); slash != std::string_view::npos) {
    const Number value = number_in(trimmed(text.substr(0, slash), " ")), whole = number_in(trimmed(text.substr(slash + 1), " "));
    if (value.value && whole.value && std::isfinite(*value.value) && std::isfinite(*whole.value) && *whole.value > 0)
      return {CellText::Kind::fraction, *value.value, *whole.value};
  }
  return {.mistake = comma_mistake(text)};
}

CellText read_cell(std::string_view text, char separator, long& commas) {
  const CellText cell = read_cell(text);
  if (cell.kind != CellText::Kind::other || separator == ',' || separator == 0 || text.find(',') == std::string_view::npos) return cell;
  if (cell.mistake != decimal_comma && !text.starts_with("0,")) return cell;
  std::string point(text);
  std::replace(point.begin(), point.end(), ',', '.');
  const CellText read = read_cell(point);
  if (read.kind != CellText::Kind::number) return cell;
  ++commas;
  return read;
}

std::string commas_note(long commas) {
  return commas == 0 ? "" : std::to_string(commas) + (commas == 1 ? " number has" : " numbers have") + " a decimal comma";
}

MissingCodes::MissingCodes(const std::vector<std::string>& texts) {
  for (const std::string& text : texts) {
    const CellText cell = read_cell(text);
    if (cell.kind == CellText::Kind::number) numbers_.push_back(cell.value);
    else texts_.emplace_back(trimmed(text, " "));
  }
}

bool MissingCodes::has(const CellText& cell, std::string_view text) const {
  if (cell.kind == CellText::Kind::number) return std::any_of(numbers_.begin(), numbers_.end(), [&](double n) { return std::abs(n - cell.value) <= rounding_of_sums * std::abs(n); });
  return !texts_.empty() && std::find(texts_.begin(), texts_.end(), trimmed(text, " ")) != texts_.end();
}

double shortest_between(double least, double most) {
  double unit = 1;
  for (int digits = 0; digits < 17 && least < most; ++digits, unit *= 10) {
    const double rounded = std::round((least + (most - least) / 2) * unit) / unit;
    if (rounded >= least && rounded <= most) return rounded == 0 ? 0.0 : rounded;
  }
  return least;
}

}  // namespace odrpo
