// Reads rows of files of scores: CSV and TSV with a header, JSON lines.
#include "results/scores/rows.hpp"

#include <algorithm>
#include <limits>

#include "kernels/shared/words.hpp"
#include "kernels/system/text.hpp"

namespace odrpo {

std::uint64_t hash_of(std::string_view text, std::uint64_t hash) {
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}
namespace {

bool same_letter(char a, char b) { return a == b || ((a ^ b) == 32 && (a | 32) >= 'a' && (a | 32) <= 'z'); }
bool same_but_case(std::string_view a, std::string_view b) { return std::equal(a.begin(), a.end(), b.begin(), b.end(), same_letter); }

/// The whole number that a text spells, without the spaces around it.
std::optional<long long> whole_number(std::string_view text) { return number_from<long long>(trimmed(text, " ")); }

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
  std::string_view column = trimmed(text.substr(0, sign), " ");
  if (const auto move = column.find_last_of("+-"); column.starts_with('(') && column.ends_with(')') && move != std::string_view::npos) {
    const auto shift = whole_number(column.substr(move + 1, column.size() - move - 2));
    if (!shift) return {};
    q.shift = column[move] == '-' ? -*shift : *shift;
    column = trimmed(column.substr(1, move - 1), " ");
  }
  q.divisor = whole_number(text.substr(sign + 1)).value_or(0);
  if (column.empty() || q.divisor < 1) return {};
  q.column = column;
  return q;
}

WideColumns wide_columns(const std::vector<std::string>& names, const ScoreColumns& columns, long line, CsvErrors& errors) {
  WideColumns wide;
  const std::string& wanted = columns.score;
  const auto stands = [&](const std::string& name) { return std::find(names.begin(), names.end(), name) != names.end(); };
  wide.are_judges = columns.rater == judges_are_columns && !stands(columns.rater);
  const bool one = stands(wanted);
  if (one && !wide.are_judges) return wide;
  const auto add_once = [&](const std::string& name) {
    if (std::find(wide.names.begin(), wide.names.end(), name) == wide.names.end()) wide.names.push_back(name);
  };
  const auto is_other = [&](const std::string& name) {  // a field's column, or one that has its usual name
    for (std::size_t f = 0; f < score_fields; ++f)
      if (f != score_field && (name == column_of(columns, f) || name == column_of(ScoreColumns{}, f))) return true;
    return false;
  };
  for (const std::string& part : one ? std::vector<std::string>() : split(wanted, ',')) {
    const std::string name(trimmed(part));
    if (name.find_first_of("*?") == std::string::npos) {
      if (name != wanted) add_once(name);
      continue;
    }
    for (const std::string& column : names)
      if (glob_match(name, column) && !is_other(column)) add_once(column);
    if (wide.names.empty())
      errors.add(line, 1, "no column is called like " + shown_cell(name) + "; found " + joined(names, [](const std::string& n) { return shown_cell(n); }));
  }
  if (wide.are_judges && !wide.any())
    errors.add(line, 1, "the judges are the columns of scores (" + std::string(columns.named_by) + "rater), and " + shown_cell(wanted) + " names one: name them all, such as 'a,b,c' or 'score_*'");
  return wide;
}

CsvScores::CsvScores(std::string_view text, char separator, const ScoreColumns& columns, CsvErrors& errors)
    : reader_(text, separator), separator_(separator) {
  place_.fill(none);
  if (!reader_.next(fields_, errors))
    errors.add(1, 1, "nothing in it; wanted a header " + shown_list(wanted(columns)) + " and a row for each score");
  if (errors.any()) return;
  header_line_ = fields_[0].line;
  columns_ = fields_.size();
  reader_.header_has(columns_);
  check_csv_header(fields_, "the first line must name the columns " + shown_list(wanted(columns)), errors, separator);
  if (!errors.any()) find_columns(columns, errors);
}

std::vector<std::string> CsvScores::notes() const {
  std::vector<std::string> notes;
  if (std::string note = reader_.skipped_note(); !note.empty()) notes.push_back(std::move(note));
  return notes;
}

void CsvScores::find_columns(const ScoreColumns& columns, CsvErrors& errors) {
  std::string found = joined(fields_, [](const CsvField& field) { return shown_cell(csv_text(field)); });
  if (found.size() > 400) found = std::to_string(fields_.size()) + " other columns";
  std::vector<std::string> names;
  for (const CsvField& field : fields_) names.push_back(csv_text(field));
  wide_ = wide_columns(names, columns, header_line_, errors);
  for (const std::string& name : wide_.names) {
    const auto at = std::find(names.begin(), names.end(), name);
    if (at == names.end()) errors.add(header_line_, 1, "no column " + shown_cell(name) + "; found " + found);
    wide_places_.push_back(static_cast<std::size_t>(at - names.begin()));
  }
  for (std::size_t f = 0; f < score_fields; ++f) {
    std::string name = column_of(columns, f);
    if (wide_.any() && f == score_field) {
      place_[f] = of_wide;
      continue;
    }
    if (wide_.are_judges && f == rater_field) {
      place_[f] = of_wide;
      continue;
    }
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
  if (!wide_.any() || wide_.are_judges) return;
  if (has(sample_field))
    errors.add(header_line_, 1, "several columns of scores are calls, and " + shown_cell(columns.sample) + " numbers calls too: " +
                                    without_samples_hint(columns));
  place_[sample_field] = of_wide;
}

void CsvScores::take_score(ScoreRow& row) {
  const CsvField& cell = fields_[wide_places_[next_wide_]];
  row.field[score_field] = cell;
  row.field[wide_.are_judges ? rater_field : sample_field] = {wide_.names[next_wide_], cell.line, cell.column, false};
  next_wide_ = (next_wide_ + 1) % wide_places_.size();
}

bool CsvScores::next(ScoreRow& row, CsvErrors& errors) {
  if (next_wide_ > 0) return take_score(row), true;
  const std::size_t before = errors.size();
  if (!reader_.next(fields_, errors)) return false;
  row.line = fields_[0].line;
  if (errors.size() > before) return true;
  if (!check_field_count(fields_, columns_, errors)) return true;
  for (std::size_t f = 0; f < score_fields; ++f)
    if (has(f) && place_[f] != of_wide) row.field[f] = fields_[place_[f]];
  if (wide_.any()) take_score(row);
  return true;
}

}  // namespace odrpo
