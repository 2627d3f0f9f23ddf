// What no single key of [gate] can tell: axes and rows that the grid has.
#include <fmt/format.h>

#include "estimators/estimator.hpp"
#include "kernels/shared/words.hpp"
#include "kernels/shared/suggest.hpp"
#include "config/plan/plan.hpp"
#include "config/read/text.hpp"

namespace odrpo {

namespace {

/// Without blanks around it.
std::string without_blanks(const std::string& text) {
  const std::size_t from = text.find_first_not_of(' ');
  return from == std::string::npos ? "" : text.substr(from, text.find_last_not_of(' ') + 1 - from);
}

}  // namespace

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
      std::vector<std::string> conditions{limit.axis};  // axes that a run has one value of
      for (std::size_t w = 0; w < limit.where.size(); ++w) {
        const std::size_t equals = limit.where[w].find('=');
        std::string axis = without_blanks(limit.where[w].substr(0, equals)), value = without_blanks(limit.where[w].substr(equals + 1));
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

}  // namespace odrpo
