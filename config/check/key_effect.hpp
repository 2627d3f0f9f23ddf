// When a key has an effect: evaluates the rules of described keys (kernels/shared/field_rules.hpp) on a config, and says them in words.
#pragma once
#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/catalogue/axis.hpp"
#include "config/catalogue/catalogue.hpp"
#include "kernels/shared/field_rules.hpp"
#include "kernels/shared/words.hpp"
#include "results/stats/gate_limit.hpp"
#include "results/store/record.hpp"
#include "results/table/table_spec.hpp"

namespace odrpo {

/// Visitor: the value of one key. Of a list its words, joined; of noise the first model; nothing when the config has no such key or it is
/// unset.
struct ValueOf {
  std::string_view key;
  std::optional<AxisValue> value{};

  template <class T>
  void integer(std::string_view k, T& v, std::int64_t, std::int64_t, std::string_view, const OnlyIf& = no_condition) {
    if (k == key) value = static_cast<std::int64_t>(v);
  }
  void number(std::string_view k, double& v, double, double, std::string_view, const OnlyIf& = no_condition) {
    if (k == key) value = v;
  }
  void optional_number(std::string_view k, std::optional<double>& v, double, double, std::string_view, const OnlyIf& = no_condition) {
    if (k == key && v) value = *v;
  }
  void word_or_number(std::string_view k, std::optional<double>& v, std::string_view word, double, double, std::string_view,
                      const OnlyIf& = no_condition) {
    if (k != key) return;
    if (v) value = *v;
    else value = std::string(word);
  }
  template <class E>
  void word(std::string_view k, E& v, std::span<const Word<E>> words, std::string_view, const OnlyIf& = no_condition) {
    if (k == key) value = std::string(word_of(words, v));
  }
  void name(std::string_view k, std::string& v, std::string_view, const OnlyIf& = no_condition) {
    if (k == key) value = v;
  }
  void text(std::string_view k, std::string& v, std::string_view) {
    if (k == key) value = v;
  }
  void baselines(std::string_view k, std::string& v, std::vector<BaselineGroup>& groups, std::string_view) {
    if (k == key) value = groups.empty() ? v : groups.front().baseline;
  }
  void names(std::string_view k, std::vector<std::string>& v, std::string_view) {
    if (k == key) value = joined(v, {}, " ");
  }
  void choices(std::string_view k, std::vector<std::string>& v, std::span<const Choice>, std::string_view help) { names(k, v, help); }
  void integers(std::string_view, std::vector<int>&, std::int64_t, std::int64_t, std::string_view) {}
  void numbers(std::string_view k, std::vector<double>& v, double, double, std::string_view, const OnlyIf& = no_condition) {
    if (k == key) value = v.empty() ? std::string() : std::to_string(v.size()) + " numbers";
  }
  void matrix(std::string_view, Square&, std::string_view) {}
  void rows(std::string_view, NumberRows&, const RowsRule&, std::string_view) {}
  void limits(std::string_view, LimitedValue, std::vector<GateLimit>&, std::string_view) {}
  void models(std::string_view k, std::vector<Noise>& list, std::string_view) {
    if (k == key && !list.empty()) value = std::visit([](const auto& model) { return std::string(model.word); }, list.front());
  }
};

/// Visitor: pairs each key that has a rule with its default. The first description is that of the defaults, the second that of the config;
/// then it calls act(key, value, default, rule).
template <class Act>
class Conditional {
 public:
  explicit Conditional(Act act) : act_(act) {}
  void turn_to_config() { of_defaults_ = false; }

  template <class T>
  void integer(std::string_view key, T& value, std::int64_t, std::int64_t, std::string_view, const OnlyIf& rule = no_condition) {
    field(key, value, rule);
  }
  void number(std::string_view key, double& value, double, double, std::string_view, const OnlyIf& rule = no_condition) {
    field(key, value, rule);
  }
  void optional_number(std::string_view key, std::optional<double>& value, double, double, std::string_view,
                       const OnlyIf& rule = no_condition) {
    field(key, value, rule);
  }
  void word_or_number(std::string_view key, std::optional<double>& value, std::string_view, double, double, std::string_view,
                      const OnlyIf& rule = no_condition) {
    field(key, value, rule);
  }
  template <class E>
  void word(std::string_view key, E& value, std::span<const Word<E>>, std::string_view, const OnlyIf& rule = no_condition) {
    field(key, value, rule);
  }
  void name(std::string_view key, std::string& value, std::string_view, const OnlyIf& rule = no_condition) { field(key, value, rule); }
  void text(std::string_view, std::string&, std::string_view) {}
  void baselines(std::string_view, std::string&, std::vector<BaselineGroup>&, std::string_view) {}
  void names(std::string_view, std::vector<std::string>&, std::string_view) {}
  void choices(std::string_view, std::vector<std::string>&, std::span<const Choice>, std::string_view) {}
  void integers(std::string_view, std::vector<int>&, std::int64_t, std::int64_t, std::string_view) {}
  void numbers(std::string_view key, std::vector<double>& value, double, double, std::string_view, const OnlyIf& rule = no_condition) {
    field(key, value, rule);
  }
  void matrix(std::string_view, Square&, std::string_view) {}
  void rows(std::string_view, NumberRows&, const RowsRule&, std::string_view) {}
  void limits(std::string_view, LimitedValue, std::vector<GateLimit>&, std::string_view) {}
  void models(std::string_view, std::vector<Noise>&, std::string_view) {}

 private:
  template <class T>
  void field(std::string_view key, T& value, const OnlyIf& rule) {
    if (rule.always()) return;
    if (of_defaults_) defaults_.at(count_++) = &value;
    else act_(key, value, *static_cast<const T*>(defaults_.at(next_++)), rule);
  }

  Act act_;
  bool of_defaults_ = true;
  std::array<const void*, 32> defaults_{};  // of the keys with a rule, in the order of the description
  std::size_t count_ = 0, next_ = 0;
};

/// The config that a section of the same kind starts from.
template <class C>
C defaults_like(const C&) {
  return {};
}
inline PolicyConfig defaults_like(const PolicyConfig& config) { return {.kind = config.kind, .transformer = {}, .learning = {}}; }

/// Calls act(key, value, default, rule) for every key of the config that has a rule.
template <class C, class Act>
void each_conditional(C& config, Act act) {
  C defaults = defaults_like(config);
  Conditional<Act> visitor(act);
  describe(visitor, defaults);
  visitor.turn_to_config();
  describe(visitor, config);
}

/// Does the rule hold, when holds(need) tells it of one need?
template <class Holds>
bool meets(const OnlyIf& rule, Holds holds) {
  const std::span<const Need> needs = rule.list();
  return rule.any ? std::any_of(needs.begin(), needs.end(), holds) : std::all_of(needs.begin(), needs.end(), holds);
}

/// Is this value what the need asks for?
bool allows(const Need& need, const AxisValue& value);

/// What a config is used for.
struct Use {
  WorldKind env = WorldKind::bandit;  ///< the world of the run
  bool supervised = false;            ///< the supervised steps alone, not the training after them
};

/// Does a key with this rule have an effect in a run with this config?
template <class C>
bool has_effect(const OnlyIf& rule, C& config, const Use& use) {
  if (use.supervised && rule.training_only) return false;
  return meets(rule, [&](const Need& need) {
    if (need.key == base_need) return allows(need, base_of(config));
    if (need.key == env_need) return allows(need, std::string(word_of(std::span<const Word<WorldKind>>(world_words), use.env)));
    ValueOf other{need.key};
    describe(other, config);
    return other.value && allows(need, *other.value);
  });
}

/// Brings every key without effect to its default: one computation has one canonical text.
template <class C>
void settle(C& config, const Use& use) {
  each_conditional(config, [&](std::string_view, auto& value, const auto& usual, const OnlyIf& rule) {
    if (value != usual && !has_effect(rule, config, use)) value = usual;  // most keys are at their default: nothing to evaluate
  });
}

/// A key with a rule.
struct ConditionalKey {
  std::string_view key;
  OnlyIf rule;
  bool differs = false;  ///< its value is not the default
};
template <class C>
std::vector<ConditionalKey> conditional_keys(C config = {}) {
  std::vector<ConditionalKey> keys;
  each_conditional(config, [&](std::string_view key, const auto& value, const auto& usual, const OnlyIf& rule) {
    keys.push_back({key, rule, value != usual});
  });
  return keys;
}

/// "optimizer = \"adam\" or \"adamw\"", "median = \"running\" and running = \"window\"", "`warm_steps` above 0"; "" without needs.
std::string rule_text(const OnlyIf& rule);

}  // namespace odrpo
