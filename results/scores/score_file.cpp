// Parses the text of a file into a table of scores, or lists its mistakes.
#include "results/scores/score_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "kernels/shared/failure.hpp"
#include "kernels/system/fail.hpp"
#include "kernels/system/text.hpp"
#include "results/scores/cell_text.hpp"
#include "results/scores/rows.hpp"
#include "results/scores/score_notes.hpp"
#include "results/scores/score_texts.hpp"
#include "results/scores/score_values.hpp"
#include "results/scores/tools.hpp"

namespace odrpo {
namespace {

[[noreturn]] void refuse(const CsvErrors& errors) { throw Failure(Exit::bad_input, errors.text()); }

/// Reads all rows of a source into cells.
template <class Source>
class CellReader {
 public:
  CellReader(Source& source, const ScoreReading& how, CsvErrors& errors)
      : source_(source), how_(how), errors_(errors), texts_(how, source.separator()), values_(how.scale.values) {
    cells.numbered = !source.has(sample_field);
  }

  /// Finds the least and the largest score, which bins lie between. Reads a source to its end.
  void find_ends(Source source) {
    ends_ = {INFINITY, -INFINITY};
    CsvErrors ignored("");
    ScoreTexts texts(how_, source.separator());
    ScoreRow row;
    while (source.next(row, ignored)) {
      const CellText cell = texts.read(text_of(row.field[score_field]));
      if (cell.kind != CellText::Kind::number && cell.kind != CellText::Kind::fraction) continue;
      ends_.first = std::min(ends_.first, cell.value), ends_.second = std::max(ends_.second, cell.value);
    }
  }

  /// Stops at the 21st mistake. `rows`: at least how many there will be, as far as is known.
  void read(std::size_t rows) {
    for (auto* list : {&cells.response, &cells.column, &cells.line}) list->reserve(rows);
    cells.code.reserve(rows);
    ScoreRow row;
    for (std::size_t before = errors_.size(); !errors_.enough() && source_.next(row, errors_); before = errors_.size())
      if (errors_.size() == before) read_row(row);
    if (source_.has(gold_field)) cells.gold.resize(cells.responses.size(), no_gold);
  }

  /// The table of what was read. Adds to the errors what keeps it from being one.
  ScoreTable table();

 private:
  void add(const CsvField& at, std::string message) { errors_.add(at.line, at.column, std::move(message)); }

  struct Id {
    std::string_view text, written;  ///< as it is compared; as the file has it
  };
  Id id(const ScoreRow& row, std::size_t f, std::string& buffer, bool& good) {
    const CsvField& field = row.field[f];
    if (field.text.empty()) add(field, shown_list(column_of(how_.columns, f)) + " is empty"), good = false;
    if (field.quoted && field.text.find('"') != std::string_view::npos) return {buffer = csv_text(field), buffer};  // no number
    return {plain_id(field.text, how_.ids, buffer), field.text};
  }

  /// The judge of a row: a column, or what a quotient makes of it.
  Id judge(const ScoreRow& row, bool& good) {
    if (!source_.has(rater_field)) return {};
    const Id by = id(row, rater_field, judge_, good);
    const Quotient& q = source_.rater_quotient();
    if (q.divisor == 0 || !good) return by;
    const auto value = number_from<long long>(by.text);
    if (!value) {
      add(row.field[rater_field],
          shown_list(q.column) + " " + shown_cell(by.written) + ": a whole number is wanted, for the judge is " + shown_list(how_.columns.rater));
      good = false;
      return by;
    }
    judge_ = std::to_string(q.of(*value));
    return {judge_, judge_};
  }

  void read_row(const ScoreRow& row) {
    bool good = true;
    const auto response = id(row, response_field, response_, good);
    const auto prompt = source_.has(prompt_field) ? id(row, prompt_field, prompt_, good) : response;
    const auto sample = cells.numbered ? Id() : id(row, sample_field, sample_, good);
    const auto by = judge(row, good);
    std::uint8_t code = 0;
    good &= read_score(row.field[score_field], code);
    if (!good) return;
    const std::uint32_t p = cells.prompts.number_of(0, prompt.text, prompt.written), r = cells.responses.number_of(p, response.text, response.written);
    const std::uint32_t j = cells.judges.number_of(0, by.text, by.written);
    cells.response.push_back(r);
    cells.column.push_back(cells.numbered ? j : cells.columns.number_of(j, sample.text, sample.written));
    cells.line.push_back(static_cast<std::uint32_t>(row.line));
    cells.code.push_back(code);
    if (source_.has(gold_field)) read_gold(row, p, r);
  }

  /// The text of a field, its quotes taken off. Valid until the next call.
  std::string_view text_of(const CsvField& field) {
    if (!field.quoted || field.text.find('"') == std::string_view::npos) return field.text;
    return whole_ = csv_text(field);
  }

  bool read_score(const CsvField& field, std::uint8_t& code) {
    const std::string_view text = text_of(field);
    CellText cell = texts_.read(text);
    code = ScoreCells::blank;
    if (cell.kind == CellText::Kind::blank) return true;
    if (cell.mistake) return add(field, "score " + shown_cell(text) + " " + cell.mistake), false;
    code = 0;
    if (cell.kind == CellText::Kind::other) {
      if (unreadable_++ == 0) first_unreadable_ = {field.line, field.column};
      unreadable_texts_.add(shown_cell(text));
      return true;
    }
    cell.value = rounded_score(cell.value, how_, ends_.first, ends_.second);
    code = values_.code_of(cell, {field.line, field.column});
    if (values_.has_moved()) {
      const auto moved = *values_.take_moved();
      for (std::uint8_t& c : cells.code)
        if (c != ScoreCells::blank) c = moved[c];
    }
    if (code > 0) return true;
    const bool stated = !how_.scale.values.empty();
    if (std::find(told_.begin(), told_.end(), cell.value) != told_.end() || (!stated && !told_.empty())) return false;
    told_.push_back(cell.value);
    if (stated) add(field, "score " + exact_text(cell.value) + " is off the scale: " + scale_text(how_.scale.values));
    else too_many(cell.value, {field.line, field.column});
    return false;
  }

  void too_many(double value, CellPlace at) {
    errors_.add(at.line, at.column, "score " + exact_text(value) + " is the " + std::to_string(most_levels + 1) +
                                        "st different score: a scale has at most " + std::to_string(most_levels) + " levels" +
                                        (how_.columns.named_by == "--" ? "; --round " : "; `round` = ") + exact_text(values_.usual_step()) +
                                        (how_.columns.named_by == "--" ? " or --bins 10 makes levels" : " or `bins` = 10 makes levels"));
  }

  void read_gold(const ScoreRow& row, std::uint32_t prompt, std::uint32_t response) {
    if (response >= cells.gold.size()) cells.gold.resize(response + 1, no_gold), gold_line_.resize(response + 1, 0);
    const CsvField& field = row.field[gold_field];
    const CellText cell = texts_.read_number(field.text);
    if (cell.kind == CellText::Kind::blank) return;
    const std::string name = shown_list(how_.columns.gold);
    if (cell.kind != CellText::Kind::number)
      return add(field, name + " " + shown_cell(field.text) + (cell.mistake ? std::string(" ") + cell.mistake : ": a number is wanted"));
    double& gold = cells.gold[response];
    if (gold_line_[response] == 0) {
      gold = cell.value;
      gold_line_[response] = static_cast<std::uint32_t>(row.line);
    } else if (!same_score(gold, cell.value)) {
      add(field, name + " of prompt " + shown_id(cells.prompts.written(prompt)) + ", response " + shown_id(cells.responses.written(response)) +
                     " is " + exact_text(cell.value) + ", but " + exact_text(gold) + " on line " + std::to_string(gold_line_[response]));
    }
  }

  /// A score beside which a gold score is but its rounding.
  void settle_gold(const std::vector<double>& values) {
    for (double& gold : cells.gold)
      for (const double value : values)
        if (same_score(gold, value, std::max(std::fabs(values.front()), std::fabs(values.back())))) gold = value;
  }

  /// Ids of a column that spell one number differently.
  void check_spellings() {
    const std::pair<std::size_t, const IdTable*> columns[] = {
        {prompt_field, &cells.prompts}, {response_field, &cells.responses}, {sample_field, &cells.columns}, {rater_field, &cells.judges}};
    for (const auto& [field, ids] : columns) {
      const std::vector<std::string> pair = ids->other_spelling();
      if (pair.empty()) continue;
      errors_.add(source_.first_line(), 1, spellings_text(column_of(how_.columns, field), pair, how_.columns.named_by == "--"));
    }
  }

  Source& source_;
  const ScoreReading& how_;
  CsvErrors& errors_;
  std::pair<double, double> ends_{0, 0};  ///< of the bins
  std::string whole_;
  ScoreTexts texts_;
  ScoreValues values_;
  ScoreCells cells;
  std::int64_t unreadable_ = 0;
  CellPlace first_unreadable_;
  UnreadableTexts unreadable_texts_;
  std::string prompt_, response_, sample_, judge_;
  std::vector<double> told_;
  std::vector<std::uint32_t> gold_line_;
};

template <class Source>
ScoreTable CellReader<Source>::table() {
  ScoreValues::Settled found = values_.settle();
  for (const auto& fraction : found.refused) {
    if (unreadable_ == 0) first_unreadable_ = fraction.first;
    unreadable_ += fraction.count;
    unreadable_texts_.add(shown_cell(fraction.text), fraction.count);
  }
  if (!errors_.any()) {
    const auto rows = static_cast<std::int64_t>(cells.response.size());
    if (rows == 0) errors_.add(source_.first_line(), 1, "no scores below the header");
    else if (2 * unreadable_ > rows)
      errors_.add(first_unreadable_.line, first_unreadable_.column,
                  how_.parse != nullptr
                      ? fmt::format("the pattern of `parse` finds no score in {} of {} answers, the first is {}", unreadable_, rows, unreadable_texts_.texts.front().first)
                      : fmt::format("{} of {} scores are no numbers, the first is {}: is {} the column of the scores? {}", unreadable_, rows,
                                    unreadable_texts_.texts.front().first, shown_cell(how_.columns.score), ways_to_read(how_)));
    else if (found.values.empty() || std::all_of(cells.code.begin(), cells.code.end(), [&](std::uint8_t c) {
               return c == ScoreCells::blank || found.index[c] == 0;
             }))
      errors_.add(source_.first_line(), 1, "no row has a score");
  }
  if (found.too_many && told_.empty()) too_many(found.too_many->first, found.too_many->second);
  if (how_.ids == IdSpelling::unset) check_spellings();
  if (errors_.any()) return {};
  std::vector<double> scale = how_.scale.values;
  if (scale.empty()) {
    scale = scale_of_scores(found.values);
    for (std::uint8_t& index : found.index)
      if (index > 0) index = static_cast<std::uint8_t>(std::lower_bound(scale.begin(), scale.end(), found.values[index - 1u]) - scale.begin() + 1);
  }
  settle_gold(scale);
  ScoreTable table = make_score_table(std::move(cells), std::move(scale), found.index, errors_);
  if (errors_.any()) return table;
  for (std::string& note : source_.notes()) table.notes.push_back(std::move(note));
  for (std::string& note : texts_.notes()) table.notes.push_back(std::move(note));
  if (how_.round > 0) table.made_levels = fmt::format("scores are rounded to multiples of {}", exact_text(how_.round));
  if (how_.bins > 0)
    table.made_levels = fmt::format("scores are the centres of {} bins of equal width from {} to {}", how_.bins, exact_text(ends_.first), exact_text(ends_.second));
  if (!table.made_levels.empty()) table.notes.push_back(table.made_levels);
  if (!found.rounded.empty())
    table.notes.push_back(fmt::format("{} {} written in several ways that differ by rounding alone, such as {} and {}: each is one score",
                                      found.rounded.size(), found.rounded.size() == 1 ? "score is" : "scores are",
                                      exact_text(found.rounded.front().first), exact_text(found.rounded.front().second)));
  if (found.fractions > 0)
    table.notes.push_back(fractions_note(found.fractions, found.whole));
  add_score_notes(table, unreadable_texts_, how_);
  return table;
}

template <class Source>
ScoreTable read_table(Source& source, std::size_t rows, const ScoreReading& how, CsvErrors& errors) {
  CellReader reader(source, how, errors);
  if (how.bins > 0) reader.find_ends(source);
  reader.read(rows);
  ScoreTable table = reader.table();
  if (errors.any()) refuse(errors);
  return table;
}

bool ends_in(std::string_view file, std::string_view end) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 32) : c; };
  return file.size() > end.size() && std::equal(end.rbegin(), end.rend(), file.rbegin(), [&](char a, char b) { return a == lower(b); });
}

/// Reads the rows of a source, each score of a list apart where the first score that is not blank is a list.
template <class Source>
ScoreTable read_source(Source source, std::size_t rows, const ScoreReading& how, CsvErrors& errors) {
  if (errors.any()) refuse(errors);
  Source probe = source;
  ScoreRow row;
  CsvErrors ignored("");
  bool more = how.parse == nullptr && probe.next(row, ignored);
  while (more && !ignored.any() && read_cell(row.text(score_field)).kind == CellText::Kind::blank) more = probe.next(row, ignored);
  const bool lists = more && !ignored.any() && listed_scores(row.text(score_field)).has_value();
  if (!lists) return read_table(source, rows, how, errors);
  if (source.has(sample_field))
    errors.add(source.first_line(), 1, "the scores are lists of calls, and " + shown_cell(how.columns.sample) + " numbers calls too: " +
                                           without_samples_hint(how.columns));
  if (errors.any()) refuse(errors);
  EachScore<Source> each(std::move(source));
  return read_table(each, rows, how, errors);
}

/// False if the user has named the column of prompts or of responses: no known tool writes such a file. The name of the score's column is allowed,
/// since it chooses judges of a tool's file.
bool may_be_of_tool(const ScoreColumns& c) { return c.prompt == ScoreColumns{}.prompt && c.response == ScoreColumns{}.response; }

/// Members of an archive that may hold scores: of a log of inspect_ai the summaries alone.
bool may_hold_scores(std::string_view name) {
  if (name.starts_with("__MACOSX/") || name.starts_with("samples/") || name.starts_with("_journal/") || name == "header.json" || name == "reductions.json") return false;
  return format_by_name(name).has_value();
}

}  // namespace

std::optional<ScoreFormat> format_by_name(std::string_view path) {
  if (ends_in(path, ".csv")) return ScoreFormat::csv;
  if (ends_in(path, ".tsv")) return ScoreFormat::tsv;
  if (ends_in(path, ".jsonl") || ends_in(path, ".ndjson") || ends_in(path, ".json")) return ScoreFormat::json;
  return std::nullopt;
}

bool is_json(std::string_view text, std::string_view file) {
  const std::string_view first = first_line(text);
  if (const auto by_name = format_by_name(file)) return by_name == ScoreFormat::json;
  return first.starts_with('{') || first.starts_with('[');
}

void check_score_text(const TextView& text) {
  CsvErrors errors(text.name);
  if (text.text.starts_with("PAR1")) fail(Exit::bad_input, "{0}: a Parquet file: `python -m odrpo_bench convert {0} OUT.jsonl` makes JSON lines of its rows", text.name);
  if (text.text.size() > max_scores_bytes) errors.add(1, 1, "larger than " + std::to_string(max_scores_bytes >> 20) + " MiB");
  else check_csv_format(text.text, errors);
  if (errors.any()) refuse(errors);
}

namespace {

/// Refuses names of columns that no file of a tool has: what its fields mean is known.
void refuse_columns(ScoreFormat format, const ScoreColumns& columns, const std::string& file) {
  for (std::size_t f = 0; f < score_fields; ++f) {
    if (f == score_field || column_of(columns, f).empty() || column_of(columns, f) == column_of(ScoreColumns{}, f)) continue;
    const std::string word(word_of<ScoreFormat>(score_format_words, format));
    fail(Exit::bad_input, "{0}: what the keys of a file of {1} mean is known: leave {2}{3} {4} out{5}", file, word, columns.named_by, score_field_words[f],
         shown_cell(column_of(columns, f)), columns.named_by == "--" ? ", or add --format json, which reads the columns that you name" : ", or add format = \"json\", which reads the columns that you name");
  }
}

/// The tool that wrote a text, unless `how` says that it is none's: names a format, or columns that the text has.
std::optional<ScoreFormat> writer_of(const TextView& text, const ScoreReading& how) {
  if (how.format && *how.format <= ScoreFormat::json) return std::nullopt;
  if (!is_json(text.text, text.name)) return std::nullopt;
  if (!how.format && (!may_be_of_tool(how.columns) || has_own_keys(text.text, how.columns))) return std::nullopt;
  return tool_of(text.text);
}

/// Finds the tool whose files are read: that of `how.format`, else of the first text that a tool wrote. Of several texts it keeps those of the tool, and says in `note`
/// which ones it does not.
std::optional<ScoreFormat> keep_one_tool(std::vector<TextView>& texts, const ScoreReading& how, std::string& note) {
  std::optional<ScoreFormat> format = how.format;
  if (format && (*format <= ScoreFormat::json || texts.size() == 1)) return format;
  std::vector<std::optional<ScoreFormat>> tool;
  for (const TextView& text : texts) {
    tool.push_back(writer_of(text, how));
    if (!format) format = tool.back();
  }
  if (!format || std::find(tool.begin(), tool.end(), format) == tool.end()) return format;
  std::vector<TextView> kept;
  std::string others;
  for (std::size_t i = 0; i < texts.size(); ++i)
    if (tool[i] == format) kept.push_back(texts[i]);
    else add_item(others, texts[i].name);
  texts = std::move(kept);
  if (!others.empty()) note = fmt::format("not read, without scores of {}: {}", word_of<ScoreFormat>(score_format_words, *format), others);
  return format;
}

/// The table of texts that are UTF-8; they are from `folder`.
ScoreTable parse_texts(std::vector<TextView> texts, const std::string& folder, const ScoreReading& how) {
  std::string note;
  std::optional<ScoreFormat> format = keep_one_tool(texts, how, note);
  for (const TextView& text : texts) check_score_text(text);
  const auto& [file, text] = texts[0];
  CsvErrors errors(file);
  if (!format) format = is_json(text, file) ? ScoreFormat::json : format_by_name(file).value_or(ScoreFormat::csv);
  if (format > ScoreFormat::json) {
    refuse_columns(*format, how.columns, file);
    ToolRows found = read_tool(*format, texts, how);
    const std::size_t rows = found.rows.size();
    ListedScores source(std::move(found.rows));
    ScoreTable table = read_table(source, rows, how, errors);
    table.notes.insert(table.notes.begin(), fmt::format("read as a file of {}", word_of<ScoreFormat>(score_format_words, *format)));
    table.notes.insert(table.notes.end(), found.notes.begin(), found.notes.end());
    if (!note.empty()) table.notes.push_back(note);
    return table;
  }
  if (texts.size() > 1)
    fail(Exit::bad_input, "{}: holds {} files of scores, and only the files of a tool are read together: {}name one, such as {}", folder, texts.size(),
         file.starts_with(folder + ":") ? "unpack it and " : "", file.starts_with(folder + ":") ? file.substr(folder.size() + 1) : file);
  const auto lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) + 1;
  const std::size_t rows = std::min(lines, text.size() / std::string_view("1,1,1\n").size() + 1);
  if (format == ScoreFormat::json) {
    errors.count_same();  // a key that a line lacks is lacking in every line
    return read_source(JsonScores(text, how.columns, errors), rows, how, errors);
  }
  const char separator = how.separator != 0 ? how.separator : format == ScoreFormat::tsv ? '\t' : separator_of(text);
  ScoreTable table = read_source(CsvScores(text, separator, how.columns, errors), rows, how, errors);
  if (how.separator == 0 && format == ScoreFormat::csv && separator != ',') table.notes.push_back(separator_note(separator));
  return table;
}

}  // namespace

ScoreTable parse_scores(std::string_view bytes, const std::string& file, const ScoreReading& how) {
  if (is_packed(bytes) || wide_encoding(bytes) == "UTF-16") {
    std::vector<NamedText> one;
    one.push_back({file, std::string(bytes)});
    return parse_scores(std::move(one), file, how);
  }
  return parse_texts({{file, bytes}}, file, how);
}

ScoreTable parse_scores(std::vector<NamedText> files, const std::string& file, const ScoreReading& how) {
  std::vector<NamedText> texts;
  for (NamedText& one : files) {
    if (!is_packed(one.text)) {
      texts.push_back(std::move(one));
      continue;
    }
    for (NamedText& text : unpacked(one.text, one.name, may_hold_scores)) texts.push_back(std::move(text));
  }
  if (texts.empty()) fail(Exit::bad_input, "{}: no file of scores in it: .csv, .tsv, .json or .jsonl{}", file, ends_in(file, ".xlsx") ? "; save the sheet as CSV" : "");
  std::vector<TextView> views;
  for (NamedText& text : texts) make_utf8(text), views.push_back({text.name, text.text});
  return parse_texts(std::move(views), file, how);
}

}  // namespace odrpo
