// Checks of the values of levels, `values` of [estimator.NAME]: they ascend, there is one for each level, and a failed score is below them.
#include <fmt/format.h>

#include <algorithm>

#include "config/catalogue/axis.hpp"
#include "config/plan/plan.hpp"
#include "estimators/level_values.hpp"
#include "kernels/system/text.hpp"

namespace odrpo {
namespace {

constexpr std::string_view values_key = "values";

/// The key of the estimator's section; null where it is not written.
const Node* node_of(const Node& root, const Variant<EstimatorConfig>& estimator) {
  const Node* all = find_child(root, section_of<EstimatorConfig>());
  const Node* section = all == nullptr ? nullptr : find_child(*all, estimator.name);
  return section == nullptr || section->kind != Node::Kind::table ? nullptr : find_child(*section, values_key);
}

bool may_be_positive(const std::vector<GridAxis>& axes, std::string_view key, double scalar) {
  const GridAxis* axis = find_axis(axes, key);
  if (axis == nullptr) return scalar > 0;
  return std::any_of(axis->values.begin(), axis->values.end(), [](const AxisValue& value) { return std::get<double>(value) > 0; });
}

/// Can a run with this rater and world see a score of 0?
bool may_fail(const Variant<RaterConfig>& rater, const Variant<EnvConfig>& env) {
  if (!may_be(rater.axes, "parse_policy", rater.config.parse_policy, parse_words, ParsePolicy::zero)) return false;
  return may_be_positive(rater.axes, "parse_failure", rater.config.parse_failure) ||
         (env.config.kind == WorldKind::toy_lm && may_be_positive(rater.axes, "json_broken", rater.config.text.json_broken));
}

}  // namespace

void check_level_values(const Node& section, const Variant<EstimatorConfig>& variant, Diagnostics& errors) {
  const std::vector<double>& values = variant.config.values;
  const Node* given = find_child(section, values_key);
  if (given == nullptr || values.empty()) return;  // a list that could not be read is an error of its own
  const auto why = ascent_refusal(values);
  if (!why) return;
  const auto fall = std::adjacent_find(values.begin(), values.end(), [](double low, double high) { return !(high > low); });
  const std::size_t at = static_cast<std::size_t>(fall - values.begin()) + 1;
  const bool falls = values.size() > 1 && fall != values.end() && given->children.size() == values.size();
  errors.add(falls ? given->children[at].place : given->place, fmt::format("`values`: {}", *why));
}

void check_level_values(const Node& root, const Plan& plan, Diagnostics& errors) {
  for (const auto& estimator : plan.estimator) {
    const std::vector<double>& values = estimator.config.values;
    if (values.empty()) continue;
    const Node* node = node_of(root, estimator);
    const Place place = node == nullptr ? estimator.place : node->place;
    for (const auto& env : plan.env)
      for (const auto& rater : plan.rater) {
        for (const auto levels : levels_of(env, rater))
          if (levels != std::ssize(values))
            errors.add(place, fmt::format("estimator {} has {} values, and the scores of rater {} in env {} have {} levels",
                                          shown(estimator.name), values.size(), shown(rater.name), shown(env.name), levels));
        if (values.front() <= 0 && may_fail(rater, env))
          errors.add(place,
                     fmt::format("estimator {} values the lowest level at {}, and rater {} gives failed answers the score 0, which is "
                                 "worth 0: a failure would not be worth less",
                                 shown(estimator.name), number_text(values.front()), shown(rater.name)),
                     "a first value above 0, or parse_policy = \"drop\" or \"resample\"");
      }
  }
}

}  // namespace odrpo
