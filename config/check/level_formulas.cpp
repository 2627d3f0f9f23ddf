// Checks that formulas of weights and norms, `weight` and `norm` of [estimator.NAME], serve the levels and groups of the runs.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "config/catalogue/catalogue.hpp"
#include "config/plan/plan.hpp"
#include "config/plan/run_grid.hpp"
#include "config/spec.hpp"
#include "config/write/canonical.hpp"
#include "estimators/level_formulas.hpp"
#include "kernels/system/text.hpp"

namespace odrpo {
namespace {

// How many combinations of a grid, and how many levels of their groups, are looked at.
constexpr int most_checked_combinations = 20'000;
constexpr long most_looked_at = 4'000'000;

bool has_formula(const EstimatorConfig& c) { return !c.weight_formula.empty() || !c.norm_formula.empty(); }

/// Where the estimator's section has the formula that a message about "weight …" or "norm …" is about; its name where --set has it.
Place formula_place(const Node& root, const RunSpec& spec, std::string_view why) {
  const Node* all = find_child(root, section_of<EstimatorConfig>());
  const Node* section = all == nullptr ? nullptr : find_child(*all, spec.estimator_name);
  const Node* key = section == nullptr ? nullptr : find_child(*section, why.substr(0, why.find(' ')));
  return key != nullptr ? key->place : section != nullptr ? section->key_place : Place{0, 1, 1};
}

/// Why the formulas do not serve a run's groups: of their full size and, where scores may be missing, of all smaller sizes.
std::optional<std::string> formula_problem(const RunSpec& spec, const RewardKind& kind, long& work) {
  if (auto why = formula_refusal(spec.estimator, kind.levels)) return why;
  const int size = group_size(spec);
  for (int group = size; group >= (kind.gaps ? 1 : size); --group)
    if (auto why = not_finite(spec.estimator, {kind.levels, kind.lowest, group, kind.real}, work)) return why;
  return std::nullopt;
}

}  // namespace

void check_formulas(const Node& root, const Plan& plan, Diagnostics& errors) {
  if (std::none_of(plan.estimator.begin(), plan.estimator.end(), [](const auto& estimator) { return has_formula(estimator.config); })) return;
  const RunGrid runs(plan);
  std::set<std::string> seen, refused;
  long work = most_looked_at;
  int left = most_checked_combinations;
  for (const std::size_t i : runs.first_of_each({GridPart::env, GridPart::rater, GridPart::estimator, GridPart::votes, GridPart::learn})) {
    if (--left < 0 || work < 0) return;
    const RunSpec spec = runs[i];
    if (!has_formula(spec.estimator) || refused.count(spec.estimator_name) > 0) continue;
    const RewardKind kind = reward_kind(spec);
    if (!seen.insert(fmt::format("{} {} {} {} {} {}", kind.levels, kind.lowest, kind.gaps, kind.real, group_size(spec), canonical_fields(spec.estimator))).second) continue;
    const auto why = formula_problem(spec, kind, work);
    if (!why) continue;
    refused.insert(spec.estimator_name);
    errors.add(formula_place(root, spec, *why),
               fmt::format("estimator {}: {}{} (rater {} in env {}, groups of {})", shown(spec.estimator_name), *why, formula_numbers_text(spec.estimator),
                           shown(spec.rater_name), shown(spec.env_name), group_size(spec)));
  }
}

}  // namespace odrpo
