// Writes the advantages of other estimators for the rows of a dump: `odrpo-bench rollouts estimate FILE…`.
#include <fmt/format.h>

#include "app/flags/estimator_flag.hpp"
#include "app/flags/flag_values.hpp"
#include "app/rollouts/input.hpp"
#include "app/rollouts/judged_report.hpp"
#include "config/spec.hpp"
#include "kernels/shared/json.hpp"
#include "kernels/system/fail.hpp"
#include "kernels/system/output_file.hpp"
#include "kernels/system/terminal.hpp"
#include "results/scores/csv.hpp"
#include "train/rollouts/advantages.hpp"
#include "train/rollouts/rollout_analysis.hpp"
#include "train/whiten_choice.hpp"

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

/// Advantages [rows] before whitening, of an estimator that needs no judge.
std::vector<double> estimated(const RolloutInput& in, const EstimatorConfig& config) {
  GroupAdvantages make(config, in.rewards.scale, largest_group(in.rollouts));
  const std::span<const double> reward = in.rewards.read_by(config);
  if (row_of(config.form).reads == Reads::lengths) need_lengths(in.rollouts, reward, 1, estimator_word(config));
  std::vector<double> out(reward.size(), 0.0);
  for (const auto& [from, to] : steps_of(in.rollouts)) make.step(std::span(in.rollouts.groups).subspan(from, to - from), reward, in.rollouts.length, out);
  return out;
}

/// Whitens the advantages of each step in place.
void whiten_steps(const RolloutInput& in, const EstimatorConfig& config, Whiten whiten, std::vector<double>& out) {
  const Whitening whitening = whitening_of(whiten, 0, 0, config);
  if (!whitening.on) return;
  const std::span<const double> reward = config.posterior ? std::span<const double>(in.rewards.reward) : in.rewards.read_by(config);
  if (whitening.unit == WhitenUnit::token) need_lengths(in.rollouts, reward, 0, "whitening over tokens");
  for (const auto& [from, to] : steps_of(in.rollouts)) {
    const auto groups = std::span(in.rollouts.groups).subspan(from, to - from);
    const auto [begin, rows] = rows_of(groups);
    const std::span<const double> length = in.rollouts.length.empty() ? std::span<const double>() : std::span(in.rollouts.length).subspan(begin, rows);
    whiten_step(whitening, reward.subspan(begin, rows), length, std::span(out).subspan(begin, rows));
  }
}

std::string json_value(double x) { return x == x ? fmt::format("{}", x) : "null"; }
std::string json_field(const std::string& text) { return Json(printable(text)).dump(-1, ' ', true); }

void write_rows(const RolloutInput& in, const std::vector<std::string>& names, const std::vector<std::vector<double>>& columns, bool csv, Rows& out) {
  const Rollouts& r = in.rollouts;
  const bool logged = !r.advantage.empty();
  if (csv) {
    out.text = "file,line,step,prompt,group,row,reward";
    for (const std::string& name : names) out.text += ',' + csv_field(name);
    out.text += logged ? ",logged\n" : "\n";
  }
  std::vector<std::string> files, keys;
  for (const std::string& file : r.files) files.push_back(csv ? csv_field(printable_line(file)) : json_field(file));
  for (const std::string& name : names) keys.push_back(json_field(name));
  for (std::size_t n = 0; n < r.groups.size(); ++n) {
    const RolloutGroup& g = r.groups[n];
    const std::string& id = r.prompts[g.prompt];
    const std::string prompt = csv ? csv_field(printable(id)) : json_field(id);
    for (std::uint32_t i = 0; i < g.count; ++i) {
      const std::size_t row = g.first + i;
      const LinePlace& at = r.place[row];
      auto to = std::back_inserter(out.text);
      if (csv) fmt::format_to(to, "{},{},{},{},{},{},{}", files[at.file], at.line, g.step, prompt, n + 1, i, exact_text(in.rewards.reward[row]));
      else fmt::format_to(to, R"({{"file":{},"line":{},"step":{},"prompt":{},"group":{},"row":{},"reward":{})", files[at.file], at.line, g.step, prompt, n + 1, i, json_value(in.rewards.reward[row]));
      for (std::size_t c = 0; c < columns.size(); ++c) {
        if (csv) fmt::format_to(to, ",{}", columns[c][row] + 0.0);
        else fmt::format_to(to, ",{}:{}", keys[c], columns[c][row] + 0.0);  // no -0
      }
      if (logged && csv) fmt::format_to(to, ",{}", exact_text(r.advantage[row]));
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
  const ChosenEstimators chosen = chosen_estimators(o, {}, !o.judge.empty());
  JudgedOptions asked;
  for (const EstimatorConfig& config : chosen.judged)
    if (config.posterior) asked.estimators.push_back(config);
  if (!o.judge.empty() && asked.estimators.empty()) fail(Exit::usage, "--judge has no effect: no posterior estimator is asked for");
  const Whiten whiten = o.whiten.empty() ? Whiten::none : word_or_refuse<Whiten>("--whiten", whiten_words, o.whiten);
  rollout_reading(o), scale_choice(o);  // throw for invalid flags, before any file is read
  const bool csv = o.output.ends_with(".csv");
  if (!o.output.empty() && !csv && !o.output.ends_with(".jsonl")) fail(Exit::usage, "-o {}: advantages are written as .csv or .jsonl", o.output);
  for (const std::string& path : o.paths)
    if (!o.output.empty()) check_output(o.output, path);
  const RolloutInput in = read_rollout_input(o, false);
  for (const auto* list : {&in.rollouts.warnings, &in.rollouts.notes, &in.notes, &chosen.notes})
    for (const std::string& note : *list) print_note(printable_line(note));
  std::vector<std::vector<double>> columns, posterior;
  if (!asked.estimators.empty()) {
    asked.judge = read_judge_of_dump(o.judge, o.judge_scale, o.judge_votes);
    asked.column = judge_column(in.rollouts, o.judge_reward);
    asked.weight = in.rewards.weights;
    posterior = posterior_advantages(in.rollouts, asked);
  }
  std::vector<std::string> names;
  std::size_t of_judge = 0;
  for (const EstimatorConfig& config : chosen.judged) {
    columns.push_back(config.posterior ? std::move(posterior[of_judge++]) : estimated(in, config));
    whiten_steps(in, config, whiten, columns.back());
    names.push_back(chosen.judged.size() == 1 ? "advantage" : "advantage:" + estimator_text(config));
  }
  Rows out(o.output);
  write_rows(in, names, columns, csv, out);
  return static_cast<int>(Exit::ok);
}

}  // namespace odrpo::app
