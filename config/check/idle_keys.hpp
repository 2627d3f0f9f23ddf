// Keys that a section sets although they have no effect in any run of it.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/check/key_effect.hpp"
#include "config/plan/plan.hpp"

namespace odrpo {

/// What a key of a section meets in the runs of a suite: every value of every axis.
template <class C>
struct SectionRuns {
  C config;                           ///< the values that are no axis
  const std::vector<GridAxis>& axes;  //
  const Node* section = nullptr;      ///< as it is written; a key whose own value was refused there may have any value
  std::vector<WorldKind> worlds{};    ///< of the runs; empty = any

  /// The value of a key that is no axis; of base_need the word that the section starts from.
  std::optional<AxisValue> value_of(std::string_view key) const {
    if (key == base_need) return base_of(config);
    C copy = config;
    return value_of_key(copy, key);
  }
  /// For one value of an axis, for the config's value, or in one of the worlds?
  bool may_hold(const Need& need) const;
  /// Does a key with this rule have an effect in some run?
  bool may_matter(const OnlyIf& rule) const {
    return meets(rule, [&](const Need& need) { return may_hold(need); });
  }
};

/// How an error names a key without effect.
struct IdleText {
  std::string prefix = "";     ///< of the key: "table."
  std::string where = "here";  ///< "on grpo"
  bool at_value = false;       ///< the error stands at the value, not at the key
};
/// An error for every key of the section that differs from its default or is an axis, and has no effect in any run (a key that must have
/// one in every run: for every value that leaves it without). Rules that need a world of the run are check_worlds()'s.
template <class C>
void refuse_idle(const SectionRuns<C>& runs, Diagnostics& errors, const IdleText& text = {});

/// Keys without effect in any run that are not at their defaults, because the section's base sets them, or that would be refused if they
/// were written: what write_plan() leaves out.
template <class C>
std::vector<std::string_view> unwritable_keys(const SectionRuns<C>& runs);

/// The worlds of a plan's runs.
std::vector<WorldKind> worlds_of(const Plan& plan);

}  // namespace odrpo
