// Reads a file of scores row by row, whatever its format, and makes the table of its rows.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/shared/score_table.hpp"
#include "results/scores/csv.hpp"

namespace odrpo {

// One row as text.

// ScoreColumns: which columns of a file of scores are read, and how a user names them.

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
  return "; " + std::string(c.named_by) + std::string(score_field_words[field]) + " says which one it is";
}

/// May a file lack the field's column?
inline bool may_lack(const ScoreColumns& c, std::size_t field) {
  const bool optional = field == sample_field || field == rater_field || field == gold_field;
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

/// The fields of one row. Those of columns that the file lacks stay empty.
struct ScoreRow {
  std::array<CsvField, score_fields> field;
  long line = 1;
  std::string text(std::size_t f) const { return csv_text(field[f]); }
};

// Rows of a file of scores with columns separated by commas or tabs.

class CsvScores {
 public:
  /// Reads the header. Adds to `errors` why the text is no table of scores.
  CsvScores(std::string_view text, char separator, const ScoreColumns& columns, CsvErrors& errors);

  /// Does the file have the column of this field?
  bool has(std::size_t field) const { return place_[field] != none; }
  const Quotient& rater_quotient() const { return quotient_; }
  long first_line() const { return header_line_; }
  /// Comments below the header that look like rows, so far.
  long row_comments() const { return reader_.row_comments() - comments_above_; }

  /// The next row; false at the end. A row that cannot be used is reported in `errors`.
  bool next(ScoreRow& row, CsvErrors& errors);

 private:
  static constexpr std::size_t none = static_cast<std::size_t>(-1);
  void find_columns(const ScoreColumns& columns, CsvErrors& errors);
  CsvReader reader_;
  std::vector<CsvField> fields_;
  std::array<std::size_t, score_fields> place_;
  Quotient quotient_;
  std::size_t columns_ = 0;
  long header_line_ = 1, comments_above_ = 0;
};

// Rows of a file of scores that has a JSON object a line.

class JsonScores {
 public:
  /// Takes the keys that the file has from its first object. Adds to `errors` why the text is not rows of scores.
  JsonScores(std::string_view text, const ScoreColumns& columns, CsvErrors& errors);

  /// Does the file have the key of this field? If so, every object must have it, except gold.
  bool has(std::size_t field) const { return has_[field]; }
  const Quotient& rater_quotient() const { return quotient_; }
  long first_line() const { return first_line_; }
  long row_comments() const { return 0; }

  /// The next row, valid until the next call; false at the end. A null is an empty field. A bad line is reported in `errors`.
  bool next(ScoreRow& row, CsvErrors& errors);

 private:
  std::string_view next_line();
  bool read(std::string_view line, ScoreRow& row, CsvErrors& errors);

  std::string_view text_;
  std::size_t at_ = 0;
  long line_ = 0, first_line_ = 1;
  std::array<std::string, score_fields> key_, value_, hint_;
  std::array<bool, score_fields> has_{}, optional_{};
  bool first_ = true;
  Quotient quotient_;
};

// The ratings of a file as they are read, and the table that they make.

// Ids of a file of scores as numbers 0, 1, …, and the order of ids.

/// An id as it is compared: a whole number without leading zeros ("007" is "7"), any other text as it is. `buffer` holds a new text.
std::string_view plain_id(std::string_view text, std::string& buffer);

/// Numbers texts in the order in which they are met. Texts of different groups are different.
class IdTable {
 public:
  std::uint32_t number_of(std::uint32_t group, std::string_view text);
  std::uint32_t size() const { return static_cast<std::uint32_t>(keys_.size()); }
  std::string_view text(std::uint32_t i) const { return std::string_view(pool_).substr(keys_[i].at, keys_[i].size); }
  std::uint32_t group(std::uint32_t i) const { return keys_[i].group; }

  /// The numbers in order of the rank of their group (of the group itself if `group_rank` is empty). Within a group whole numbers by value
  /// come first, then texts by their bytes.
  std::vector<std::uint32_t> sorted(const std::vector<std::uint32_t>& group_rank) const;
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
  std::vector<std::uint32_t> slots_;  ///< number + 1, or 0; as many as a power of two
  std::uint32_t last_ = 0;
};

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
  std::vector<std::uint8_t> code;  ///< 0 = unreadable, `blank`, or 1 + index into values
  std::vector<double> values;      ///< different scores, as they were met or as a scale states them
  std::vector<double> gold;        ///< [responses], NaN = none; empty when the file has none
};

/// Sorts the cells into a table on the scale `values`, which holds all values of the cells; takes their memory. A cell given twice is added
/// to `errors`, and the table is then unusable.
ScoreTable make_score_table(ScoreCells cells, std::vector<double> values, CsvErrors& errors);

}  // namespace odrpo
