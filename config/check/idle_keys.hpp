// Finds keys that a section sets although they have no effect in any of its runs.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/check/key_effect.hpp"
#include "config/plan/plan.hpp"

namespace odrpo {

/// The values that the keys of a section have in the runs of a suite: those of the config and of its axes.
template <class C>
struct SectionRuns {
  C config;                           ///< values of the keys that are not axes
  const std::vector<GridAxis>& axes;  //
  const Node* section = nullptr;      ///< the section in the suite; a key whose value was refused there counts as able to have any value
  std::vector<WorldKind> worlds{};    ///< worlds of the runs; empty = any world

  /// Returns the value of a key that is not an axis, as needed_of().
  std::optional<AxisValue> value_of(std::string_view key) const {
    C copy = config;
    return needed_of(copy, key);
  }
  /// True if the need (a condition on another key) holds in some run. It may hold for a value of that key's axis, for the config's value,
  /// or in one of the worlds.
  bool may_hold(const Need& need) const;
  /// True if a key with this rule has an effect in some run.
  bool may_matter(const OnlyIf& rule) const {
    return meets(rule, [&](const Need& need) { return may_hold(need); });
  }
};

/// How the message about a key without effect names the key.
struct IdleText {
  std::string prefix = "";     ///< printed before the key: "table."
  std::string where = "here";  ///< printed after "has no effect": "on grpo"
  bool at_value = false;       ///< the error points at the value, not at the key
};
/// Reports each key that the section sets (not to its default) but that has no effect in any run. Where a rule demands an effect in every
/// run, reports each value of the other key that takes the effect away. Leaves conditions on the world to check_world_keys().
template <class C>
void refuse_idle(const SectionRuns<C>& runs, Diagnostics& errors, const IdleText& text = {});

/// Keys without effect in any run that write_plan() leaves out, because reading would refuse them. The section's base sets them to other
/// than their defaults, or they need a world.
template <class C>
std::vector<std::string_view> unwritable_keys(const SectionRuns<C>& runs);

/// The world of each env of a plan.
std::vector<WorldKind> worlds_of(const Plan& plan);

}  // namespace odrpo
