// Checks of aggregate = "fraction": which estimators take the votes of a response apart, and how many scores a group then has.
#include <fmt/format.h>

#include <algorithm>

#include "estimators/batch.hpp"
#include "estimators/compat.hpp"
#include "spec/assign.hpp"
#include "spec/axis_values.hpp"
#include "spec/plan.hpp"
#include "spec/text.hpp"

namespace odrpo {
namespace {

constexpr std::string_view aggregate_key = "aggregate";

// why the estimator cannot, for some value of its axis `compat`; empty when it always can
std::string refusal_of(const Variant<EstimatorConfig>& estimator) {
  std::vector<EstimatorConfig> configs{estimator.config};
  if (const auto* axis = find_axis(estimator.axes, "compat")) {
    configs.assign(axis->values.size(), estimator.config);
    for (std::size_t i = 0; i < configs.size(); ++i) {
      Assign visitor{axis->key, axis->values[i]};
      describe(visitor, configs[i]);
    }
  }
  for (const auto& config : configs) {
    if (refused_convention(config)) continue;  // an error of its own
    const std::string_view why = refused_votes(config);
    if (why.empty()) continue;
    std::string system;
    if (config.compat != Compat::paper) system = fmt::format(" of compat \"{}\"", word_of<Compat>(compat_words, config.compat));
    return fmt::format("estimator {}{} {}", shown(estimator.name), system, why);
  }
  return "";
}

}  // namespace

void check_fractions(const Node* raters, const Plan& plan, Diagnostics& errors) {
  if (plan.votes.empty()) return;
  const std::vector<std::int64_t> rollouts = values_of(plan.learn_axes, "rollouts", plan.learn.rollouts);
  const std::int64_t votes = *std::max_element(plan.votes.begin(), plan.votes.end()),
                     responses = *std::max_element(rollouts.begin(), rollouts.end());
  if (votes < 2) return;  // the score of one call
  for (const auto& rater : plan.rater) {
    const Node* section = raters == nullptr ? nullptr : find_child(*raters, rater.name);
    const Node* key = section == nullptr ? nullptr : find_child(*section, aggregate_key);
    if (key == nullptr || !may_be(rater.axes, aggregate_key, rater.config.aggregate, aggregate_words, Aggregate::fraction)) continue;
    for (const auto& estimator : plan.estimator)
      if (const std::string why = refusal_of(estimator); !why.empty())
        errors.add(key->key_place, fmt::format("`aggregate` cannot be \"fraction\" here: {}", why),
                   "an odrpo estimator, or aggregate = \"mean\"");
    if (responses * votes > most_scores)
      errors.add(key->key_place,
                 fmt::format("`aggregate` = \"fraction\" makes all votes of a prompt one group: {} responses x {} votes are more than {}",
                             responses, votes, most_scores),
                 "fewer rollouts or votes, or aggregate = \"mean\"");
  }
}

}  // namespace odrpo
