// Writes the advantages of other estimators for the rows of a dump: `odrpo-bench rollouts estimate FILE…`.
#include <fmt/format.h>

#include "app/flags/flag_values.hpp"
#include "app/rollouts/input.hpp"
#include "config/spec.hpp"
#include "kernels/shared/json.hpp"
#include "kernels/system/fail.hpp"
#include "kernels/system/output_file.hpp"
#include "kernels/system/terminal.hpp"
#include "train/rollouts/advantages.hpp"
#include "train/rollouts/rollout_analysis.hpp"

namespace odrpo::app {
namespace {

constexpr std::size_t written_at_once = 1 << 20;

/// Writes a text to a file that appears when it is complete, or to stdout.
class Rows {
 public:
  explicit Rows(const std::string& path) {
    if (!path.empty()) file_.emplace(path);
  }
  std::string text;
  void written() {
    if (text.size() >= written_at_once) flush();
  }
  void finish() {
    flush();
    if (file_) file_->commit();
  }

 private:
  void flush() {
    if (file_) file_->write(text);
    else put(text);
    text.clear();
  }
  std::optional<OutputFile> file_;
};

Whitening whitening_of_word(Whiten whiten, const EstimatorConfig& config) {
  switch (whiten) {
    case Whiten::none: break;
    case Whiten::response: return {true, WhitenScale::added, 0, 0};
    case Whiten::token: return {true, WhitenScale::added, 0, 0, WhitenUnit::token};
    case Whiten::scale: return {true, WhitenScale::added, 0, 0, WhitenUnit::response, false};
    case Whiten::compat: return whitening_after(config);
  }
  return {};
}

/// The advantages [rows] of one estimator.
std::vector<double> estimated(const RolloutInput& in, const EstimatorConfig& config, Whiten whiten) {
  GroupAdvantages make(config, in.rewards.scale, largest_group(in.rollouts));
  const Whitening whitening = whitening_of_word(whiten, config);
  const std::span<const double> reward = in.rewards.read_by(config);
  std::vector<double> out(reward.size(), 0.0);
  for (const auto& [from, to] : steps_of(in.rollouts)) {
    const auto groups = std::span(in.rollouts.groups).subspan(from, to - from);
    make.step(groups, reward, in.rollouts.length, out);
    if (!whitening.on) continue;
    const auto [begin, rows] = rows_of(groups);
    const std::span<const double> length = in.rollouts.length.empty() ? std::span<const double>() : std::span(in.rollouts.length).subspan(begin, rows);
    whiten_step(whitening, reward.subspan(begin, rows), length, std::span(out).subspan(begin, rows));
  }
  return out;
}

std::string json_value(double x) { return x == x ? fmt::format("{}", x) : "null"; }
std::string csv_number(double x) { return x == x ? fmt::format("{}", x) : ""; }
std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + '"';
}
std::string json_field(const std::string& text) { return Json(printable(text)).dump(-1, ' ', true); }

void write_rows(const RolloutInput& in, const std::vector<std::string>& names, const std::vector<std::vector<double>>& columns, bool csv, Rows& out) {
  const Rollouts& r = in.rollouts;
  const bool logged = !r.advantage.empty();
  if (csv) {
    out.text = "file,line,step,prompt,row,reward";
    for (const std::string& name : names) out.text += ',' + csv_field(name);
    out.text += logged ? ",logged\n" : "\n";
  }
  std::vector<std::string> files, keys;
  for (const std::string& file : r.files) files.push_back(csv ? csv_field(printable_line(file)) : json_field(file));
  for (const std::string& name : names) keys.push_back(json_field(name));
  for (const RolloutGroup& g : r.groups) {
    const std::string& id = r.prompts[g.prompt];
    const std::string prompt = csv ? csv_field(printable(id)) : json_field(id);
    for (std::uint32_t i = 0; i < g.count; ++i) {
      const std::size_t row = g.first + i;
      const RowPlace& at = r.place[row];
      auto to = std::back_inserter(out.text);
      if (csv) fmt::format_to(to, "{},{},{},{},{},{}", files[at.file], at.line, g.step, prompt, i, csv_number(in.rewards.reward[row]));
      else fmt::format_to(to, R"({{"file":{},"line":{},"step":{},"prompt":{},"row":{},"reward":{})", files[at.file], at.line, g.step, prompt, i, json_value(in.rewards.reward[row]));
      for (std::size_t c = 0; c < columns.size(); ++c) {
        if (csv) fmt::format_to(to, ",{}", columns[c][row] + 0.0);
        else fmt::format_to(to, ",{}:{}", keys[c], columns[c][row] + 0.0);  // no -0
      }
      if (logged && csv) fmt::format_to(to, ",{}", csv_number(r.advantage[row]));
      if (logged && !csv) fmt::format_to(to, ",\"logged\":{}", json_value(r.advantage[row]));
      out.text += csv ? "\n" : "}\n";
      out.written();
    }
  }
  out.finish();
}

}  // namespace

int rollouts_estimate(const RolloutsEstimateOptions& o) {
  if (o.estimators.empty()) fail(Exit::usage, "--estimator is missing: a word of `list estimators`, such as grpo");
  const ChosenEstimators chosen = chosen_estimators(o, {});
  const Whiten whiten = o.whiten.empty() ? Whiten::none : word_or_refuse<Whiten>("--whiten", whiten_words, o.whiten);
  rollout_reading(o), scale_choice(o);  // throw for invalid flags, before any file is read
  const bool csv = o.output.ends_with(".csv");
  if (!o.output.empty() && !csv && !o.output.ends_with(".jsonl")) fail(Exit::usage, "-o {}: advantages are written as .csv or .jsonl", o.output);
  for (const std::string& path : o.paths)
    if (!o.output.empty()) check_output(o.output, path);
  const RolloutInput in = read_rollout_input(o, false);
  for (const auto* list : {&in.rollouts.warnings, &in.rollouts.notes, &in.notes, &chosen.notes})
    for (const std::string& note : *list) print_note(printable_line(note));
  std::vector<std::vector<double>> columns;
  std::vector<std::string> names;
  for (std::size_t e = 0; e < chosen.configs.size(); ++e) {
    columns.push_back(estimated(in, chosen.configs[e], whiten));
    names.push_back(chosen.configs.size() == 1 ? "advantage" : "advantage:" + chosen.texts[e]);
  }
  Rows out(o.output);
  write_rows(in, names, columns, csv, out);
  return static_cast<int>(Exit::ok);
}

}  // namespace odrpo::app
