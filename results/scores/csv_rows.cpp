// The header of a table of scores, and its rows.
#include "results/scores/row.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

namespace odrpo {
namespace {

bool same_letter(char a, char b) { return a == b || ((a ^ b) == 32 && (a | 32) >= 'a' && (a | 32) <= 'z'); }
bool same_but_case(std::string_view a, std::string_view b) { return std::equal(a.begin(), a.end(), b.begin(), b.end(), same_letter); }

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

bool whole_number(std::string_view text, long long& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

std::string wanted(const ScoreColumns& c) { return c.prompt + "," + c.response + "," + (c.sample.empty() ? "" : c.sample + ",") + c.score; }

}  // namespace

long long Quotient::of(long long value) const {
  constexpr long long most = std::numeric_limits<long long>::max(), least = std::numeric_limits<long long>::min();
  value = shift > 0 ? std::min(value, most - shift) + shift : std::max(value, least - shift) + shift;
  const bool below = value % divisor < 0;
  return remainder ? value % divisor + (below ? divisor : 0) : value / divisor - below;
}

Quotient parse_quotient(std::string_view text) {
  const auto sign = text.find_last_of("/%");
  if (sign == std::string_view::npos) return {};
  Quotient q;
  q.remainder = text[sign] == '%';
  std::string_view column = trimmed(text.substr(0, sign));
  if (const auto move = column.find_last_of("+-"); column.starts_with('(') && column.ends_with(')') && move != std::string_view::npos) {
    if (!whole_number(trimmed(column.substr(move + 1, column.size() - move - 2)), q.shift)) return {};
    if (column[move] == '-') q.shift = -q.shift;
    column = trimmed(column.substr(1, move - 1));
  }
  if (column.empty() || !whole_number(trimmed(text.substr(sign + 1)), q.divisor) || q.divisor < 1) return {};
  q.column = column;
  return q;
}

CsvScores::CsvScores(std::string_view text, char separator, const ScoreColumns& columns, CsvErrors& errors) : reader_(text, separator) {
  place_.fill(none);
  if (!reader_.next(fields_, errors))
    errors.add(1, 1, "nothing in it; wanted a header " + shown_list(wanted(columns)) + " and a row for each score");
  if (errors.any()) return;
  header_line_ = fields_[0].line;
  comments_above_ = reader_.row_comments();
  columns_ = fields_.size();
  check_csv_header(fields_, "the first line must name the columns " + shown_list(wanted(columns)), errors, separator);
  if (!errors.any()) find_columns(columns, errors);
}

void CsvScores::find_columns(const ScoreColumns& columns, CsvErrors& errors) {
  std::string found;
  for (const CsvField& field : fields_) found += (found.empty() ? "" : ", ") + shown_cell(csv_text(field));
  if (found.size() > 400) found = std::to_string(fields_.size()) + " other columns";
  for (std::size_t f = 0; f < score_fields; ++f) {
    std::string name = column_of(columns, f);
    if (name.empty()) {
      if (!may_lack(columns, f)) errors.add(header_line_, 1, "a column without a name is asked for");
      continue;
    }
    const auto stands = [&](const std::string& n) {
      return std::any_of(fields_.begin(), fields_.end(), [&](const CsvField& field) { return csv_text(field) == n; });
    };
    if (const Quotient q = parse_quotient(name); f == rater_field && q.divisor > 0 && !stands(name)) quotient_ = q, name = q.column;
    std::size_t times = 0;
    for (std::size_t i = 0; i < fields_.size(); ++i) {
      if (csv_text(fields_[i]) != name) continue;
      if (++times > 1) errors.add(header_line_, fields_[i].column, "column " + shown_cell(name) + " stands twice");
      else place_[f] = i;
    }
    if (times > 0) continue;
    const bool capitals =
        std::any_of(fields_.begin(), fields_.end(), [&](const CsvField& field) { return same_but_case(csv_text(field), name); });
    if (may_lack(columns, f) && !(capitals && f == sample_field)) continue;
    errors.add(header_line_, 1,
               "no column " + shown_cell(name) + "; found " + found + (capitals ? " (capital and small letters differ)" : "") +
                   naming_hint(columns, f));
  }
}

bool CsvScores::next(ScoreRow& row, CsvErrors& errors) {
  const std::size_t before = errors.size();
  if (!reader_.next(fields_, errors)) return false;
  row.line = fields_[0].line;
  if (errors.size() > before) return true;
  if (fields_.size() != columns_) {
    const CsvField& at = fields_[std::min(columns_, fields_.size() - 1)];
    errors.add(
        at.line, at.column,
        std::to_string(fields_.size()) + (fields_.size() == 1 ? " field" : " fields") + ", but the header has " + std::to_string(columns_));
    return true;
  }
  for (std::size_t f = 0; f < score_fields; ++f)
    if (has(f)) row.field[f] = fields_[place_[f]];
  return true;
}

}  // namespace odrpo
