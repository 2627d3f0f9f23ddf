// Checks that the grid has the axes, rows and values that [gate] and [table] name.
#include <fmt/format.h>

#include <algorithm>

#include "config/catalogue/catalogue.hpp"
#include "config/plan/plan.hpp"
#include "estimators/estimator.hpp"
#include "kernels/shared/words.hpp"
#include "kernels/system/text.hpp"
#include "results/table/table.hpp"

namespace odrpo {
void check_gate(const Node* section, Plan& plan, const std::vector<const GridAxis*>& axes, Diagnostics& errors) {
  std::vector<std::string_view> all{"env", "rater", "policy", "estimator", "votes"};
  for (const auto* axis : axes) all.push_back(axis->name);
  const auto settle = [&](std::string& value, const std::string& axis, const Node& at) {
    if (axis == "estimator")
      if (const auto config = parse_estimator(value)) value = estimator_word(*config);
    const auto values = dimension_values(plan, axes, axis);
    const auto found = std::find_if(values.begin(), values.end(), [&](const std::string& v) { return same_word(v, value); });
    const std::vector<std::string_view> words(values.begin(), values.end());
    if (found == values.end())
      errors.add(at.place, fmt::format("no run has {} \"{}\"", axis, shown(value)), one_of(words), nearest_word(value, words));
    else value = *found;
  };
  const auto check = [&](const char* key, std::vector<GateLimit>& limits) {
    const Node* const node = section == nullptr ? nullptr : find_child(*section, key);
    for (std::size_t i = 0; i < limits.size(); ++i) {
      GateLimit& limit = limits[i];
      const Node& entry = node->kind == Node::Kind::list ? node->children[i] : *node;
      const auto at = [&](std::string_view child) -> const Node& {
        const Node* const found = find_child(entry, child);
        return found == nullptr ? entry : *found;
      };
      const auto known_axis = [&](std::string& axis, const Node& at_node) {
        axis = axis_word(axes, axis);
        const bool known = std::find(all.begin(), all.end(), axis) != all.end();
        if (!known)
          errors.add(at_node.place, fmt::format("`gate.{}` has the axis \"{}\", which the grid has not", key, shown(axis)), one_of(all),
                     nearest_word(axis, all));
        return known;
      };
      if (limit.axis.empty()) limit.axis = plan.table.rows;
      if (!known_axis(limit.axis, at("axis"))) continue;
      settle(limit.row, limit.axis, at("row"));
      if (!limit.over.empty()) settle(limit.over, limit.axis, at("over"));
      const Node& where = at("where");
      std::vector<std::string> conditions{limit.axis};  // axes whose value is already fixed
      for (std::size_t w = 0; w < limit.where.size(); ++w) {
        const std::size_t equals = limit.where[w].find('=');
        std::string axis(trimmed(limit.where[w].substr(0, equals), " ")), value(trimmed(limit.where[w].substr(equals + 1), " "));
        const Node& place = where.kind == Node::Kind::list ? where.children[w] : where;
        if (!known_axis(axis, place)) continue;
        if (std::find(conditions.begin(), conditions.end(), axis) != conditions.end())
          errors.add(place.place,
                     axis == limit.axis
                         ? fmt::format("`gate.{}` has a condition on \"{}\", whose value `row` names", key, shown(axis))
                         : fmt::format("`gate.{}` has two conditions on \"{}\", of which a run has one value", key, shown(axis)),
                     "a condition on another axis");
        conditions.push_back(axis);
        settle(value, axis, place);
        limit.where[w] = axis + "=" + value;
      }
    }
  };
  check("step_time", plan.gate.step_time);
  check("quality", plan.gate.quality);
  check("gain", plan.gate.gain);
}

// Checks that some run of the grid has each value that [table] shows.

namespace {

bool has_world(const Plan& plan, WorldKind kind) {
  return std::any_of(plan.env.begin(), plan.env.end(), [&](const auto& env) { return env.config.kind == kind; });
}

// true if some rater of the grid has a time (or price) of calls: from an axis over `key`, or from its config (`has`)
bool models_cost(const Plan& plan, const char* key, bool (JudgeCost::*has)() const) {
  return std::any_of(plan.rater.begin(), plan.rater.end(), [&](const Variant<RaterConfig>& rater) {
    return find_axis(rater.axes, key) != nullptr || (rater.config.cost.*has)();
  });
}

// returns the place of a word of `value` in [table]; if it is not found, the place of `value`; without `value`, that of the section
Place place_of_value(const Node* section, std::string_view value) {
  const Node* node = section == nullptr ? nullptr : find_child(*section, "value");
  if (node == nullptr) return section == nullptr ? Place{} : section->key_place;
  if (node->kind == Node::Kind::list)  // entries that could not be read are no values
    for (const Node& entry : node->children)
      if (entry.kind == Node::Kind::text && same_word(entry.text, value)) return entry.place;
  return node->place;
}

// Returns who in the grid does not have a value, as the beginning of a message: "no rater of the grid has"; empty when a run has the value.
const char* who_lacks(const ValueWord& value, const Plan& plan) {
  if (of_texts(value) && !has_world(plan, WorldKind::toy_lm)) return "no env of the grid has";
  switch (value.needs) {
    case ValueNeeds::nothing: break;
    case ValueNeeds::gradient:
      if (only_texts(plan)) return "no env of the grid has";
      if (plan.record.gradient == 0) return "no run has";
      break;
    case ValueNeeds::logits:
      if (only_texts(plan)) return "no env of the grid has";
      if (plan.record.logits == 0) return "no run has";
      break;
    case ValueNeeds::call_seconds:
      if (!models_cost(plan, "seconds_per_call", &JudgeCost::timed)) return "no rater of the grid has";
      break;
    case ValueNeeds::call_price:
      if (!models_cost(plan, "price_per_call", &JudgeCost::priced)) return "no rater of the grid has";
      break;
    case ValueNeeds::resampling:
      if (!may_be(plan.learn_axes, "dead_groups", plan.learn.dead_groups, dead_group_words, DeadGroups::resample)) return "no run has";
      break;
  }
  return "";
}

// Completes the values `win-rate-over-ESTIMATOR` with the estimators' names in the grid. Reports estimators that the grid does not have.
void check_opponents(const Node* section, Plan& plan, bool texts, Diagnostics& errors) {
  std::vector<std::string_view> names;
  for (const auto& variant : plan.estimator) names.push_back(variant.name);
  std::vector<std::string>& values = plan.table.value;
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::string name(opponent_of(values[i]));
    if (name.empty() && values[i] != win_rate_over) continue;
    const Place at = place_of_value(section, values[i]);
    if (i == 0 && !plan.table.best.empty())
      errors.add(at, fmt::format("`table.best` cannot choose by \"{}\": {}", shown(values[i]), no_choice));
    if (!texts) {
      errors.add(at, fmt::format("no env of the grid has the value \"{}\"", shown(values[i])), "it with an env of base toy-lm");
      continue;
    }
    auto found = std::find_if(names.begin(), names.end(), [&](std::string_view n) { return same_word(n, name); });
    if (const auto config = parse_estimator(name); found == names.end() && config)
      found = std::find(names.begin(), names.end(), estimator_word(*config));
    if (found == names.end()) {
      errors.add(at, fmt::format("`table.value` has a win rate over \"{}\", which is not an estimator of the grid", shown(name)),
                 one_of(names), nearest_word(name, names));
      continue;
    }
    values[i] = std::string(win_rate_over) + std::string(*found);
    if (const auto here = values.begin() + static_cast<std::ptrdiff_t>(i); std::find(values.begin(), here, values[i]) != here)
      errors.add(at, fmt::format("`table.value` has {} twice", values[i]));
  }
}

}  // namespace

void check_values(const Node* section, Plan& plan, Diagnostics& errors) {
  const std::vector<std::string>& shown_values = plan.table.value;
  for (const ValueWord& value : value_words) {
    if (std::find(shown_values.begin(), shown_values.end(), value.word) == shown_values.end()) continue;
    if (const std::string_view who = who_lacks(value, plan); !who.empty())
      errors.add(place_of_value(section, value.word), fmt::format("{} the value \"{}\"", who, value.word),
                 fmt::format("it with {}", of_texts(value) ? "an env of base toy-lm" : needs_text(value.needs)));
  }
  check_opponents(section, plan, has_world(plan, WorldKind::toy_lm), errors);
}

}  // namespace odrpo
