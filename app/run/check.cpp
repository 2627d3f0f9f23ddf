// Prints the grid of a suite, all its settings and its estimated cost, and trains nothing: `odrpo-bench check`.
#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <map>
#include <set>

#include "app/command.hpp"
#include "app/run/device_choice.hpp"
#include "app/run/shard.hpp"
#include "app/run/shipped_suites.hpp"
#include "config/catalogue/axis.hpp"
#include "config/catalogue/believed_judge.hpp"
#include "config/spec.hpp"
#include "config/write/canonical.hpp"
#include "kernels/shared/json.hpp"
#include "kernels/system/host.hpp"
#include "kernels/system/terminal.hpp"
#include "kernels/system/text.hpp"
#include "results/scores/csv.hpp"
#include "results/table/dimensions.hpp"
#include "train/schedule/cost.hpp"

namespace odrpo::app {

namespace {

// One axis of the grid, and its values in the order in which runs first have them.
struct Dimension {
  std::string name;
  std::vector<std::string> values;
};

// Indices of runs that together have every value of every axis but the seed. Some of these runs may add no new value.
std::vector<std::size_t> runs_with_new_values(const RunGrid& runs) {
  using enum GridPart;
  std::vector<std::size_t> all;
  for (const GridPart part : {env, rater, policy, estimator, votes, learn}) {
    const std::vector<std::size_t> some = runs.first_of_each({part});
    all.insert(all.end(), some.begin(), some.end());
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

std::vector<Dimension> dimensions(const Suite& suite) {
  std::vector<Dimension> all{{"env", {}}, {"rater", {}}, {"policy", {}}, {"estimator", {}}, {"votes", {}}};
  for (const auto& name : suite.axis_names) all.push_back({name, {}});
  all.push_back({"seed", {}});
  std::vector<std::set<std::string>> seen(all.size());
  const auto add = [&](std::size_t i, const std::string& value) {
    if (seen[i].insert(value).second) all[i].values.push_back(value);
  };
  for (const std::size_t i : runs_with_new_values(suite.runs)) {
    const RunSpec run = suite.runs[i];
    const std::string* names[] = {&run.env_name, &run.rater_name, &run.policy_name, &run.estimator_name};
    for (std::size_t i = 0; i < 4; ++i) add(i, *names[i]);
    add(4, std::to_string(run.votes));
    for (const auto& [name, value] : run.axes)
      add(5 + static_cast<std::size_t>(std::find(suite.axis_names.begin(), suite.axis_names.end(), name) - suite.axis_names.begin()),
          value_text(value));
  }
  std::vector<bool> met(static_cast<std::size_t>(suite.seeds), false);
  for (std::size_t i = 0; i < suite.runs.size(); ++i) {
    const int seed = suite.runs.seed(i);
    if (!met[static_cast<std::size_t>(seed)]) all.back().values.push_back(fmt::format("s{}", seed));
    met[static_cast<std::size_t>(seed)] = true;
  }
  return all;
}

// If a suite compares estimators and its learning rates are too far apart, a warning; else empty.
std::string coarse_rates_note(const Suite& suite) {
  std::string note;
  bool compares = false;
  for (const Dimension& d : dimensions(suite)) {
    compares |= d.name == "estimator" && d.values.size() > 1;
    if (!is_learning_rate(d.name)) continue;
    std::vector<double> rates;
    for (const std::string& value : d.values)
      if (const auto rate = number_of(value); rate && *rate > 0) rates.push_back(*rate);
    std::sort(rates.begin(), rates.end());
    for (std::size_t i = 1; i < rates.size() && note.empty(); ++i)
      if (rates[i] > coarse_factor * rates[i - 1])
        note = fmt::format("{}: {:g} and {:g} differ by more than a factor of {:g}: the grid may decide which estimator is better", d.name,
                           rates[i - 1], rates[i], coarse_factor);
  }
  return compares ? note : "";
}

// Lists the values of an axis, with line breaks before column 100 and `indent` blanks after each. After 40 values comes "...".
std::string values_text(const std::vector<std::string>& values, std::size_t indent) {
  std::string text;
  std::size_t column = indent;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::string piece = i == 40 ? "..." : values[i] + (i + 1 < values.size() ? ", " : "");
    if (column + piece.size() > 100 && column > indent) {
      text.erase(text.find_last_not_of(' ') + 1);
      text.append("\n").append(indent, ' ');
      column = indent;
    }
    text += piece;
    column += piece.size();
    if (i == 40) break;
  }
  return text;
}

// Ids of the first two runs and of the last, as examples.
std::vector<std::string> examples(const Suite& suite) {
  std::vector<std::string> ids;
  for (std::size_t i = 0; i < suite.runs.size(); ++i)
    if (i < 2 || i + 1 == suite.runs.size()) ids.push_back(suite.runs.id(i));
  if (suite.runs.size() > 3) ids.insert(ids.begin() + 2, "...");
  return ids;
}

// The modelled cost of the judge: "judge, as its raters model it: 19,200 calls, 0.53 h one run after the other, price 38.4".
std::string judge_text(const JudgeBill& judge) {
  std::string text = fmt::format("judge, as its raters model it: {} calls", count_text(judge.calls));
  if (judge.seconds) text += fmt::format(", {:.4g} h one run after the other", *judge.seconds / 3600);
  if (judge.cost) text += fmt::format(", price {:.6g}", *judge.cost);
  return text;
}

constexpr double rounding_of_bias = 1e-9;  // levels; a smaller bias is rounding

// What corrected estimators make of the scores of one judge, and how far this is from quality in the mean.
struct CorrectedLine {
  std::string judge;  // "mixed", or "mixed, model veto"
  int votes;
  double seconds;
  std::set<std::string> estimators;
  CorrectedScores scores;  // empty: they take too long for this command
  std::optional<CorrectionBias> bias;  // none: the rater has no channel
};

std::vector<CorrectedLine> corrected_lines(const Suite& suite) {
  std::vector<CorrectedLine> lines;
  std::map<std::string, std::size_t> met;
  using enum GridPart;
  for (const std::size_t i : suite.runs.first_of_each({env, rater, estimator, votes})) {
    const RunSpec run = suite.runs[i];
    if (!run.estimator.corrected) continue;
    const std::string judge = run.rater_name + (run.model ? ", model " + run.estimator.model : "");
    const auto [at, is_new] = met.try_emplace(fmt::format("{} {} {} {} {}", judge, canonical_fields(run.rater), correction_key(run),
                                                          static_cast<int>(run.env.kind), static_cast<int>(run.env.bandit.quality)),
                                              lines.size());
    if (is_new) {
      lines.push_back({judge, run.votes, correction_seconds(run), {}, {}, {}});
      CorrectedLine& line = lines.back();
      if (line.seconds <= most_correction_seconds) line.scores = correct_judge(run).scores, line.bias = correction_bias(run, line.scores);
    }
    lines[at->second].estimators.insert(run.estimator_name);
  }
  return lines;
}

void print_corrected(const std::vector<CorrectedLine>& lines) {
  if (!lines.empty()) fmt::print("\ncorrected scores\n");
  for (const CorrectedLine& line : lines) {
    if (line.scores.score.empty()) {
      fmt::print("  rater {}, {}: {}\n    made when a run begins, in about {}\n", line.judge, counted(line.votes, "vote"), joined(line.estimators),
                 seconds_text(line.seconds));
      continue;
    }
    std::vector<std::string> scores;
    for (std::size_t k = 0; k < line.scores.score.size(); ++k) scores.push_back(fmt::format("{} -> {:.4g}", k + 1, line.scores.score[k]));
    fmt::print("  rater {}, {}: {}\n    {}\n    condition number {:.3g}; ", line.judge, counted(line.votes, "vote"), joined(line.estimators),
               values_text(scores, 4), line.scores.condition);
    const auto shown = [](double off) { return fmt::format("{:.2g}", off < rounding_of_bias ? 0 : off); };
    if (!line.bias) fmt::print("bias unknown: the rater has no channel by level\n");
    else
      fmt::print("E[score] - quality at most {} at whole levels and {} between, rms over prompts and responses {}\n", shown(line.bias->levels),
                 shown(line.bias->between), shown(line.bias->kinds));
  }
}

void print_text(const Suite& suite, const Cost& cost, int jobs, const ChosenDevices& where) {
  fmt::print("suite {}: {} run{}\n\n", suite.name, count_text(static_cast<double>(suite.runs.size())), suite.runs.size() == 1 ? "" : "s");
  const auto grid = dimensions(suite);
  std::size_t width = 9;
  for (const auto& d : grid) width = std::max(width, code_points(d.name));
  for (const auto& d : grid) {
    const auto n = d.values.size();
    const std::string values = d.name == "seed" && n > 2 ? fmt::format("{} ... {} (seed {})", d.values.front(), d.values.back(), suite.seed)
                                                         : values_text(d.values, width + 11);
    fmt::print("  {:<{}}  {:>5}  {}\n", d.name, width, n, values);
  }
  fmt::print("\nruns, for example\n");
  for (const auto& id : examples(suite)) fmt::print("  {}\n", id);
  fmt::print("\ncost, roughly\n  {} of one core, {} judge calls, {} of memory with {}, {} on disk\n", seconds_text(cost.cpu_seconds),
             count_text(cost.judge_calls), bytes_text(cost.memory_bytes), counted(jobs, "job"), bytes_text(cost.disk_bytes));
  if (cost.judge.seconds || cost.judge.cost) fmt::print("  {}\n", judge_text(cost.judge));
  print_corrected(corrected_lines(suite));
  if (!where.words.empty()) fmt::print("\ndevice\n");
  for (const auto& words : where.words) fmt::print("  {}\n", words);
  fmt::print("\nresolved\n");
  for (const std::string& line : lines_of(suite.resolved)) fmt::print("{}{}\n", line.empty() ? "" : "  ", line);
  fmt::print("\nOK\n");
}

std::vector<int> votes_of(const Suite& suite) {
  std::set<int> votes;
  for (const std::size_t i : suite.runs.first_of_each({GridPart::votes})) votes.insert(suite.runs[i].votes);
  return {votes.begin(), votes.end()};
}

// The devices that would train the runs, and in "on_cpu" the reasons why runs stay on the CPU; empty if no device is asked for.
Json device_json(const ChosenDevices& where) {
  Json out = {
      {"engines", Json::array()}, {"runs", where.on_engines}, {"on_cpu", Json::array()}};
  for (const BatchEngine& e : where.engines) out["engines"].push_back(e.name);
  for (const Unbatched& l : where.on_cpu) out["on_cpu"].push_back({{"runs", l.runs}, {"why", l.why}});
  return out;
}

// Prints the suite as JSON. Writes the ids of runs one by one, so that only one of them is in memory.
void print_json(const Suite& suite, const Cost& cost, int jobs, const ChosenDevices* where) {
  Json out = {
      {"ok", true}, {"suite", suite.name}, {"seed", suite.seed}, {"seeds", suite.seeds}, {"runs", suite.runs.size()}};
  for (const auto& d : dimensions(suite)) out["grid"][d.name] = d.values;
  out["grid"]["votes"] = votes_of(suite);
  out["axes"] = suite.axis_names;
  out["cost"] = {{"cpu_seconds", cost.cpu_seconds},
                 {"judge_calls", cost.judge_calls},
                 {"memory_bytes", cost.memory_bytes},
                 {"disk_bytes", cost.disk_bytes},
                 {"jobs", jobs}};
  if (cost.judge.seconds || cost.judge.cost) {
    Json judge = {{"calls", cost.judge.calls}};
    if (cost.judge.seconds) judge["seconds"] = *cost.judge.seconds;
    if (cost.judge.cost) judge["cost"] = *cost.judge.cost;
    out["cost"]["judge"] = judge;
  }
  for (const CorrectedLine& line : corrected_lines(suite)) {
    Json one = {{"judge", line.judge}, {"votes", line.votes}, {"estimators", line.estimators}, {"seconds", line.seconds}};
    if (!line.scores.score.empty()) one["scores"] = line.scores.score, one["condition"] = line.scores.condition;
    if (line.bias) one["bias"] = {{"levels", line.bias->levels}, {"between", line.bias->between}, {"kinds", line.bias->kinds}};
    out["corrected"].push_back(one);
  }
  if (where) out["device"] = device_json(*where);
  const std::string resolved = Json(suite.resolved).dump();
  std::string head = out.dump(2);
  head.resize(head.size() - 2);  // without the closing brace
  std::cout << head << ",\n  \"ids\": [";
  for (std::size_t i = 0; i < suite.runs.size(); ++i)
    std::cout << (i > 0 ? ",\n    " : "\n    ") << Json(suite.runs.id(i)).dump();
  std::cout << "\n  ],\n  \"resolved\": " << resolved << "\n}\n";
}

}  // namespace

int check(const CheckOptions& options) {
  const DeviceWish wish = device_wish(options.device);
  const ChosenPart chosen = options.suite.shard.empty() ? ChosenPart() : choose_part(options.suite.shard);
  std::string path = options.suite.path;
  Suite suite = load_named_suite(path, options.suite.set, options.suite.only);
  if (chosen.part.count > 1) take_part(suite, chosen.part);
  if (!options.quiet && !chosen.note.empty()) print_note("note: " + chosen.note);
  for (const auto& text : suite.notes)
    if (!options.quiet) print_note("note: " + text);
  if (const std::string note = coarse_rates_note(suite); !options.quiet && !note.empty()) print_note("note: " + note);
  const int jobs = jobs_or_cores(options.jobs);
  const Cost cost = check_limits(suite, jobs);
  const ChosenDevices where = choose_devices(suite, wish);
  if (options.json) print_json(suite, cost, jobs, wish.look ? &where : nullptr);
  else print_text(suite, cost, jobs, where);
  return 0;
}

}  // namespace odrpo::app
