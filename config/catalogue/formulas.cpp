// Writes the formulas of a suite's runs, and what its raters do, as lines of text.
#include "config/catalogue/formulas.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "config/catalogue/axis.hpp"
#include "config/catalogue/catalogue.hpp"
#include "config/catalogue/describe.hpp"
#include "config/plan/run_grid.hpp"
#include "config/spec.hpp"
#include "config/suite.hpp"
#include "config/write/field_list.hpp"
#include "estimators/compat.hpp"
#include "estimators/formula_text.hpp"
#include "kernels/shared/words.hpp"
#include "kernels/system/text.hpp"

namespace odrpo {

namespace {

using Fields = std::vector<FieldInfo>;
constexpr std::string_view world_name = "env";

// the key that an axis sets: "lr" of the axis "lr" or "learn.lr"
std::string_view last_part(std::string_view axis) { return axis.substr(axis.rfind('.') + 1); }

bool has_key(const Fields& fields, std::string_view key) {
  return std::any_of(fields.begin(), fields.end(), [&](const FieldInfo& f) { return f.key == key; });
}

template <class Test>
bool any_of(const RunGrid& runs, const std::vector<std::size_t>& some, Test test) {
  return std::any_of(some.begin(), some.end(), [&](std::size_t i) { return test(runs[i]); });
}

// True if a group can be left with one score. Formulas then say what such a group gets, because the trainers' codes differ much there.
bool may_be_alone(const RunSpec& run) { return reward_kind(run).gaps; }

std::string formula_of(const RunSpec& run, bool alone) {
  std::string formula = estimator_formula(run.estimator);
  if (run.estimator.outside != Outside::none && run.estimator.kind == OutsideKind::final) return formula;
  if (alone && run.estimator.outside == Outside::none) formula += "; a group of one gets " + single_text(run.estimator);
  if (run.learn.whiten != Whiten::compat) return formula;
  return formula + "; afterwards " + whitening_text(whitening_after(run.estimator));
}

bool decides_formula(std::string_view axis, const std::set<std::string, std::less<>>& numbers) {
  static const Fields keys = fields_of<EstimatorConfig>();
  return last_part(axis) == "whiten" || has_key(keys, last_part(axis)) || numbers.count(last_part(axis)) > 0;
}

// the names of the numbers that formulas of the suite's estimators read
std::set<std::string, std::less<>> formula_numbers(const RunGrid& runs) {
  std::set<std::string, std::less<>> names;
  for (const std::size_t i : runs.first_of_each({GridPart::estimator}))
    for (const NamedNumber& n : runs[i].estimator.numbers) names.insert(n.name);
  return names;
}

bool decides_rater(std::string_view axis) {
  static const Fields keys = fields_of<RaterConfig>();
  const auto key = last_part(axis);
  if (key.starts_with("world_")) return false;  // the line does not show these keys
  if (axis == world_name || key == levels_key || has_key(keys, key)) return true;
  const auto model = axis.substr(0, axis.size() - std::min(axis.size(), key.size() + 1));  // "gaussian.sigma"
  return make_noise(last_part(model)).has_value();
}

// Returns lines `name<TAB>text`. A name whose axes make several texts has a line for each, called `name axis=value …`. Looks only at axes
// that decide the text. Makes each text once, from the run with the most votes, since `stop` may have no effect with fewer votes.
template <class Decides, class TextOf>
std::string lines_by(const Suite& suite, std::string RunSpec::*name, Decides decides, TextOf text_of) {
  struct Line {
    std::string name, axes;
    std::size_t run;
    int votes;
    std::string text = {};
  };
  std::vector<Line> lines;
  std::map<std::string, std::size_t> met;              // index of the line for a name and its axes
  std::map<std::string, std::set<std::string>> texts;  // all texts of each name
  const bool by_world = decides(world_name) && suite.runs.front().env_name != suite.runs.back().env_name;
  for (std::size_t c = 0; c < suite.runs.combinations(); ++c) {
    const std::size_t first = suite.runs.combination(c).first;
    const RunSpec run = suite.runs[first];
    std::string axes;
    if (by_world) axes = fmt::format(" {}={}", world_name, run.env_name);
    for (const auto& [axis, value] : run.axes)
      if (decides(axis)) axes += fmt::format(" {}={}", axis, value_text(value));
    const auto [at, fresh] = met.emplace(run.*name + axes, lines.size());
    if (fresh) lines.push_back({run.*name, axes, first, run.votes});
    else if (Line& line = lines[at->second]; run.votes > line.votes) line.run = first, line.votes = run.votes;
  }
  for (Line& line : lines) {
    line.text = text_of(suite.runs[line.run]);
    texts[line.name].insert(line.text);
  }
  std::string text;
  std::set<std::string> told;
  for (const auto& line : lines) {
    const std::string called = line.name + (texts[line.name].size() > 1 ? line.axes : "");
    if (told.insert(called).second) text += fmt::format("{}\t{}\n", called, line.text);
  }
  return text;
}

std::string settings(const Suite& suite) {
  constexpr std::string_view rules[] = {"whiten", "whiten_ddof", "whiten_eps", "dead_groups", "epochs", "ratio_clip"};
  const auto usual = fields_of<LearnConfig>(), here = fields_of(suite.runs.front().learn);
  std::string text;
  for (std::size_t i = 0; i < here.size(); ++i) {
    const auto& f = here[i];
    const auto is_axis = [&](const std::string& axis) { return last_part(axis) == f.key; };
    if (f.value == usual[i].value || std::find(std::begin(rules), std::end(rules), f.key) == std::end(rules) ||
        std::any_of(suite.axis_names.begin(), suite.axis_names.end(), is_axis))
      continue;
    text += fmt::format("\tlearn.{}={}\n", f.key, f.value);
  }
  std::string systems;  // whose conventions the estimators follow, as in the file
  std::set<Compat> met;
  for (const std::size_t i : suite.runs.first_of_each({GridPart::estimator}))
    if (const EstimatorConfig& e = suite.runs[i].estimator; e.outside == Outside::none && met.insert(e.compat).second)
      add_item(systems, word_of<Compat>(compat_words, e.compat), " and ");
  const bool is_axis = std::any_of(suite.axis_names.begin(), suite.axis_names.end(), [](const std::string& axis) { return last_part(axis) == "compat"; });
  return text + (is_axis || systems.empty() ? "" : fmt::format("\tcompat={}\n", systems));
}

// states the noise: "noise of mixed: gaussian sigma 0.47 spread 0.2; …"; or the file from which the channel was learned
std::string channel_text(const Suite& suite, const RunSpec& run) {
  for (const auto& [rater, found] : suite.judges)
    if (rater == run.rater_name) {
      std::string text = "channel learned from these scores: " + found;
      const std::vector<Noise> further(run.rater.noise.begin() + 1, run.rater.noise.end());
      return further.empty() ? text : text + "; then " + noise_line(further);
    }
  std::string preset;  // a preset with this noise; if there are several, one with this world too
  for (const auto& p : rater_presets())
    if (p.config.noise == run.rater.noise && (preset.empty() || p.word == run.rater_name || p.config.world == run.rater.world))
      if (preset != run.rater_name) preset = p.word;
  return (preset.empty() || preset == run.rater_name ? "noise: " : "noise of " + preset + ": ") + noise_line(run.rater.noise);
}

// returns the keys of a judge of texts that are not at their defaults: "length_bias 0.1, length_mid 12"
std::string bias_text(const RaterConfig& rater) {
  std::string text;
  const auto usual = fields_of<TextJudge>(), here = fields_of(rater.text);
  for (std::size_t i = 0; i < here.size(); ++i)
    if (here[i].value != usual[i].value) add_item(text, here[i].key + ' ' + here[i].value);
  return text;
}

std::string rater_text(const Suite& suite, const RunSpec& run, bool voting) {
  const RaterConfig& r = run.rater;
  const bool texts = run.env.kind == WorldKind::toy_lm;
  std::string text = channel_text(suite, run);
  if (const std::string biases = texts ? bias_text(r) : ""; !biases.empty()) text += "; texts: " + biases;
  const bool broken = texts && r.text.json_broken > 0;
  if (r.parse_failure > 0 || broken)
    text += fmt::format("; unreadable {}{}{}: {}", r.parse_failure > 0 ? "with probability " + number_text(r.parse_failure) : "",
                        r.parse_failure > 0 && broken ? ", and " : "", broken ? "where broken" : "",
                        help_of<ParsePolicy>(parse_words, r.parse_policy));
  const bool expected = r.aggregate == Aggregate::expected;
  if (voting || expected) {
    text += fmt::format("; N votes{}: {}", r.stop > 0 ? fmt::format(", or until a score was given {} times", r.stop) : "",
                        word_of<Aggregate>(aggregate_words, r.aggregate));
    if (r.aggregate == Aggregate::mode) text += fmt::format(", tie {}", word_of<TieRule>(tie_words, r.tie));
    if (const int judges = panel_size(r.noise); judges > 1)
      text += fmt::format(", {}, {} judges {}", expected ? "not drawn" : "of N draws", judges, draws_judges(r) ? "drawn anew" : "in turn");
    else if (expected) text += ", not drawn";
    else text += r.sampling == Sampling::law ? ", drawn from its law" : ", of N draws";
  }
  const JudgeCost& cost = r.cost;
  if (cost.seconds_per_call) text += fmt::format("; {} s a call, {} at a time", number_text(*cost.seconds_per_call), cost.parallel);
  if (!cost.seconds.empty()) text += fmt::format("; {} s a call by judge, {} at a time", joined(cost.seconds, number_text), cost.parallel);
  if (cost.price_per_call) text += fmt::format("; price {} a call", number_text(*cost.price_per_call));
  if (!cost.prices.empty()) text += fmt::format("; price {} a call by judge", joined(cost.prices, number_text));
  return text + fmt::format("; levels 1 to {}", run.env.levels());
}

}  // namespace

std::string formula_lines(const Suite& suite) {
  const bool alone = any_of(suite.runs, suite.runs.first_of_each({GridPart::env, GridPart::rater, GridPart::votes}), may_be_alone);
  const auto decides = [numbers = formula_numbers(suite.runs)](std::string_view axis) { return decides_formula(axis, numbers); };
  return lines_by(suite, &RunSpec::estimator_name, decides, [&](const RunSpec& run) { return formula_of(run, alone); }) +
         settings(suite);
}

std::string rater_lines(const Suite& suite) {
  const bool voting = any_of(suite.runs, suite.runs.first_of_each({GridPart::votes}), [](const RunSpec& run) { return run.votes > 1; });
  return lines_by(suite, &RunSpec::rater_name, decides_rater, [&](const RunSpec& run) { return rater_text(suite, run, voting); });
}

std::vector<std::string> exploding_groups(const Suite& suite) {
  std::vector<std::string> notes;
  std::set<std::string> met;
  for (const std::size_t i : suite.runs.first_of_each({GridPart::env, GridPart::rater, GridPart::estimator, GridPart::votes})) {
    const RunSpec run = suite.runs[i];
    if (run.estimator.outside != Outside::none) continue;
    const Convention convention = convention_of(run.estimator);
    if (convention.single != Single::over_eps || !may_be_alone(run)) continue;
    std::string note =
        fmt::format("{}: a group of one, which occurs here (answers that cannot be read are dropped), gets {}, as in its authors' code",
                    run.estimator_name, single_text(run.estimator));
    if (met.insert(note).second) notes.push_back(std::move(note));
  }
  return notes;
}

}  // namespace odrpo
