// Reads dumps with one completion a row: finds the columns of each field, and adds the rows.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "kernels/shared/failure.hpp"
#include "kernels/shared/words.hpp"
#include "kernels/system/fail.hpp"
#include "kernels/system/text.hpp"
#include "results/scores/cell_text.hpp"
#include "results/scores/rollouts/flat_state.hpp"
#include "results/scores/tool_text.hpp"

namespace odrpo {

namespace {

/// A row as JSON has it.
struct JsonSource {
  ObjectReader objects;
  JsonItems items;
  std::string_view item;
  std::size_t field[dump_fields];
  std::vector<std::size_t> reward;
  explicit JsonSource(std::string_view text) : items(text) {}
  const DumpCell* cell(std::size_t slot) const { return objects.kind(slot) == DumpCell::Kind::absent ? nullptr : &objects.cell(slot); }
  long line() const { return items.line(); }
  /// Where the key of a slot stands; the object's beginning where it does not.
  CellPlace place(std::size_t slot) const {
    const std::string& name = objects.name(slot);
    auto at = item.rfind('"' + name.substr(name.rfind('.') + 1) + '"');
    if (at == std::string_view::npos) at = 0;
    return items.place(item, at);
  }
};

/// A row with columns.
struct TableSource {
  std::vector<DumpCell> cells;  ///< [columns of the file]
  std::size_t field[dump_fields];
  std::vector<std::size_t> reward;
  long at = 1;
  const DumpCell* cell(std::size_t slot) const { return &cells[slot]; }
  long line() const { return at; }
  CellPlace place(std::size_t slot) const { return cells[slot].place; }
};

constexpr std::size_t no_column = static_cast<std::size_t>(-1);
constexpr std::size_t longest_id = 40;  ///< bytes of a line that is its own id

}  // namespace

template <class Place>
std::int64_t FlatReader::State::step_of(const DumpCell& cell, const Place& place, CsvErrors& errors) const {
  constexpr double most = 9007199254740992;  // 2^53
  if (cell.kind == DumpCell::Kind::number && cell.number == std::floor(cell.number) && std::abs(cell.number) <= most) return static_cast<std::int64_t>(cell.number);
  if (cell.kind == DumpCell::Kind::text) {
    if (const auto step = number_from<std::int64_t>(trimmed(cell.text))) return *step;
    const auto real = number_from<double>(trimmed(cell.text));
    if (real && *real == std::floor(*real) && std::abs(*real) <= most) return static_cast<std::int64_t>(*real);
  }
  const std::string found = cell.kind == DumpCell::Kind::list     ? " is a list"
                            : cell.kind == DumpCell::Kind::object ? " is an object"
                            : cell.kind == DumpCell::Kind::number ? " " + number_text(cell.number)
                            : cell.kind == DumpCell::Kind::boolean ? " is true or false"
                            : cell.text.empty() || cell.kind == DumpCell::Kind::null ? " is empty"
                                                                                     : " " + shown_cell(cell.text);
  const CellPlace at = place();
  errors.add(at.line, at.column, shown_list(columns_.field[step_at]) + found + ": a whole number is wanted");
  return 0;
}

template <class Place>
double FlatReader::State::number_in(const std::string& name, const DumpCell& cell, const Place& place, ScoreTexts& scores, CsvErrors& errors, bool reward) const {
  using Kind = DumpCell::Kind;
  const auto bad = [&](const std::string& what) {
    const CellPlace at = place();
    return errors.add(at.line, at.column, shown_list(name) + what), std::nan("");
  };
  if (cell.kind == Kind::null || cell.kind == Kind::absent) return std::nan("");
  if (cell.kind == Kind::list && format == RolloutFormat::nemo_rl && (!reward || cell.numbers <= 1)) return cell.numbers > 0 ? cell.number : std::nan("");
  if (cell.kind == Kind::boolean) return cell.number;
  if (cell.kind == Kind::number && (plain_ || !reward)) return cell.number;
  if (cell.kind == Kind::list || cell.kind == Kind::object) return bad(std::string(" is ") + (cell.kind == Kind::list ? "a list" : "an object") + ": a number is wanted");
  const std::string_view text = cell.text;
  const CellText read = reward ? scores.read(text) : scores.read_number(text);
  if (read.kind == CellText::Kind::blank) return std::nan("");
  if (read.kind == CellText::Kind::number) return read.value;
  const auto infinite = number_from<double>(trimmed(text).starts_with('+') ? trimmed(text).substr(1) : trimmed(text));
  if (infinite && std::isinf(*infinite)) return bad(" is infinite");
  return bad(" " + shown_cell(text) + (read.mistake ? std::string(" ") + read.mistake : ": a number is wanted"));
}

template <class Source>
bool FlatReader::State::add_row(const Source& source, ScoreTexts& scores, CsvErrors& errors) {
  using Kind = DumpCell::Kind;
  static const DumpCell nothing;
  const std::size_t before = errors.size();
  DumpRow row;
  row.line = static_cast<std::uint32_t>(source.line());
  const auto at = [&](DumpField f) -> const DumpCell* {
    if (source.field[f] == no_column) return nullptr;
    const DumpCell* cell = source.cell(source.field[f]);
    if (cell == nullptr) errors.add(source.line(), 1, "no key " + shown_cell(columns_.field[f]));
    return cell ? cell : &nothing;
  };
  const auto place = [&](std::size_t slot) { return [&source, slot] { return source.place(slot); }; };
  row.step = file_step_;
  if (const DumpCell* cell = at(step_at); cell && cell->kind != Kind::absent) row.step = step_of(*cell, place(source.field[step_at]), errors);
  check_step(row.step, row.line, errors);
  char hash[24];
  const auto id = [&](const DumpCell& cell, DumpField f) -> std::string_view {
    if (cell.kind == Kind::null || (cell.kind == Kind::text && cell.text.empty())) {
      const CellPlace place = source.place(source.field[f]);
      errors.add(place.line, place.column, shown_list(columns_.field[f]) + " is empty");
    }
    const bool scalar = cell.kind != Kind::list && cell.kind != Kind::object;
    if (scalar && cell.text.size() <= longest_id && cell.text.find_first_of("\r\n\t") == std::string::npos) return cell.text;
    const auto end = fmt::format_to_n(hash, sizeof hash, "t{:016x}", cell.hash).out;
    return {hash, static_cast<std::size_t>(end - hash)};
  };
  const DumpCell* const group = at(group_at);
  if (group && group->kind != Kind::absent) row.prompt = id(*group, group_at), row.group = hash_of(row.prompt);
  const DumpCell* const prompt = at(prompt_at);
  const bool by_content = format == RolloutFormat::nemo_rl && group == nullptr;
  if (prompt && prompt->kind != Kind::absent && format != RolloutFormat::nemo_rl) row.prompt = id(*prompt, prompt_at);
  if (group && prompt && row.group != 0 && format != RolloutFormat::nemo_rl) {  // numbers of groups may begin anew with each prompt
    const std::uint64_t step_group = hash_of({reinterpret_cast<const char*>(&row.step), sizeof row.step}, row.group);
    row.group = hash_of(row.prompt, row.group);
    if (prompt_of_group_.try_emplace(step_group, row.group).first->second != row.group) shared_groups_.insert(step_group);
  }
  if (source.field[run_at] != no_column)
    if (const DumpCell* run = source.cell(source.field[run_at]); run != nullptr && !run->text.empty() && !runs_) {
      if (run_.empty()) run_ = run->text;
      if (runs_ = run->text != run_; runs_) {
        const CellPlace at = source.place(source.field[run_at]);
        errors.add(at.line, at.column, fmt::format("{} {}, and rows before are of {}: one training is read at a time; of an export, `export --only` keeps one run", columns_.field[run_at], shown_cell(run->text), shown_cell(run_)));
      }
    }
  if (source.field[uid_at] != no_column)
    if (const DumpCell* uid = source.cell(source.field[uid_at]); uid != nullptr && !uid->text.empty()) {
      const auto rollout = rollout_of(uid->text);
      row.group = hash_of(rollout ? rollout->first.substr(0, rollout->first.rfind('_')) : uid->text);
      if (rollout) row.identity = hash_of(rollout->first), row.rank = static_cast<std::int32_t>(rollout->second);
    }
  for (const auto& [field, to] : {std::pair{advantage_at, &row.advantage}, {length_at, &row.length}})
    if (const DumpCell* cell = at(field)) *to = number_in(columns_.field[field], *cell, place(source.field[field]), scores, errors, false);
  if (format == RolloutFormat::nemo_rl) {
    if (const DumpCell* cell = at(advantage_at)) differing_ += cell->differ;
    if (const DumpCell* cell = at(length_at); cell && columns_.field[length_at] == "token_loss_mask") row.length = cell->other_than_0;
  }
  if (source.field[completion_at] != no_column) {
    const DumpCell* cell = source.cell(source.field[completion_at]);
    if (cell != nullptr && source.field[length_at] == no_column && cell->kind >= Kind::text) row.length = cell->words;
    if (cell != nullptr && format == RolloutFormat::trl) row.identity = cell->hash;
  }
  for (std::size_t c = 0; c < source.reward.size(); ++c) {
    const DumpCell* cell = source.cell(source.reward[c]);
    double& reward = rewards_[c];
    if (cell == nullptr) {
      errors.add(source.line(), 1, "no key " + shown_cell(columns_.rewards[c]));
    } else if (all_ && cell->kind != Kind::number && cell->kind != Kind::null) {
      texts[c] = true, reward = std::nan("");
    } else {
      reward = number_in(columns_.rewards[c], *cell, place(source.reward[c]), scores, errors, true);
      if (reward == reward) numbers[c] = true, fractions[c] = fractions[c] || !cell->whole;
    }
  }
  if (errors.size() > before) return false;
  if (!by_content) return rows.add(row, rewards_), true;
  if (!waiting_.empty()) common_.push_back(common_beginning(waiting_.back().content, prompt->text));
  waiting_.push_back({row, rewards_, prompt->text});
  return true;
}

void FlatReader::State::read_json(const TextView& text) {
  CsvErrors errors(text.name);
  errors.count_same();
  JsonSource source(text.text);
  ScoreTexts scores(rows.how.scores, 0);
  bool first = true;
  for (source.item = source.items.next(); !source.item.empty() && !errors.enough(); source.item = source.items.next()) {
    ObjectReader& objects = source.objects;
    bool sound = objects.read(source.item);
    if (sound && first) {
      first = false;
      begin(text, objects.keys(), source.items.line(), errors);
      for (std::size_t f = 0; f < dump_fields; ++f) {
        source.field[f] = no_column;
        if (columns_.field[f].empty()) continue;
        const unsigned use = f == completion_at ? (columns_.field[length_at].empty() ? kept_words : 0u) | (format == RolloutFormat::trl ? kept_hash : 0u)
                             : f == prompt_at && format == RolloutFormat::nemo_rl ? kept_text | kept_inside
                             : f == prompt_at || f == group_at || f == uid_at || f == run_at ? kept_text | kept_digits | kept_hash
                                                                               : kept_text | (plain_ ? 0u : kept_digits);
        source.field[f] = objects.slot(columns_.field[f], use);
      }
      for (const std::string& name : columns_.rewards) source.reward.push_back(objects.slot(name, kept_text | (plain_ ? 0u : kept_digits)));
      sound = objects.read(source.item);
    }
    if (!sound) {
      const CellPlace at = source.items.place(source.item, objects.error_at > 0 ? objects.error_at - 1 : 0);
      errors.add(at.line, at.column, objects.error_at > 0 ? "this line is no JSON object" : "an object is wanted in each line");
    } else if (!objects.twice.empty()) {
      const CellPlace at = source.items.place(source.item, source.item.rfind('"' + objects.twice + '"'));
      errors.add(at.line, at.column, "key " + shown_cell(objects.twice) + " stands twice");
    } else {
      add_row(source, scores, errors);
    }
  }
  if (first && !errors.any()) errors.add(1, 1, "nothing in it; wanted an object a line");
  if (source.items.is_cut()) errors.add(source.items.line(), 1, "the list ends behind this object without ]: the file is cut off");
  if (errors.any()) throw Failure(Exit::bad_input, errors.text());
  add_waiting(text);
  for (std::string& note : scores.notes()) rows.note(text.name + ": " + note);
}

void FlatReader::State::read_table(const TextView& text) {
  CsvErrors errors(text.name);
  const char separator = rows.how.scores.separator != 0 ? rows.how.scores.separator : format == RolloutFormat::tsv ? '\t' : separator_of(text.text);
  CsvReader reader(text.text, separator);
  std::vector<CsvField> fields;
  ScoreTexts scores(rows.how.scores, separator);
  if (!reader.next(fields, errors)) errors.add(1, 1, "nothing in it; wanted a header and a row for each completion");
  if (!errors.any()) check_csv_header(fields, "the first line must name the columns, such as step,prompt,reward", errors, separator);
  if (errors.any()) throw Failure(Exit::bad_input, errors.text());
  std::vector<std::string> names;
  for (const CsvField& field : fields) {
    names.push_back(csv_text(field));
    if (std::find(names.begin(), names.end() - 1, names.back()) != names.end() - 1) errors.add(field.line, field.column, "column " + shown_cell(names.back()) + " stands twice");
  }
  reader.header_has(fields.size());
  begin(text, names, fields[0].line, errors);
  TableSource source;
  source.cells.resize(names.size());
  const auto column = [&](const std::string& name) { return name.empty() ? no_column : static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin()); };
  std::vector<bool> wanted(names.size(), false);
  for (std::size_t f = 0; f < dump_fields; ++f)
    if (source.field[f] = column(columns_.field[f]); source.field[f] != no_column) wanted[source.field[f]] = true;
  for (const std::string& name : columns_.rewards) source.reward.push_back(column(name)), wanted[source.reward.back()] = true;
  for (std::size_t before = errors.size(); !errors.enough() && reader.next(fields, errors); before = errors.size()) {
    if (errors.size() > before || !check_field_count(fields, names.size(), errors)) continue;
    source.at = fields[0].line;
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (!wanted[i]) continue;
      DumpCell& cell = source.cells[i];
      const bool doubled = fields[i].quoted && fields[i].text.find('"') != std::string_view::npos;
      if (doubled) cell.text = csv_text(fields[i]);
      else cell.text = fields[i].text;
      cell.kind = cell.text.empty() ? DumpCell::Kind::null : DumpCell::Kind::text;
      cell.place = {fields[i].line, fields[i].column};
      cell.hash = hash_of(cell.text);
      if (i == source.field[completion_at]) cell.words = words_of(cell.text);
    }
    add_row(source, scores, errors);
  }
  if (errors.any()) throw Failure(Exit::bad_input, errors.text());
  if (std::string note = reader.skipped_note(); !note.empty()) rows.note(text.name + ": " + note);
  for (std::string& note : scores.notes()) rows.note(text.name + ": " + note);
}

FlatReader::FlatReader(RolloutFormat format, DumpRows& rows) : state_(std::make_unique<State>(format, rows)) {}
FlatReader::~FlatReader() = default;

void FlatReader::read(const TextView& text) {
  if (state_->format <= RolloutFormat::tsv) state_->read_table(text);
  else state_->read_json(text);
}

Rollouts FlatReader::finish() { return state_->finish(); }

}  // namespace odrpo
