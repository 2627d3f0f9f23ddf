// Reads rows of files of scores: CSV and TSV with a header, JSON lines.
#include "results/scores/rows.hpp"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "kernels/shared/words.hpp"
#include "kernels/system/text.hpp"

namespace odrpo {
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
  std::string found = joined(fields_, [](const CsvField& field) { return shown_cell(csv_text(field)); });
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

// JSON lines: one object a line is one row. Other shapes of JSON are refused.

namespace {

using json = nlohmann::json;

/// Keeps the values of the wanted keys of an object as text. (The interface of json::sax_parse.)
class Keeper {
 public:
  enum class Kind : char { absent, null, text, bad };
  Keeper(const std::array<std::string, score_fields>& keys, std::array<std::string, score_fields>& values) : keys_(keys), values_(values) {}

  bool null() { return keep(Kind::null, ""); }
  bool boolean(bool b) { return keep(Kind::text, b ? "true" : "false"); }
  bool number_integer(json::number_integer_t n) { return keep(Kind::text, std::to_string(n)); }
  bool number_unsigned(json::number_unsigned_t n) { return keep(Kind::text, std::to_string(n)); }
  bool number_float(json::number_float_t, const std::string& digits) { return keep(Kind::text, digits); }
  bool string(std::string& s) { return keep(Kind::text, s); }
  bool binary(json::binary_t&) { return false; }
  bool start_object(std::size_t) { return open(true, "an object"); }
  bool end_object() { return close(); }
  bool start_array(std::size_t) { return open(false, "a list"); }
  bool end_array() { return close(); }
  bool key(std::string& k) {
    if (depth > 1) return true;
    wanted_ = 0;
    for (std::size_t f = 0; f < score_fields; ++f) {
      if (keys_[f] != k || k.empty()) continue;
      if (kind[f] != Kind::absent && twice.empty()) twice = k;
      wanted_ |= 1u << f;
    }
    if (list_keys) add_item(names, shown_cell(k));
    return true;
  }
  bool parse_error(std::size_t place, const std::string&, const json::exception&) {
    error_at = std::max<std::size_t>(place, 1);
    return false;
  }

  std::array<Kind, score_fields> kind{};
  std::array<const char*, score_fields> shape{};  ///< where kind is bad
  std::string twice, names;                       ///< a key that stands twice; all keys, if `list_keys`
  bool list_keys = false, is_object = false;
  int depth = 0;
  std::size_t error_at = 0;

 private:
  bool keep(Kind k, std::string_view text) {
    if (depth != 1) return true;
    for (std::size_t f = 0; f < score_fields; ++f)
      if (wanted_ >> f & 1) kind[f] = k, values_[f] = text;
    return true;
  }
  bool open(bool object, const char* what) {
    if (depth == 0) is_object = object;
    if (depth == 1)
      for (std::size_t f = 0; f < score_fields; ++f)
        if (wanted_ >> f & 1) kind[f] = Kind::bad, shape[f] = what;
    ++depth;
    return true;
  }
  bool close() { return --depth, true; }
  const std::array<std::string, score_fields>& keys_;
  std::array<std::string, score_fields>& values_;
  unsigned wanted_ = 0;  ///< a bit for each field of the current key
};

/// Column of the last place of a key in its line, 1-based; 1 where it is spelt in another way.
long column_in(std::string_view line, const std::string& key) {
  const auto at = line.rfind('"' + key + '"');
  return at == std::string_view::npos ? 1 : static_cast<long>(at) + 1;
}

}  // namespace

JsonScores::JsonScores(std::string_view text, const ScoreColumns& columns, CsvErrors& errors) : text_(text) {
  if (text_.starts_with("\xef\xbb\xbf")) text_.remove_prefix(3);
  for (std::size_t f = 0; f < score_fields; ++f) {
    key_[f] = column_of(columns, f);
    optional_[f] = may_lack(columns, f);
    hint_[f] = naming_hint(columns, f);
    has_[f] = !key_[f].empty();
    if (!has_[f] && !optional_[f]) errors.add(1, 1, "a key without a name is asked for");
  }
  const std::string_view line = next_line();
  first_line_ = std::max(line_, 1l);
  if (line.empty())
    errors.add(1, 1,
               "nothing in it; wanted an object a line, with the keys " +
                   shown_list(key_[prompt_field] + ", " + key_[response_field] + ", " + key_[score_field]));
  if (line.starts_with('[')) errors.add(line_, 1, "a JSON list: write each of its objects in a line of its own (JSON lines; jq -c '.[]')");
  if (errors.any()) return;

  Quotient quotient = parse_quotient(key_[rater_field]);
  Keeper first(key_, value_);
  first.list_keys = true;
  json::sax_parse(line.begin(), line.end(), &first);
  if (quotient.divisor > 0 && first.kind[rater_field] == Keeper::Kind::absent) quotient_ = quotient, key_[rater_field] = quotient.column;
  for (std::size_t f = 0; f < score_fields; ++f)
    if (optional_[f] && first.kind[f] == Keeper::Kind::absent)
      has_[f] = has_[f] && f == gold_field && text_.find('"' + key_[f] + '"') != std::string_view::npos;
  at_ = 0, line_ = 0;
}

std::string_view JsonScores::next_line() {
  while (at_ < text_.size()) {
    const std::size_t begin = at_, end = std::min(text_.find('\n', at_), text_.size());
    at_ = end + 1;
    ++line_;
    std::string_view line = text_.substr(begin, end - begin);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.find_first_not_of(" \t") != std::string_view::npos) return line;
  }
  return {};
}

bool JsonScores::next(ScoreRow& row, CsvErrors& errors) {
  const std::string_view line = next_line();
  if (line.empty()) return false;
  row.line = line_;
  read(line, row, errors);
  first_ = false;
  return true;
}

bool JsonScores::read(std::string_view line, ScoreRow& row, CsvErrors& errors) {
  Keeper keeper(key_, value_);
  keeper.list_keys = first_;
  const bool sound = json::sax_parse(line.begin(), line.end(), &keeper);
  const auto tell = [&](long column, const std::string& what) { return errors.add(line_, column, what), false; };
  if (!sound || keeper.error_at > 0)
    return tell(static_cast<long>(std::min(std::max<std::size_t>(keeper.error_at, 1), line.size() + 1)), "this line is no JSON object");
  if (!keeper.is_object) return tell(1, "an object is wanted in each line");
  if (!keeper.twice.empty()) return tell(column_in(line, keeper.twice), "key " + shown_cell(keeper.twice) + " stands twice");
  bool good = true;
  for (std::size_t f = 0; f < score_fields; ++f) {
    row.field[f] = {};
    if (!has_[f] && !key_[f].empty() && keeper.kind[f] != Keeper::Kind::absent)
      good = tell(column_in(line, key_[f]), "key " + shown_cell(key_[f]) + " stands here, but not on line " + std::to_string(first_line_));
    if (!has_[f]) continue;
    const long column = column_in(line, key_[f]);
    if (keeper.kind[f] == Keeper::Kind::absent && f != gold_field) {
      const bool told =
          std::any_of(key_.begin(), key_.begin() + static_cast<std::ptrdiff_t>(f), [&](const std::string& k) { return k == key_[f]; });
      if (!told)
        errors.add(line_, 1, "no key " + shown_cell(key_[f]), (keeper.names.empty() ? "" : "; found " + keeper.names) + hint_[f]),
            good = false;
    } else if (keeper.kind[f] == Keeper::Kind::bad) {
      good = tell(column, shown_list(key_[f]) + " is " + keeper.shape[f] + ": a number or a text is wanted");
    } else {
      if (keeper.kind[f] != Keeper::Kind::text) value_[f].clear();
      row.field[f] = {value_[f], line_, column, false};
    }
  }
  return good;
}

}  // namespace odrpo
