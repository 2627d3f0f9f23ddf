// Parses the text of a file into a table of scores, or lists its mistakes.
#include "results/scores/score_file.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "kernels/shared/failure.hpp"
#include "kernels/system/text.hpp"
#include "results/scores/rows.hpp"

namespace odrpo {
namespace {

[[noreturn]] void refuse(const CsvErrors& errors) { throw Failure(Exit::bad_input, errors.text()); }

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// A text as a number. A text without a value may have a hint.
struct Read {
  std::optional<double> value;
  const char* hint = nullptr;  ///< such a text is a mistake of the file, not an answer of the judge
};
Read read_number(std::string_view text) {
  text = trimmed(text, " ");
  const bool plus = text.size() > 1 && text[0] == '+' && text[1] != '-';
  if (plus) text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end == text.data() + text.size() && error == std::errc::result_out_of_range) return {std::nullopt, "is out of the range of numbers"};
  if (end == text.data() + text.size() && error == std::errc()) {
    if (std::isfinite(value)) return {value == 0 ? 0.0 : value, nullptr};
    return {std::nullopt, "is no finite number; leave a missing score blank"};
  }
  // digits and commas
  const std::string_view body = text.starts_with('-') ? text.substr(1) : text;
  const auto comma = body.find(',');
  if (comma == std::string_view::npos || comma == 0) return {};
  if (!std::all_of(body.begin(), body.end(), [](char c) { return is_digit(c) || c == ',' || c == '.'; })) return {};
  const auto after = body.substr(comma + 1);
  const auto group = after.substr(0, after.find_first_of(",."));
  if (group.size() == 3 && comma <= 3) return {std::nullopt, "has a thousands separator: write the digits alone"};
  if (!after.empty() && std::all_of(after.begin(), after.end(), is_digit)) return {std::nullopt, "has a decimal comma: write a point"};
  return {};
}

/// Codes of scores: 1 + index of their value.
class ScoreCodes {
 public:
  ScoreCodes(std::vector<double>& values, bool fixed) : values_(values), fixed_(fixed) {}

  /// The code; 0 for a value off the scale, or one too many.
  std::uint8_t of(double value) {
    if (!values_.empty() && values_[last_] == value) return static_cast<std::uint8_t>(last_ + 1);
    const auto at = std::find(values_.begin(), values_.end(), value);
    if (at == values_.end()) {
      if (fixed_ || values_.size() == most_levels) return 0;
      values_.push_back(value);
      last_ = values_.size() - 1;
    } else {
      last_ = static_cast<std::size_t>(at - values_.begin());
    }
    return static_cast<std::uint8_t>(last_ + 1);
  }

 private:
  std::vector<double>& values_;
  bool fixed_;
  std::size_t last_ = 0;
};

/// Reads all rows of a source into cells.
template <class Source>
class CellReader {
 public:
  CellReader(Source& source, const ScoreColumns& columns, const ScoreScale& scale, CsvErrors& errors)
      : source_(source), columns_(columns), scale_(scale), errors_(errors), codes_(cells.values, !scale.values.empty()) {
    cells.values = scale.values;
    cells.numbered = !source.has(sample_field);
  }

  /// Stops at the 21st mistake. Reserves memory for `rows` rows, an upper bound.
  void read(std::size_t rows) {
    for (auto* list : {&cells.response, &cells.column, &cells.line}) list->reserve(rows);
    cells.code.reserve(rows);
    ScoreRow row;
    for (std::size_t before = errors_.size(); !errors_.enough() && source_.next(row, errors_); before = errors_.size())
      if (errors_.size() == before) read_row(row);
    if (source_.has(gold_field)) cells.gold.resize(cells.responses.size(), no_gold);
  }

  ScoreCells cells;
  long rows = 0, scores = 0, unreadable = 0;
  CsvField first_unreadable{};
  std::string unreadable_text;

 private:
  void add(const CsvField& at, std::string message) { errors_.add(at.line, at.column, std::move(message)); }

  std::string_view id(const ScoreRow& row, std::size_t f, std::string& buffer, bool& good) {
    const CsvField& field = row.field[f];
    if (field.text.empty()) add(field, shown_list(column_of(columns_, f)) + " is empty"), good = false;
    if (field.quoted && field.text.find('"') != std::string_view::npos) return plain_id(buffer = csv_text(field), other_);
    return plain_id(field.text, buffer);
  }

  /// The judge of a row: a column, or what a quotient makes of it.
  std::string_view judge(const ScoreRow& row, bool& good) {
    if (!source_.has(rater_field)) return {};
    const std::string_view text = id(row, rater_field, judge_, good);
    const Quotient& q = source_.rater_quotient();
    if (q.divisor == 0 || !good) return text;
    const auto value = number_from<long long>(text);
    if (!value) {
      add(row.field[rater_field],
          shown_list(q.column) + " " + shown_cell(text) + ": a whole number is wanted, for the judge is " + shown_list(columns_.rater));
      good = false;
      return text;
    }
    return judge_ = std::to_string(q.of(*value));
  }

  void read_row(const ScoreRow& row) {
    bool good = true;
    const auto prompt = id(row, prompt_field, prompt_, good), response = id(row, response_field, response_, good);
    const auto sample = cells.numbered ? std::string_view() : id(row, sample_field, sample_, good);
    const auto by = judge(row, good);
    std::uint8_t code = 0;
    good &= read_score(row.field[score_field], code);
    if (!good) return;
    ++rows;
    const std::uint32_t p = cells.prompts.number_of(0, prompt), r = cells.responses.number_of(p, response);
    const std::uint32_t j = cells.judges.number_of(0, by);
    cells.response.push_back(r);
    cells.column.push_back(cells.numbered ? j : cells.columns.number_of(j, sample));
    cells.line.push_back(static_cast<std::uint32_t>(row.line));
    cells.code.push_back(code);
    if (source_.has(gold_field)) read_gold(row, p, r);
  }

  bool read_score(const CsvField& field, std::uint8_t& code) {
    code = ScoreCells::blank;
    if (field.text.empty()) return true;
    const Read read = read_number(field.text);
    if (read.hint) return add(field, "score " + shown_cell(field.text) + " " + read.hint), false;
    code = 0;
    if (!read.value) {
      if (unreadable++ == 0) first_unreadable = field, unreadable_text = shown_cell(field.text);
      return true;
    }
    code = codes_.of(*read.value);
    if (code > 0) return ++scores, true;
    if (std::find(told_.begin(), told_.end(), *read.value) != told_.end()) return false;
    const bool stated = !scale_.values.empty();
    if (!stated && !told_.empty()) return false;
    told_.push_back(*read.value);
    add(field, "score " + exact_text(*read.value) +
                   (stated ? " is off the scale: " + scale_text(scale_.values)
                           : " is the " + std::to_string(most_levels + 1) + "st different score: a scale has at most " +
                                 std::to_string(most_levels) + " levels"));
    return false;
  }

  void read_gold(const ScoreRow& row, std::uint32_t prompt, std::uint32_t response) {
    if (response >= cells.gold.size()) cells.gold.resize(response + 1, no_gold), gold_line_.resize(response + 1, 0);
    const CsvField& field = row.field[gold_field];
    if (field.text.empty()) return;
    const Read read = read_number(field.text);
    const std::string name = shown_list(columns_.gold);
    if (!read.value)
      return add(field, name + " " + shown_cell(field.text) + (read.hint ? std::string(" ") + read.hint : ": a number is wanted"));
    double& gold = cells.gold[response];
    if (gold_line_[response] == 0) {
      gold = *read.value;
      gold_line_[response] = static_cast<std::uint32_t>(row.line);
    } else if (gold != *read.value) {
      add(field, name + " of prompt " + shown_id(cells.prompts.text(prompt)) + ", response " + shown_id(cells.responses.text(response)) +
                     " is " + exact_text(*read.value) + ", but " + exact_text(gold) + " on line " + std::to_string(gold_line_[response]));
    }
  }

  Source& source_;
  const ScoreColumns& columns_;
  const ScoreScale& scale_;
  CsvErrors& errors_;
  ScoreCodes codes_;
  std::string prompt_, response_, sample_, judge_, other_;
  std::vector<double> told_;
  std::vector<std::uint32_t> gold_line_;
};

template <class Source>
ScoreTable read_table(Source& source, std::size_t rows, const ScoreColumns& columns, const ScoreScale& scale, CsvErrors& errors) {
  CellReader reader(source, columns, scale, errors);
  reader.read(rows);
  if (!errors.any()) {
    if (reader.cells.response.empty()) errors.add(source.first_line(), 1, "no scores below the header");
    else if (2 * reader.unreadable > reader.rows)
      errors.add(reader.first_unreadable.line, reader.first_unreadable.column,
                 std::to_string(reader.unreadable) + " of " + std::to_string(reader.rows) + " scores are no numbers, the first is " +
                     reader.unreadable_text + ": is " + shown_cell(columns.score) + " the column of the scores?");
    else if (reader.scores == 0) errors.add(source.first_line(), 1, "no row has a score");
  }
  std::vector<double> found = reader.cells.values;
  std::sort(found.begin(), found.end());
  ScoreTable table;
  if (!errors.enough())
    table = make_score_table(std::move(reader.cells), scale.values.empty() ? scale_of_scores(found) : scale.values, errors);
  if (errors.any()) refuse(errors);
  if (source.row_comments() > 0)
    table.notes.push_back(std::to_string(source.row_comments()) + (source.row_comments() == 1 ? " line" : " lines") +
                          " below the header skipped as comments, for they start with #");
  return table;
}

enum class Format { csv, tsv, json };

bool ends_in(std::string_view file, std::string_view end) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 32) : c; };
  return file.size() > end.size() && std::equal(end.rbegin(), end.rend(), file.rbegin(), [&](char a, char b) { return a == lower(b); });
}

/// The format by the file's extension; without a known one, by the first line that is no comment.
Format format_of(std::string_view text, std::string_view file) {
  if (ends_in(file, ".csv")) return Format::csv;
  if (ends_in(file, ".tsv")) return Format::tsv;
  if (ends_in(file, ".jsonl") || ends_in(file, ".ndjson")) return Format::json;
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  for (;;) {
    const auto begin = text.find_first_not_of(" \t\r\n");
    if (begin == std::string_view::npos) return Format::csv;
    text.remove_prefix(begin);
    const auto line = text.substr(0, text.find('\n'));
    if (line[0] == '{' || line[0] == '[') return Format::json;
    if (line[0] != '#')
      return line.find('\t') != std::string_view::npos && line.find(',') == std::string_view::npos ? Format::tsv : Format::csv;
    text.remove_prefix(line.size());
  }
}

}  // namespace

ScoreTable parse_scores(std::string_view text, const std::string& file, const ScoreColumns& columns, const ScoreScale& scale) {
  CsvErrors errors(file);
  if (text.size() > max_scores_bytes) errors.add(1, 1, "larger than " + std::to_string(max_scores_bytes >> 20) + " MiB");
  else check_csv_format(text, errors);
  if (errors.any()) refuse(errors);
  const Format format = format_of(text, file);
  const auto lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) + 1;
  const std::size_t rows = std::min(lines, text.size() / std::string_view("1,1,1\n").size() + 1);
  if (format == Format::json) {
    errors.count_same();  // a key that a line lacks is lacking in every line
    JsonScores source(text, columns, errors);
    if (errors.any()) refuse(errors);
    return read_table(source, rows, columns, scale, errors);
  }
  CsvScores source(text, format == Format::tsv ? '\t' : ',', columns, errors);
  if (errors.any()) refuse(errors);
  return read_table(source, rows, columns, scale, errors);
}

}  // namespace odrpo
