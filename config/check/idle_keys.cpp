// Compares the rules of keys with the values that a section and its axes give them.
#include "config/check/idle_keys.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/shared/words.hpp"

namespace odrpo {

namespace {

// true if the section gives the key a value that the config does not have, because reading refused it
bool was_refused(const Node& given, const std::optional<AxisValue>& value) {
  if (!value) return true;
  const bool number = given.kind == Node::Kind::integer || given.kind == Node::Kind::number;
  if (const auto* word = std::get_if<std::string>(&*value))
    return given.kind == Node::Kind::list ? !given.children.empty() : given.kind != Node::Kind::text || !same_word(given.text, *word);
  const auto* whole = std::get_if<std::int64_t>(&*value);
  return !number || given.number != (whole != nullptr ? static_cast<double>(*whole) : std::get<double>(*value));
}

// returns the rule without its conditions (needs) on the run's world, which check_world_keys() checks
OnlyIf without_world(OnlyIf rule) {
  const OnlyIf all = rule;
  rule.count = 0;
  for (const Need& need : all.list())
    if (need.key != env_need) rule.needs.at(static_cast<std::size_t>(rule.count++)) = need;
  return rule;
}

bool needs_world(const OnlyIf& rule) { return without_world(rule).count < rule.count; }

// returns why a key has no effect: the reason of the first condition that fails, or what the rule requires of other keys
template <class C>
std::string reason(const OnlyIf& rule, const SectionRuns<C>& runs) {
  OnlyIf others = rule;
  others.count = 0;
  for (const Need& need : rule.list()) {
    if (!need.why.empty() && !runs.may_hold(need)) return std::string(need.why);
    if (need.key != base_need && need.key != median_need) others.needs.at(static_cast<std::size_t>(others.count++)) = need;
  }
  return "that needs " + rule_text(others);
}

// for a key that must have an effect in every run: returns the values of the other key (need.key) that take the effect away
template <class C>
std::vector<AxisValue> refused_values(const Need& need, const SectionRuns<C>& runs) {
  std::vector<AxisValue> values;
  const GridAxis* axis = find_axis(runs.axes, need.key);
  if (axis != nullptr) values = axis->values;
  else if (auto value = runs.value_of(need.key)) values.push_back(std::move(*value));
  std::erase_if(values, [&](const AxisValue& value) { return allows(need, value); });
  return values;
}

}  // namespace

template <class C>
bool SectionRuns<C>::may_hold(const Need& need) const {
  if (need.key == env_need)
    return worlds.empty() || std::any_of(worlds.begin(), worlds.end(), [&](WorldKind world) {
             return allows(need, std::string(word_of(std::span<const Word<WorldKind>>(world_words), world)));
           });
  if (const GridAxis* axis = find_axis(axes, need.key))
    return std::any_of(axis->values.begin(), axis->values.end(), [&](const AxisValue& value) { return allows(need, value); });
  const auto value = value_of(need.key);
  if (value && allows(need, *value)) return true;
  if (need.key == noise_need) return !value;  // no model of the list could be read
  const Node* given = section == nullptr || need.key == base_need ? nullptr : find_child(*section, need.key);
  return given != nullptr && was_refused(*given, value);
}

template <class C>
void refuse_idle(const SectionRuns<C>& runs, Diagnostics& errors, const IdleText& text) {
  if (runs.section == nullptr) return;
  for (const ConditionalKey& k : conditional_keys(runs.config)) {
    const Node* given = find_child(*runs.section, k.key);
    const bool set = given != nullptr && (k.differs || find_axis(runs.axes, k.key) != nullptr);
    const OnlyIf rule = without_world(k.rule);
    if (!set || rule.count == 0) continue;
    const Place place = text.at_value ? given->place : given->key_place;
    if (rule.every_run) {
      const Need& need = rule.needs.front();
      for (const AxisValue& value : refused_values(need, runs))
        errors.add(place, fmt::format("`{}{}` has no effect on {} {}", text.prefix, k.key, need.key, value_text(value)), rule_text(rule));
    } else if (!runs.may_matter(rule)) {
      errors.add(place, fmt::format("`{}{}` has no effect {}: {}", text.prefix, k.key, text.where, reason(rule, runs)));
    }
  }
}

template <class C>
std::vector<std::string_view> unwritable_keys(const SectionRuns<C>& runs) {
  std::vector<std::string_view> keys;
  for (const ConditionalKey& k : conditional_keys(runs.config))
    if (!runs.may_matter(k.rule) && (k.differs || needs_world(k.rule))) keys.push_back(k.key);
  return keys;
}

std::vector<WorldKind> worlds_of(const Plan& plan) {
  std::vector<WorldKind> worlds;
  for (const auto& env : plan.env) worlds.push_back(env.config.kind);
  return worlds;
}

template struct SectionRuns<EnvConfig>;
template struct SectionRuns<RaterConfig>;
template struct SectionRuns<PolicyConfig>;
template struct SectionRuns<EstimatorConfig>;
template struct SectionRuns<LearnConfig>;
template struct SectionRuns<TableConfig>;
template void refuse_idle(const SectionRuns<RaterConfig>&, Diagnostics&, const IdleText&);
template void refuse_idle(const SectionRuns<PolicyConfig>&, Diagnostics&, const IdleText&);
template void refuse_idle(const SectionRuns<EstimatorConfig>&, Diagnostics&, const IdleText&);
template void refuse_idle(const SectionRuns<LearnConfig>&, Diagnostics&, const IdleText&);
template void refuse_idle(const SectionRuns<TableConfig>&, Diagnostics&, const IdleText&);
template std::vector<std::string_view> unwritable_keys(const SectionRuns<EnvConfig>&);
template std::vector<std::string_view> unwritable_keys(const SectionRuns<RaterConfig>&);
template std::vector<std::string_view> unwritable_keys(const SectionRuns<PolicyConfig>&);
template std::vector<std::string_view> unwritable_keys(const SectionRuns<EstimatorConfig>&);

}  // namespace odrpo
