// Reads the traces of prime-rl: an episode a line, with the traces of its agents and their named rewards.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kernels/shared/failure.hpp"
#include "kernels/shared/words.hpp"
#include "kernels/system/fail.hpp"
#include "kernels/system/text.hpp"
#include "results/scores/rollouts/json_cells.hpp"
#include "results/scores/rollouts/readers.hpp"
#include "results/scores/score_texts.hpp"
#include "results/scores/tool_text.hpp"

namespace odrpo {
namespace {

const Json* first_of(const Json& json, std::initializer_list<std::initializer_list<const char*>> paths) {
  for (const auto& path : paths)
    if (const Json& found = member(json, path); !found.is_null()) return &found;
  return nullptr;
}

}  // namespace

/// The number of a value that is one; NaN for null.
double TraceReader::number_in(const Json& json, const std::string& name, const TextView& text, long line) const {
  if (json.is_null()) return std::nan("");
  if (json.is_boolean()) return json.get<bool>();
  if (json.is_number() && rows_.how.scores.missing.empty()) return json.get<double>();
  ScoreTexts scores(rows_.how.scores, 0);
  const CellText cell = scores.read(text_of(json));
  if (cell.kind == CellText::Kind::blank) return std::nan("");
  if (cell.kind != CellText::Kind::number) fail(Exit::bad_input, "{}:{}:1: error: {} {}: a number is wanted", text.name, line, shown_list(name), shown_cell(text_of(json)));
  return cell.value;
}

void TraceReader::read_trace(const Json& trace, DumpRow row, const TextView& text) {
  if (member(trace, {"agent", "trainable"}) == false) {
    ++untrained_;
    return;
  }
  if (const std::string agent = text_of(member(trace, {"agent", "name"})); !agent.empty()) row.group = hash_of(agent, row.group);
  if (const std::string id = text_of(member(trace, {"id"})); !id.empty()) row.identity = hash_of(id);
  row.advantage = number_in(member(trace, {"info", "advantage"}), "info.advantage", text, row.line);
  row.rank = std::isnan(row.advantage) ? 0 : 1;
  row.length = number_in(member(trace, {"num_output_tokens"}), "num_output_tokens", text, row.line);
  std::vector<double> values(names_.size(), std::nan(""));
  const Json& rewards = member(trace, {"rewards"});
  if (rewards.is_object())
    for (const auto& [name, reward] : rewards.items()) {
      const auto at = std::find(names_.begin(), names_.end(), name);
      const auto n = static_cast<std::size_t>(at - names_.begin());
      if (at == names_.end()) names_.push_back(name), weights_.emplace_back(), values.push_back(0);
      values[n] = number_in(reward.is_object() ? member(reward, {"score"}) : reward, "rewards." + name, text, row.line);
      const double weight = number_in(member(reward, {"weight"}), "rewards." + name + ".weight", text, row.line);
      if (std::isnan(weight)) continue;
      if (weights_[n] && *weights_[n] != weight) other_weights_ = true;
      weights_[n] = weight;
    }
  prompts_.push_back(std::string(row.prompt));
  found_.push_back({row, std::move(values), static_cast<std::uint32_t>(rows_.out.files.size())});
}

void TraceReader::read(const TextView& text) {
  const auto named = step_of_name(text.name);
  if (!named) fail(Exit::bad_input, "{}:1:1: error: no step_N among its folders says the step: name the folder above them, rollouts", text.name);
  each_item(text, [&](const ToolItem& item) {
    const Json& traces = member(item.json, {"traces"});
    if (!traces.is_null() && !traces.is_array()) fail(Exit::bad_input, "{}:{}:1: error: traces is no list", text.name, item.line);
    if (traces.empty()) {
      ++empty_;
      return;
    }
    DumpRow row;
    row.step = *named, row.line = static_cast<std::uint32_t>(item.line);
    const Json* const group = first_of(item.json, {{"group", "id"}, {"group"}});
    const Json* const prompt = first_of(item.json, {{"task", "key"}, {"task", "hash"}, {"task", "data", "idx"}, {"group", "id"}, {"group"}});
    if (prompt == nullptr) fail(Exit::bad_input, "{}:{}:1: error: no key task.key, task.hash, task.data.idx or group tells the prompt", text.name, item.line);
    const std::string id = text_of(*prompt);
    row.prompt = id;
    row.group = hash_of(group ? text_of(*group) : id);
    for (const Json& trace : traces) read_trace(trace, row, text);
  });
}

Rollouts TraceReader::finish() {
  // columns are known when all files are read
  std::vector<std::size_t> columns;
  const std::string& file = rows_.out.files.front();
  std::vector<std::string> printable;
  for (const std::string& name : names_) printable.push_back(shown_list(name));
  for (const std::string& wanted : rows_.how.rewards) {
    const std::size_t before = columns.size();
    for (std::size_t n = 0; n < names_.size(); ++n)
      if (glob_match(wanted, names_[n]) && std::find(columns.begin(), columns.end(), n) == columns.end()) columns.push_back(n);
    if (columns.size() == before)
      fail(Exit::bad_input, "{}:1:1: error: no reward {}{}; found {}", file, shown_cell(wanted), did_you_mean(wanted, printable), joined(names_, [](const std::string& name) { return shown_cell(name); }));
  }
  for (std::size_t n = 0; n < names_.size() && rows_.how.rewards.empty(); ++n) columns.push_back(n);
  if (columns.empty()) fail(Exit::bad_input, "{}:1:1: error: no trace has a reward", file);
  for (const std::size_t n : columns) rows_.out.reward_names.push_back(names_[n]);
  if (rows_.out.weights.empty() && std::all_of(columns.begin(), columns.end(), [&](std::size_t n) { return weights_[n].has_value(); }) && !other_weights_)
    for (const std::size_t n : columns) rows_.out.weights.push_back(*weights_[n]);
  if (other_weights_) rows_.out.warnings.push_back("the weights of a reward differ between traces: they are not read");
  std::vector<double> rewards(columns.size());
  for (std::size_t i = 0; i < found_.size(); ++i) {
    Found& found = found_[i];
    found.values.resize(names_.size(), std::nan(""));
    for (std::size_t c = 0; c < columns.size(); ++c) rewards[c] = found.values[columns[c]];
    found.row.prompt = prompts_[i];
    rows_.add(found.row, rewards, found.file - 1);
  }
  rows_.out.length_unit = rows_.out.length.empty() ? LengthUnit::none : LengthUnit::tokens;
  if (const std::size_t n = rows_.keep_highest(); n > 0) rows_.note(fmt::format("{} left out: the same trace stands in another file of the step", counted(n, "row")));
  if (empty_ > 0) rows_.note(fmt::format("{} without traces left out", counted(empty_, "episode")));
  if (untrained_ > 0) rows_.note(fmt::format("{} of agents that are not trained left out", counted(untrained_, "trace")));
  return rows_.finish();
}

}  // namespace odrpo
