// Reads rows of scores from JSON: an object a line, or the objects of a list. Nested keys are named with points.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "kernels/system/text.hpp"
#include "results/scores/rows.hpp"

namespace odrpo {

JsonItems::JsonItems(std::string_view text) : text_(text) {
  if (text_.starts_with("\xef\xbb\xbf")) at_ = 3;
  const std::size_t begin = text_.find_first_not_of(" \t\r\n", at_);
  list_ = begin != std::string_view::npos && text_[begin] == '[';
  if (list_) move_to(begin + 1);
}

void JsonItems::move_to(std::size_t to) {
  for (std::size_t n = at_; n < to; ++n)
    if (text_[n] == '\n') ++line_, start_ = n + 1;
  at_ = to;
}

std::string_view JsonItems::next() {
  const std::size_t begin = text_.find_first_not_of(list_ ? " \t\r\n," : " \t\r\n", at_);
  if (begin == std::string_view::npos) return {};
  move_to(begin);
  if (list_ && text_[at_] == ']') {  // what stands behind the list is no row, and is refused as such
    list_ = false;
    move_to(at_ + 1);
    return next();
  }
  first_line_ = line_, first_column_ = static_cast<long>(at_ - start_) + 1;
  std::size_t end = at_;
  if (!list_) {
    end = std::min(text_.find('\n', at_), text_.size());
  } else {
    int depth = 0;
    bool quoted = false;
    for (; end < text_.size(); ++end) {
      const char c = text_[end];
      if (quoted) {
        if (c == '\\') ++end;
        else if (c == '"') quoted = false;
      } else if (c == '"') {
        quoted = true;
      } else if (c == '{' || c == '[') {
        ++depth;
      } else if (c == '}' || c == ']') {
        if (depth-- == 0) break;
      } else if (c == ',' && depth == 0) {
        break;
      }
    }
    end = std::min(std::max(end, at_ + 1), text_.size());  // a bracket too many is an item, and no object
  }
  const std::string_view item = trimmed(text_.substr(at_, end - at_));
  move_to(end);
  return item;
}

CellPlace JsonItems::place(std::string_view item, std::size_t offset) const {
  const std::string_view before = item.substr(0, std::min(offset, item.size()));
  const auto lines = std::count(before.begin(), before.end(), '\n');
  if (lines == 0) return {first_line_, first_column_ + static_cast<long>(before.size())};
  return {first_line_ + static_cast<long>(lines), static_cast<long>(before.size() - before.rfind('\n'))};
}

std::string without_bare(std::string_view text, std::initializer_list<std::string_view> words, std::string_view value) {
  std::string out;
  out.reserve(text.size() + text.size() / 8);
  bool quoted = false;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t taken = 1;
    if (quoted && text[i] == '\\') taken = 2;
    else if (text[i] == '"') quoted = !quoted;
    else if (!quoted && (text[i] == '-' || text[i] == 'I' || text[i] == 'N'))
      for (const std::string_view word : words)
        if (text.substr(i).starts_with(word)) {
          out += value, i += word.size(), taken = 0;
          break;
        }
    out += text.substr(std::min(i, text.size()), taken);
    i += taken;
  }
  return out;
}

namespace {

using json = nlohmann::json;

/// What a parse meets, with what it keeps of an object: the values of the wanted keys as text. A list of numbers and texts is kept as its JSON. (The
/// interface of json::sax_parse.)
class Keeper {
 public:
  enum class Kind : char { absent, null, text, list, bad };
  using Path = std::vector<std::string>;
  Keeper(const std::vector<Path>& paths, std::vector<std::string>& values) : paths_(paths), values_(values) { reset(); }
  /// Forgets what was met.
  void reset() {
    kind.assign(paths_.size(), Kind::absent), shape.assign(paths_.size(), nullptr), matched_.assign(paths_.size(), 0);
    twice.clear(), names.clear(), list_.clear();
    is_object = false, depth = list_depth_ = 0, error_at = 0, wanted_ = 0;
  }

  bool null() { return keep(Kind::null, "", "null"); }
  bool boolean(bool b) { return keep(Kind::text, b ? "true" : "false", b ? "true" : "false"); }
  bool number_integer(json::number_integer_t n) { return number(std::to_string(n)); }
  bool number_unsigned(json::number_unsigned_t n) { return number(std::to_string(n)); }
  bool number_float(json::number_float_t, const std::string& digits) { return number(digits); }
  bool string(std::string& s) {
    if (wanted_ == 0) return true;
    return keep(Kind::text, s, list_depth_ > 0 ? json(s).dump(-1, ' ', false, json::error_handler_t::replace) : s);
  }
  bool binary(json::binary_t&) { return false; }
  bool start_object(std::size_t) { return open("an object"); }
  bool end_object() { return close(); }
  bool start_array(std::size_t) {
    if (depth > 0 && list_depth_ == 0 && wanted_ != 0) {
      list_depth_ = depth + 1;
      list_ = "[";
    }
    return open("a list");
  }
  bool end_array() {
    close();
    if (list_depth_ == depth + 1) {
      list_depth_ = 0;
      keep(Kind::list, list_ + "]", "");
    }
    return true;
  }
  bool key(std::string& k) {
    if (list_depth_ > 0) return true;
    wanted_ = 0;
    const auto level = static_cast<std::size_t>(depth - 1);
    for (std::size_t f = 0; f < paths_.size(); ++f) {
      matched_[f] = std::min(matched_[f], level);
      if (matched_[f] != level || paths_[f].size() <= level || paths_[f][level] != k || k.empty()) continue;
      matched_[f] = level + 1;
      if (paths_[f].size() > level + 1) continue;
      if (kind[f] != Kind::absent && twice.empty()) twice = k;
      wanted_ |= std::uint64_t{1} << f;
    }
    if (list_keys && depth == 1) names.push_back(k);
    return true;
  }
  bool parse_error(std::size_t place, const std::string&, const json::exception&) {
    error_at = std::max<std::size_t>(place, 1);
    return false;
  }

  std::vector<Kind> kind;
  std::vector<const char*> shape;  ///< where kind is bad
  std::string twice;               ///< a key that stands twice
  std::vector<std::string> names;  ///< the keys of the object itself, if `list_keys`
  bool list_keys = false, is_object = false;
  int depth = 0;
  std::size_t error_at = 0;

 private:
  bool number(const std::string& digits) { return keep(Kind::text, digits, digits); }
  bool keep(Kind k, std::string_view text, std::string_view in_list) {
    if (list_depth_ == depth && list_depth_ > 0) {
      if (list_.size() > 1) list_ += ',';
      list_ += in_list;
      return true;
    }
    if (list_depth_ > 0) return true;
    for (std::size_t f = 0; f < paths_.size(); ++f)
      if (wanted_ >> f & 1 && kind[f] != Kind::bad) kind[f] = k, values_[f] = text;
    if (list_depth_ == 0) wanted_ = 0;
    return true;
  }
  bool open(const char* what) {
    if (depth == 0) is_object = what[1] == 'n';
    const bool list = list_depth_ == depth + 1;  // a list that is kept itself
    if (depth > 0 && wanted_ != 0 && !list)
      for (std::size_t f = 0; f < paths_.size(); ++f)
        if (wanted_ >> f & 1) kind[f] = Kind::bad, shape[f] = what;
    ++depth;
    return true;
  }
  bool close() { return --depth, true; }
  const std::vector<Path>& paths_;
  std::vector<std::string>& values_;
  std::vector<std::size_t> matched_;  ///< keys of each path around the present place
  std::uint64_t wanted_ = 0;          ///< a bit for each field of the current key
  int list_depth_ = 0;                ///< depth inside a list that is kept; 0 = none
  std::string list_;
};

/// Parses an item into `keeper`, a bare NaN as null; false where it is no JSON.
bool parse(std::string_view item, Keeper& keeper) {
  if (json::sax_parse(item.begin(), item.end(), &keeper)) return true;
  if (item.find("NaN") == std::string_view::npos) return false;
  const std::string plain = without_bare(item, {"-NaN", "NaN"});
  keeper.reset();
  return json::sax_parse(plain.begin(), plain.end(), &keeper);
}

/// Where a key stands last in an item; 0 where it is written in another way.
std::size_t offset_of(std::string_view item, const std::string& key) {
  const auto at = item.rfind('"' + key + '"');
  return at == std::string_view::npos ? 0 : at;
}

constexpr const char* cut_list = "the list ends behind this object without ]: the file is cut off";
constexpr std::size_t most_paths = 64;  // bits of Keeper::wanted_
constexpr std::size_t own_fields[] = {prompt_field, response_field, score_field};  // which no tool's file has under these names

/// The keys of an object itself.
std::vector<std::string> keys_of(std::string_view item) {
  const std::vector<Keeper::Path> no_paths;
  std::vector<std::string> no_values;
  Keeper keeper(no_paths, no_values);
  keeper.list_keys = true;
  parse(item, keeper);
  return keeper.is_object ? keeper.names : std::vector<std::string>();
}

/// The keys of all objects of a text, in the order in which they are met.
std::vector<std::string> keys_of_all(std::string_view text) {
  std::vector<std::string> keys;
  JsonItems items(text);
  for (auto item = items.next(); !item.empty(); item = items.next())
    for (std::string& key : keys_of(item))
      if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(std::move(key));
  return keys;
}

std::string listed(const std::vector<std::string>& names) {
  return joined(names, [](const std::string& name) { return shown_cell(name); });
}

}  // namespace

bool has_own_keys(std::string_view text, const ScoreColumns& columns) {
  const std::vector<std::string> keys = keys_of(JsonItems(text).next());
  return std::all_of(std::begin(own_fields), std::end(own_fields), [&](std::size_t f) { return std::find(keys.begin(), keys.end(), column_of(columns, f)) != keys.end(); });
}

std::optional<std::vector<std::string>> listed_scores(std::string_view cell) {
  cell = trimmed(cell);
  if (!cell.starts_with('[') || !cell.ends_with(']')) return std::nullopt;
  const json list = json::parse(cell.begin(), cell.end(), nullptr, false);
  if (!list.is_array()) return std::nullopt;
  std::vector<std::string> scores;
  for (const json& item : list) {
    if (!item.is_primitive()) return std::nullopt;
    scores.push_back(item.is_null() ? "" : item.is_string() ? item.get<std::string>() : item.dump());
  }
  return scores;
}

JsonScores::JsonScores(std::string_view text, const ScoreColumns& columns, CsvErrors& errors) : text_(text), items_(text), path_(score_fields) {
  for (std::size_t f = 0; f < score_fields; ++f) {
    key_[f] = column_of(columns, f);
    if (!key_[f].empty()) path_[f] = {key_[f]};
    optional_[f] = may_lack(columns, f);
    hint_[f] = naming_hint(columns, f);
    has_[f] = !key_[f].empty();
    if (!has_[f] && !optional_[f]) errors.add(1, 1, "a key without a name is asked for");
  }
  const std::string_view item = items_.next();
  first_line_ = std::max(items_.line(), 1l);
  if (item.empty())
    errors.add(1, 1,
               "nothing in it; wanted an object a line, with the keys " +
                   shown_list(key_[prompt_field] + ", " + key_[response_field] + ", " + key_[score_field]));
  if (errors.any()) return;

  const Quotient quotient = parse_quotient(key_[rater_field]);
  value_.resize(score_fields);
  Keeper first(path_, value_);
  first.list_keys = true;
  parse(item, first);
  const auto lacks = [&](std::size_t f) { return first.kind[f] == Keeper::Kind::absent; };
  if (quotient.divisor > 0 && lacks(rater_field)) quotient_ = quotient, key_[rater_field] = quotient.column, path_[rater_field] = {quotient.column};
  const bool glob = lacks(score_field) && columns.score.find_first_of("*?") != std::string::npos;  // a later object may have a key that the first lacks
  const std::vector<std::string> keys = glob ? keys_of_all(text) : first.names;
  if (lacks(score_field) && first.is_object) wide_ = wide_columns(keys, columns, first_line_, errors);
  for (std::size_t f = 0; f < score_fields; ++f)
    if (lacks(f) && !(wide_.any() && f == score_field) && key_[f].find('.') != std::string::npos) path_[f] = split(key_[f], '.');
  for (const std::string& name : wide_.names) {
    const bool own = std::find(keys.begin(), keys.end(), name) != keys.end();
    path_.push_back(own ? std::vector{name} : split(name, '.'));
  }
  if (path_.size() > most_paths) errors.add(first_line_, 1, fmt::format("more than {} keys of scores", most_paths - score_fields));
  if (errors.any()) return;
  value_.resize(path_.size()), places_.resize(path_.size());
  if (wide_.any()) path_[score_field].clear();
  if (wide_.are_judges) path_[rater_field].clear();
  Keeper again(path_, value_);
  parse(item, again);
  for (std::size_t f = 0; f < score_fields; ++f)
    if (optional_[f] && again.kind[f] == Keeper::Kind::absent)
      has_[f] = has_[f] && f == gold_field && text_.find('"' + (path_[f].empty() ? key_[f] : path_[f].back()) + '"') != std::string_view::npos;
  if (wide_.any() && !wide_.are_judges && has_[sample_field])
    errors.add(first_line_, 1, "several keys of scores are calls, and " + shown_cell(key_[sample_field]) + " numbers calls too: leave one out");
  const std::size_t by_name = wide_.are_judges ? rater_field : sample_field;
  if (wide_.any()) has_[by_name] = true, path_[by_name].clear();
  items_ = JsonItems(text);
}

void JsonScores::take_score(ScoreRow& row) {
  const std::size_t at = score_fields + next_wide_;
  const CellPlace place = places_[at];
  row.field[score_field] = {value_[at], place.line, place.column, false};
  row.field[wide_.are_judges ? rater_field : sample_field] = {wide_.names[next_wide_], place.line, place.column, false};
  next_wide_ = (next_wide_ + 1) % wide_.names.size();
}

bool JsonScores::next(ScoreRow& row, CsvErrors& errors) {
  if (next_wide_ > 0) return take_score(row), true;
  const std::string_view item = items_.next();
  if (item.empty()) {
    if (items_.is_cut()) errors.add(items_.line(), 1, cut_list);
    return false;
  }
  row.line = items_.line();
  if (read(item, row, errors) && wide_.any()) take_score(row);
  first_ = false;
  return true;
}

namespace {

/// Parses an item into `keeper`; false, and a mistake, where it is no sound object.
bool parse_object(const JsonItems& items, std::string_view item, Keeper& keeper, CsvErrors& errors) {
  const bool sound = parse(item, keeper);
  const auto tell = [&](std::size_t offset, const std::string& what) {
    const CellPlace at = items.place(item, offset);
    return errors.add(at.line, at.column, what), false;
  };
  if (!sound || keeper.error_at > 0)
    return tell(std::min(std::max<std::size_t>(keeper.error_at, 1) - 1, item.size()), "this line is no JSON object");
  if (!keeper.is_object) return tell(0, "an object is wanted in each line");
  if (!keeper.twice.empty()) return tell(offset_of(item, keeper.twice), "key " + shown_cell(keeper.twice) + " stands twice");
  return true;
}

/// What is wrong with the value of a key that is an object or a list.
std::string no_scalar(const std::string& key, const Keeper& keeper, std::size_t f) {
  return shown_list(key) + " is " + (keeper.kind[f] == Keeper::Kind::bad ? keeper.shape[f] : "a list") + ": a number or a text is wanted";
}

}  // namespace

bool JsonScores::read(std::string_view item, ScoreRow& row, CsvErrors& errors) {
  using Kind = Keeper::Kind;
  Keeper keeper(path_, value_);
  keeper.list_keys = first_;
  if (!parse_object(items_, item, keeper, errors)) return false;
  const auto tell = [&](std::size_t offset, const std::string& what) {
    const CellPlace at = items_.place(item, offset);
    return errors.add(at.line, at.column, what), false;
  };
  bool good = true;
  for (std::size_t f = 0; f < path_.size(); ++f) {
    const bool further = f >= score_fields;  // of several keys of scores
    const bool here = further || has_[f];
    if (!further) row.field[f] = {};
    if (path_[f].empty()) continue;
    const std::string& key = further ? wide_.names[f - score_fields] : key_[f];
    const std::size_t offset = offset_of(item, path_[f].back());
    if (!here) {
      if (keeper.kind[f] != Kind::absent)
        good = tell(offset, "key " + shown_cell(key) + " stands here, but not on line " + std::to_string(first_line_));
      continue;
    }
    const CellPlace at = items_.place(item, offset);
    if (keeper.kind[f] == Kind::absent && f != gold_field && !further) {
      const bool told =
          std::any_of(key_.begin(), key_.begin() + static_cast<std::ptrdiff_t>(f), [&](const std::string& k) { return k == key; });
      if (told) continue;
      const CellPlace begin = items_.place(item, 0);
      errors.add(begin.line, begin.column, "no key " + shown_cell(key),
                 (keeper.names.empty() ? "" : "; found " + listed(keeper.names)) + hint_[f]);
      good = false;
    } else if (keeper.kind[f] == Kind::bad || (keeper.kind[f] == Kind::list && f != score_field)) {
      good = tell(offset, no_scalar(key, keeper, f));
    } else {
      if (keeper.kind[f] != Kind::text && keeper.kind[f] != Kind::list) value_[f].clear();
      if (further) places_[f] = at;
      else row.field[f] = {value_[f], at.line, at.column, false};
    }
  }
  return good;
}

JsonFields::JsonFields(std::string_view text, std::vector<std::string> keys, CsvErrors& errors) : items_(text), keys_(std::move(keys)) {
  JsonItems items(text);
  const std::string_view item = items.next();
  if (item.empty()) errors.add(1, 1, "nothing in it; wanted an object a line");
  line_ = std::max(items.line(), 1l);
  if (keys_.size() > most_paths) errors.add(line_, 1, fmt::format("more than {} keys are asked for", most_paths));
  if (errors.any()) return;
  for (const std::string& key : keys_) paths_.push_back({key});
  value_.resize(keys_.size());
  Keeper first(paths_, value_);
  first.list_keys = true;
  if (!parse_object(items, item, first, errors)) return;
  names_ = std::any_of(first.kind.begin(), first.kind.end(), [](Keeper::Kind k) { return k == Keeper::Kind::absent; }) ? keys_of_all(text) : first.names;
  for (std::size_t f = 0; f < keys_.size(); ++f)
    if (std::find(names_.begin(), names_.end(), keys_[f]) == names_.end() && keys_[f].find('.') != std::string::npos) paths_[f] = split(keys_[f], '.');
  for (JsonItems all(text); std::any_of(paths_.begin(), paths_.end(), [](const auto& path) { return path.size() > 1; });) {  // until an object has all paths
    const std::string_view next = all.next();
    if (next.empty()) break;
    Keeper again(paths_, value_);
    parse(next, again);
    bool whole = true;
    for (std::size_t f = 0; f < keys_.size(); ++f) {
      if (paths_[f].size() < 2 || std::find(names_.begin(), names_.end(), keys_[f]) != names_.end()) continue;
      if (again.kind[f] == Keeper::Kind::absent) whole = false;
      else names_.push_back(keys_[f]);
    }
    if (whole) break;
  }
}

bool JsonFields::next(std::vector<CsvField>& fields, CsvErrors& errors) {
  const std::string_view item = items_.next();
  if (item.empty()) {
    if (items_.is_cut()) errors.add(items_.line(), 1, cut_list);
    return false;
  }
  fields.clear();
  Keeper keeper(paths_, value_);
  if (!parse_object(items_, item, keeper, errors)) return true;
  for (std::size_t f = 0; f < keys_.size(); ++f) {
    const bool lacks = keeper.kind[f] == Keeper::Kind::absent;
    const CellPlace at = items_.place(item, lacks ? 0 : offset_of(item, paths_[f].back()));
    if (lacks) errors.add(at.line, at.column, "no key " + shown_cell(keys_[f]));
    else if (keeper.kind[f] != Keeper::Kind::text && keeper.kind[f] != Keeper::Kind::null) errors.add(at.line, at.column, no_scalar(keys_[f], keeper, f));
    if (keeper.kind[f] != Keeper::Kind::text) value_[f].clear();
    fields.push_back({value_[f], at.line, at.column, false});
  }
  return true;
}

}  // namespace odrpo
