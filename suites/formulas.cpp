// The formulas of a suite's runs.
#include "suites/formulas.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "estimators/compat.hpp"
#include "suites/axis.hpp"
#include "suites/batch.hpp"
#include "suites/field_list.hpp"

namespace odrpo {

namespace {

// A group can be left with one score: told of because systems differ widely there.
bool may_be_alone(const RunSpec& run) { return reward_kind(run).gaps; }

std::string formula_of(const RunSpec& run, bool alone) {
  std::string formula = estimator_formula(run.estimator);
  if (alone) formula += "; a group of one gets " + single_text(run.estimator);
  if (run.learn.whiten != Whiten::compat) return formula;
  return formula + "; afterwards " + whitening_text(whitening_after(run.estimator));
}

// "lr" of the axis "lr" or "learn.lr"
std::string_view last_part(std::string_view axis) { return axis.substr(axis.rfind('.') + 1); }

bool decides_formula(std::string_view axis) {
  static const std::vector<FieldInfo> keys = fields_of<EstimatorConfig>();
  const auto key = last_part(axis);
  return key == "whiten" || std::any_of(keys.begin(), keys.end(), [&](const FieldInfo& f) { return f.key == key; });
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
  return text;
}

}  // namespace

std::string formula_lines(const Suite& suite) {
  struct Line {
    std::string estimator, axes, formula;
  };
  std::vector<Line> lines;  // one for each choice of the axes that can matter
  std::set<std::string> met;
  std::map<std::string, std::set<std::string>> formulas;  // of each estimator
  const bool alone = std::any_of(suite.runs.begin(), suite.runs.end(), may_be_alone);
  for (const auto& run : suite.runs) {
    std::string axes;
    for (const auto& [axis, value] : run.axes)
      if (decides_formula(axis)) axes += fmt::format(" {}={}", axis, value_text(value));
    if (!met.insert(run.estimator_name + axes).second) continue;
    lines.push_back({run.estimator_name, axes, formula_of(run, alone)});
    formulas[run.estimator_name].insert(lines.back().formula);
  }
  std::string text;
  std::set<std::string> told;
  for (const auto& line : lines) {
    const std::string name = line.estimator + (formulas[line.estimator].size() > 1 ? line.axes : "");
    if (told.insert(name).second) text += fmt::format("{}\t{}\n", name, line.formula);
  }
  return text + settings(suite);
}

std::vector<std::string> exploding_groups(const Suite& suite) {
  std::vector<std::string> notes;
  std::set<std::string> met;
  for (const auto& run : suite.runs) {
    const Convention convention = convention_of(run.estimator);
    if (convention.single != Single::over_eps || !may_be_alone(run) || !met.insert(run.estimator_name).second) continue;
    notes.push_back(
        fmt::format("{}: a group of one, which occurs here (answers that cannot be read are dropped), gets its reward times {}, as "
                    "in its authors' code",
                    run.estimator_name, value_text(single_factor(convention))));
  }
  return notes;
}

}  // namespace odrpo
