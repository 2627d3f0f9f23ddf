// Reads [label]: the texts that tables and figures show in place of names.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "config/plan/plan.hpp"
#include "config/plan/run_grid.hpp"
#include "kernels/shared/utf8.hpp"
#include "kernels/shared/words.hpp"
#include "kernels/system/text.hpp"

namespace odrpo {
namespace {

/// Every name that a label may have: those of the grid's variants, and AXIS=VALUE of every axis and of votes.
std::vector<std::string> labelled_names(const Plan& plan, const std::vector<const GridAxis*>& axes) {
  std::vector<std::string> names;
  const auto add = [&](std::string_view axis, const auto& variants) {
    for (const auto& v : variants) names.push_back(v.name), names.push_back(fmt::format("{}={}", axis, v.name));
  };
  add(section_of<EnvConfig>(), plan.env), add(section_of<RaterConfig>(), plan.rater);
  add(section_of<PolicyConfig>(), plan.policy), add(section_of<EstimatorConfig>(), plan.estimator);
  for (const int votes : plan.votes) names.push_back(fmt::format("votes={}", votes));
  for (const GridAxis* axis : axes)
    for (const AxisValue& value : axis->values) names.push_back(fmt::format("{}={}", axis->name, value_text(value)));
  return names;
}

}  // namespace

Labels read_labels(const Node& root, Reading& reading) {
  Labels labels;
  const Node* section = find_child(root, label_section);
  if (section == nullptr) return labels;
  Diagnostics& errors = reading.errors;
  if (section->kind != Node::Kind::table) errors.add(section->place, fmt::format("`{}` must be a section, not {}", label_section, kind_text(section->kind)));
  std::set<std::string> met;
  for (const Node& child : section->children) {
    const std::string label = fmt::format("the label of \"{}\"", shown(child.key));
    if (child.kind != Node::Kind::text)
      errors.add(child.place, fmt::format("{} must be a text in quotes, not {}; a name with a dot stands in quotes too", label, kind_text(child.kind)));
    else if (child.text.empty() || printable_text(child.text) != child.text || code_points(child.text) > longest_label)
      errors.add(child.place, fmt::format("{} cannot be printed", label), fmt::format("1 to {} characters without tabs and line ends", longest_label));
    else if (printable_text(child.key) != child.key)
      errors.add(child.key_place, fmt::format("\"{}\" is no name", shown(child.key)));
    else if (!met.insert(child.text).second)
      errors.add(child.place, fmt::format("two names have the label \"{}\"", shown(child.text)));
    else labels.emplace_back(child.key, child.text);
  }
  return labels;
}

void check_labels(const Node& root, const Plan& plan, const std::vector<const GridAxis*>& axes, Reading& reading) {
  if (plan.table.labels.empty()) return;
  const std::vector<std::string> names = labelled_names(plan, axes);
  const auto is_name = [&](const std::string& word) { return std::find(names.begin(), names.end(), word) != names.end(); };
  for (const auto& [name, text] : plan.table.labels)
    if (text != name && is_name(text))
      reading.errors.add(find_child(*find_child(root, label_section), name)->place, fmt::format("the label of \"{}\" is the name of another: \"{}\"", shown(name), shown(text)));
    else if (!is_name(name))
      reading.notes.push_back(fmt::format("[{}] has \"{}\", which the grid has not{}", label_section, shown(name), did_you_mean(name, names)));
}

}  // namespace odrpo
