// Reads a file of scores row by row, whatever its format, and makes the table of its rows.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/shared/score_table.hpp"
#include "kernels/shared/words.hpp"
#include "results/scores/csv.hpp"

namespace odrpo {

/// FNV-1a, as id_of() writes it; `hash` continues another one.
inline constexpr std::uint64_t empty_hash = 0xcbf29ce484222325u;
std::uint64_t hash_of(std::string_view text, std::uint64_t hash = empty_hash);

// One row as text.

// Names the columns of a file of scores, and says how a user may name others.

/// Names of the columns of a file. Those of sample, rater and gold are optional under the names given here; under another name they must be
/// in the file. "" = none.
struct ScoreColumns {
  std::string prompt = "prompt_id", response = "response_id", score = "score";
  std::string sample = "sample_id";  ///< without it, the ratings of a response by one judge are numbered in the order of the file
  std::string rater = "rater_id";    ///< the judge; or a quotient ("sample_id / 2") or remainder of samples; without it there is one judge
  std::string gold = "gold";         ///< a response's true score
  std::string_view named_by = {};    ///< for messages: what precedes a field's word where a user names its column ("--", "columns.")
};

enum ScoreField : std::size_t { prompt_field, response_field, sample_field, score_field, rater_field, gold_field, score_fields };

/// Stands for the column of the judge where each column of scores is a judge.
inline constexpr std::string_view judges_are_columns = "columns";

/// The name of a field's column.
inline const std::string& column_of(const ScoreColumns& c, std::size_t field) {
  const std::array<const std::string*, score_fields> names = {&c.prompt, &c.response, &c.sample, &c.score, &c.rater, &c.gold};
  return *names[field];
}

/// The fields' words, in flags and in keys.
inline constexpr std::string_view score_field_words[] = {"prompt", "response", "sample", "score", "rater", "gold"};

/// "; --prompt says which one it is", of a column that the user has not named; else empty.
inline std::string naming_hint(const ScoreColumns& c, std::size_t field) {
  if (c.named_by.empty() || column_of(c, field) != column_of(ScoreColumns{}, field)) return "";
  const std::string name = std::string(c.named_by) + std::string(score_field_words[field]);
  return "; " + name + " says which one it is" + (field == score_field ? ", or which ones: " + name + (c.named_by == "--" ? " a,b,c" : " = \"a,b,c\"") : "");
}

/// Says how a user leaves the column of samples out.
inline std::string without_samples_hint(const ScoreColumns& c) { return c.named_by == "--" ? "--sample none leaves it out" : "sample = \"\" leaves it out"; }

/// May a file lack the field's column?
inline bool may_lack(const ScoreColumns& c, std::size_t field) {
  const bool optional = field == sample_field || field == rater_field || field == gold_field;
  if (field == prompt_field) return c.prompt.empty();  // each response is a prompt of its own
  return optional && (column_of(c, field).empty() || column_of(c, field) == column_of(ScoreColumns{}, field));
}

/// "sample_id / 2", "(sample_id - 1) / 2" or "sample_id % 2". A column's whole number plus `shift`, divided by `divisor` and rounded down,
/// or the remainder. Divisor 0 where the text is no quotient.
struct Quotient {
  std::string column;
  long long divisor = 0, shift = 0;
  bool remainder = false;
  /// -3 / 2 = -2, -3 % 2 = 1, so that neighbours stay together and patterns continue below 0.
  long long of(long long value) const;
};
Quotient parse_quotient(std::string_view text);

/// Where a cell stands in a file.
struct CellPlace {
  long line = 1, column = 1;
};

/// The fields of one row. Those of columns that the file lacks stay empty.
struct ScoreRow {
  std::array<CsvField, score_fields> field;
  long line = 1;
  std::string text(std::size_t f) const { return csv_text(field[f]); }
};

/// Several columns of scores in one row ("s1,s2,s3", "score_*"): which ones, and what tells their scores apart.
struct WideColumns {
  std::vector<std::string> names;  ///< empty: one column
  bool are_judges = false;         ///< `rater = "columns"`: each column is a judge; else the calls of one
  bool any() const { return !names.empty(); }
};
/// The columns among `names` that `wanted` says: "a,b" or a glob, of which `used` are no scores. No names where `wanted` is one column. Adds to `errors` where
/// there is none.
WideColumns wide_columns(const std::vector<std::string>& names, const ScoreColumns& columns, long line, CsvErrors& errors);

// Rows of a file of scores with columns separated by one mark.

class CsvScores {
 public:
  /// Reads the header. Adds to `errors` why the text is no table of scores.
  CsvScores(std::string_view text, char separator, const ScoreColumns& columns, CsvErrors& errors);

  /// Does the file have the column of this field?
  bool has(std::size_t field) const { return place_[field] != none; }
  const Quotient& rater_quotient() const { return quotient_; }
  long first_line() const { return header_line_; }
  char separator() const { return separator_; }
  /// On lines that were skipped.
  std::vector<std::string> notes() const;

  /// The next row; false at the end. An unusable row is reported in `errors`. A row with several columns of scores counts as several.
  bool next(ScoreRow& row, CsvErrors& errors);

 private:
  static constexpr std::size_t none = static_cast<std::size_t>(-1), of_wide = none - 1;
  void find_columns(const ScoreColumns& columns, CsvErrors& errors);
  void take_score(ScoreRow& row);
  CsvReader reader_;
  char separator_;
  std::vector<CsvField> fields_;
  std::array<std::size_t, score_fields> place_;
  WideColumns wide_;
  std::vector<std::size_t> wide_places_;
  std::size_t next_wide_ = 0;  ///< column of the present row that comes next; 0: a new row
  Quotient quotient_;
  std::size_t columns_ = 0;
  long header_line_ = 1;
};

// Rows of a file of scores with a JSON object a line, or with a list of objects.

/// Splits JSON into the objects of its lines, or the elements of its list.
class JsonItems {
 public:
  explicit JsonItems(std::string_view text);
  /// The next item, without blanks around it; empty at the end.
  std::string_view next();
  long line() const { return first_line_; }  ///< of the item's first character
  /// Has the text ended inside its list?
  bool is_cut() const { return list_ && text_.find_first_not_of(" \t\r\n,", at_) == std::string_view::npos; }
  /// Where byte `offset` of the present item stands in the text.
  CellPlace place(std::string_view item, std::size_t offset) const;

 private:
  void move_to(std::size_t to);
  std::string_view text_;
  bool list_ = false;
  std::size_t at_ = 0, start_ = 0;  ///< next byte; first byte of its line
  long line_ = 1, first_line_ = 1, first_column_ = 1;
};

/// Replaces words outside of strings, such as the NaN that Python writes, by `value`.
std::string without_bare(std::string_view text, std::initializer_list<std::string_view> words, std::string_view value = "null");

class JsonScores {
 public:
  /// Looks in the first object for the keys that the file has; a key with points that is none of the object's own is a path. Adds to `errors` why the text is no rows of scores.
  JsonScores(std::string_view text, const ScoreColumns& columns, CsvErrors& errors);

  /// Does the file have the key of this field? Every object must have it then, except for gold.
  bool has(std::size_t field) const { return has_[field]; }
  const Quotient& rater_quotient() const { return quotient_; }
  long first_line() const { return first_line_; }
  char separator() const { return 0; }
  std::vector<std::string> notes() const { return {}; }

  /// The next row, valid until the next call; false at the end. A null is an empty field, a list of scores its JSON. An unusable object is reported in `errors`. An
  /// object with several keys of scores counts as several rows.
  bool next(ScoreRow& row, CsvErrors& errors);

 private:
  bool read(std::string_view item, ScoreRow& row, CsvErrors& errors);
  void take_score(ScoreRow& row);

  std::string_view text_;
  JsonItems items_;
  long first_line_ = 1;
  std::array<std::string, score_fields> key_, hint_;
  std::vector<std::vector<std::string>> path_;  ///< of each field, then of further keys of scores
  std::vector<std::string> value_;
  std::vector<CellPlace> places_;
  std::array<bool, score_fields> has_{}, optional_{};
  WideColumns wide_;
  std::size_t next_wide_ = 0;
  bool first_ = true;
  Quotient quotient_;
};

/// Rows of JSON objects, a line each or of a list, as fields of the keys that are wanted. A key with points that is none of the first object's own is a path.
class JsonFields {
 public:
  /// Adds to `errors` why the first object is none.
  JsonFields(std::string_view text, std::vector<std::string> keys, CsvErrors& errors);
  /// The keys of the first object, and paths in it that are wanted.
  const std::vector<std::string>& names() const { return names_; }
  long first_line() const { return line_; }
  /// A field for each wanted key, valid until the next call; false at the end. A null is an empty field. An unusable object is reported in `errors`.
  bool next(std::vector<CsvField>& fields, CsvErrors& errors);

 private:
  JsonItems items_;
  std::vector<std::string> keys_, value_, names_;
  std::vector<std::vector<std::string>> paths_;
  long line_ = 1;
};

/// Does the first object of the text have the keys of prompts, responses and scores?
bool has_own_keys(std::string_view text, const ScoreColumns& columns);

/// The scores that a cell lists as JSON ("[7, 8, null]"); nothing where it is no list of numbers and texts.
std::optional<std::vector<std::string>> listed_scores(std::string_view cell);

/// A source whose cells of scores are lists: each score becomes a row, and its place in the list the sample.
template <class Source>
class EachScore {
 public:
  explicit EachScore(Source source) : source_(std::move(source)) {}
  bool has(std::size_t field) const { return field == sample_field || source_.has(field); }
  const Quotient& rater_quotient() const { return source_.rater_quotient(); }
  long first_line() const { return source_.first_line(); }
  char separator() const { return source_.separator(); }
  std::vector<std::string> notes() const { return source_.notes(); }
  bool next(ScoreRow& row, CsvErrors& errors) {
    while (at_ == list_.size()) {
      const std::size_t before = errors.size();
      if (!source_.next(row_, errors)) return false;
      row = row_;
      if (errors.size() > before) return true;
      at_ = 0;
      const CsvField& cell = row_.field[score_field];
      const auto list = listed_scores(cell.quoted ? cell_ = csv_text(cell) : cell.text);
      list_ = list ? *list : std::vector<std::string>{std::string(cell.text)};
      if (list_.empty()) list_.emplace_back();  // no score
    }
    row = row_;
    row.field[score_field].text = list_[at_], row.field[score_field].quoted = false;
    sample_ = std::to_string(++at_);
    row.field[sample_field] = {sample_, row.field[score_field].line, row.field[score_field].column, false};
    return true;
  }

 private:
  Source source_;
  ScoreRow row_;
  std::vector<std::string> list_;
  std::size_t at_ = 0;
  std::string sample_, cell_;
};

// The ratings of a file as they are read, and the table that they make.

// Ids of a file of scores as numbers 0, 1, …, and the order of ids.

/// How ids that spell one number differently are read ("04" and "4").
enum class IdSpelling { unset, text, number };
inline constexpr Word<IdSpelling> id_words[] = {
    {IdSpelling::text, "text", "other spellings are other ids"},
    {IdSpelling::number, "number", "spellings of one number are one id"},
};

/// An id as it is compared: the text; of "7.0" the text "7"; with IdSpelling::number the plain form of a number ("04", "4.50": 4, 4.5).
/// `buffer` holds a new text.
std::string_view plain_id(std::string_view text, IdSpelling ids, std::string& buffer);

/// Numbers texts in the order in which they are met. Texts of different groups are different.
class IdTable {
 public:
  std::uint32_t number_of(std::uint32_t group, std::string_view text) { return number_of(group, text, text); }
  /// `written`: the text as the file has it, for messages.
  std::uint32_t number_of(std::uint32_t group, std::string_view text, std::string_view written);
  std::uint32_t size() const { return static_cast<std::uint32_t>(keys_.size()); }
  std::string_view text(std::uint32_t i) const { return std::string_view(pool_).substr(keys_[i].at, keys_[i].size); }
  std::uint32_t group(std::uint32_t i) const { return keys_[i].group; }
  /// As the file has it where it is met first.
  std::string written(std::uint32_t i) const;

  /// The numbers in order of the rank of their group (of the group itself if `group_rank` is empty). Within a group whole numbers by value
  /// come first, then texts by their bytes.
  std::vector<std::uint32_t> sorted(const std::vector<std::uint32_t>& group_rank) const;
  /// Two texts that spell one number, in whatever group ("04", "4"); empty when there are none.
  std::vector<std::string> other_spelling() const;
  /// Two texts of one group that differ by the case of ASCII letters alone; empty when there are none.
  std::vector<std::string> same_but_case() const;

 private:
  struct Key {
    std::uint32_t at, size, group;
  };
  bool holds(std::uint32_t i, std::uint32_t group, std::string_view t) const { return keys_[i].group == group && text(i) == t; }
  void grow();
  std::string pool_;
  std::vector<Key> keys_;
  std::map<std::uint32_t, std::string> written_;  ///< of ids that are written in another way
  std::vector<std::uint32_t> slots_;  ///< number + 1, or 0; as many as a power of two
  std::uint32_t last_ = 0;
};

/// What is wrong with a column in which two texts spell one number, and how the reader is told: by flags, or by keys of a suite.
std::string spellings_text(const std::string& column, const std::vector<std::string>& pair, bool flags);

/// The rank of each number of a sorted() list.
std::vector<std::uint32_t> ranks_of(const std::vector<std::uint32_t>& sorted);

/// An id for a message: whole numbers as they are, texts in quotes.
std::string shown_id(std::string_view text);

/// The ratings of a file in its order, 13 bytes each.
struct ScoreCells {
  static constexpr std::uint8_t blank = 255;

  IdTable prompts, responses, judges;  ///< the group of a response is its prompt
  IdTable columns;                     ///< samples; the group is the judge. Unused when `numbered`
  bool numbered = false;               ///< the file has no samples: `column` holds judges
  std::vector<std::uint32_t> response, column, line;
  std::vector<std::uint8_t> code;  ///< 0 = unreadable, `blank`, or one of ScoreValues
  std::vector<double> gold;        ///< [responses], NaN = none; empty when the file has none
};

/// Sorts the cells into a table on the scale `values`; takes their memory. `level_of`: 1 + index into `values` of each code, 0 = unreadable. A cell given
/// twice is added to `errors`, and the table is then unusable.
ScoreTable make_score_table(ScoreCells cells, std::vector<double> values, const std::array<std::uint8_t, 256>& level_of, CsvErrors& errors);

}  // namespace odrpo
