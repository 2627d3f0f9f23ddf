// Decides when a key has an effect: evaluates the rules of described keys (kernels/shared/field_rules.hpp), and states them in words.
#pragma once
#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/catalogue/catalogue.hpp"
#include "config/catalogue/fields.hpp"
#include "estimators/level_formulas.hpp"
#include "kernels/shared/field_rules.hpp"
#include "kernels/shared/words.hpp"
#include "results/store/record.hpp"

namespace odrpo {

/// Returns the value of a field on which conditions of rules are tested. For a list: its words, joined; for noise: the word of the first model.
std::optional<AxisValue> needed_value(const Field& field);
/// needed_value() of a key; nothing when the config has no such key or the key is unset.
template <class C>
std::optional<AxisValue> value_of_key(C& config, std::string_view key) {
  std::optional<AxisValue> value;
  each_field(config, [&](const Field& field) {
    if (field.key == key) value = needed_value(field);
  });
  return value;
}

/// Returns the default config of a section of the same kind.
template <class C>
C defaults_like(const C&) {
  return {};
}
inline PolicyConfig defaults_like(const PolicyConfig& config) { return {.kind = config.kind, .transformer = {}, .learning = {}}; }

/// The value of the need median_need: true if levels weigh, or are divided, by the group's median.
inline bool needs_median(const EstimatorConfig& config) { return reads_median(config); }
template <class C>
bool needs_median(const C&) {
  return false;
}
/// The value that a need is about, of a need that is about the config alone. Nothing if the config has none.
template <class C>
std::optional<AxisValue> needed_of(C& config, std::string_view key) {
  if (key == base_need) return base_of(config);
  if (key == median_need) return std::string(needs_median(config) ? key : "");
  return value_of_key(config, key);
}

/// Calls act(field, default) for every key of the config that has a rule.
template <class C, class Act>
void each_conditional(C& config, Act act) {
  C defaults = defaults_like(config);
  std::vector<const void*> usual;
  each_field(defaults, [&](const Field& field) {
    if (!field.rule->always()) usual.push_back(field.value);
  });
  std::size_t next = 0;
  each_field(config, [&](const Field& field) {
    if (!field.rule->always()) act(field, usual.at(next++));
  });
}

/// True if the rule holds. holds(need) says whether one of its conditions, a need, holds.
template <class Holds>
bool meets(const OnlyIf& rule, Holds holds) {
  const std::span<const Need> needs = rule.list();
  return rule.any ? std::any_of(needs.begin(), needs.end(), holds) : std::all_of(needs.begin(), needs.end(), holds);
}

/// True if the value of a key satisfies the need, a condition on that key.
bool allows(const Need& need, const AxisValue& value);

/// Where a config is used, on which the effect of its keys depends.
struct Use {
  WorldKind env = WorldKind::bandit;  ///< the world of the run
  bool supervised = false;            ///< the supervised steps alone, not the training after them
};

/// True if a key with this rule has an effect in a run with this config.
template <class C>
bool has_effect(const OnlyIf& rule, C& config, const Use& use) {
  if (use.supervised && rule.training_only) return false;
  return meets(rule, [&](const Need& need) {
    if (need.key == env_need) return allows(need, std::string(word_of(std::span<const Word<WorldKind>>(world_words), use.env)));
    const auto other = needed_of(config, need.key);
    return other && allows(need, *other);
  });
}

/// Resets every key without effect to its default, so that equal computations have equal canonical texts.
template <class C>
void settle(C& config, const Use& use) {
  each_conditional(config, [&](const Field& field, const void* usual) {  // most keys are at their default, and cost nothing here
    if (!field.access->same(field.value, usual) && !has_effect(*field.rule, config, use)) field.access->copy(field.value, usual);
  });
}

/// A key that has an effect only under a rule.
struct ConditionalKey {
  std::string_view key;
  OnlyIf rule;
  bool differs = false;  ///< its value is not the default
};
template <class C>
std::vector<ConditionalKey> conditional_keys(C config = {}) {
  std::vector<ConditionalKey> keys;
  each_conditional(config, [&](const Field& field, const void* usual) {
    keys.push_back({field.key, *field.rule, !field.access->same(field.value, usual)});
  });
  return keys;
}

/// States a rule in words: "optimizer = \"adam\" or \"adamw\"", "median = \"running\" and running = \"window\"", "`warm_steps` above 0"; ""
/// for a rule without conditions.
std::string rule_text(const OnlyIf& rule);

}  // namespace odrpo
