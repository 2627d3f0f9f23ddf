// Lists the fields of a described config: key, type, default, range or words, help. What `list` prints, and a schema can be made of.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/catalogue/axis.hpp"
#include "config/catalogue/env_config.hpp"
#include "envs/rater/rater.hpp"
#include "kernels/shared/field_rules.hpp"
#include "kernels/shared/words.hpp"
#include "kernels/system/text.hpp"
#include "policies/policy.hpp"
#include "results/stats/gate_limit.hpp"
#include "results/store/record.hpp"
#include "results/table/table_spec.hpp"

namespace odrpo {

/// One key as its description tells it.
struct FieldInfo {
  std::string key, type;  ///< type: integer, number, word, word or number, name, string, baselines, words, integers, entries, limits or models
  std::string value;      ///< default as text; "unset" for an optional number
  std::string help;
  std::optional<AxisValue> min, max;
  std::vector<Choice> words;  ///< what it may be, when type is word; of words, what they may be when they are not free
  OnlyIf only_if{};           ///< when the key has an effect
  /// "1..1024", "adam | adamw | sgd", or "" when anything goes.
  std::string allowed() const;
  /// The help, and behind it when the key has an effect: "Adam's decay of the first moment; only if optimizer = \"adam\" or \"adamw\"".
  std::string meaning() const;
};

class FieldLister {
 public:
  std::vector<FieldInfo> fields;

  template <class T>
  void integer(std::string_view key, T& value, std::int64_t min, std::int64_t max, std::string_view help,
               const OnlyIf& rule = no_condition) {
    fields.push_back({std::string(key), "integer", std::to_string(value), std::string(help), min, max, {}, rule});
  }
  void number(std::string_view key, double& value, double min, double max, std::string_view help, const OnlyIf& rule = no_condition) {
    fields.push_back({std::string(key), "number", number_text(value), std::string(help), min, max, {}, rule});
  }
  void optional_number(std::string_view key, std::optional<double>& value, double min, double max, std::string_view help,
                       const OnlyIf& rule = no_condition) {
    fields.push_back({std::string(key), "number", value ? number_text(*value) : "unset", std::string(help), min, max, {}, rule});
  }
  void word_or_number(std::string_view key, std::optional<double>& value, std::string_view word, double min, double max, std::string_view help,
                      const OnlyIf& rule = no_condition) {
    fields.push_back({std::string(key), "word or number", value ? number_text(*value) : std::string(word), std::string(help), min, max,
                      {{word, ""}}, rule});
  }
  template <class E>
  void word(std::string_view key, E& value, std::span<const Word<E>> words, std::string_view help, const OnlyIf& rule = no_condition) {
    fields.push_back({std::string(key), "word", std::string(word_of(words, value)), std::string(help), {}, {}, {}, rule});
    for (const auto& w : words) fields.back().words.push_back({w.word, w.help});
  }
  void choices(std::string_view key, std::vector<std::string>& value, std::span<const Choice> choices, std::string_view help) {
    names(key, value, help);
    fields.back().words.assign(choices.begin(), choices.end());
  }
  void name(std::string_view key, std::string& value, std::string_view help, const OnlyIf& rule = no_condition) {
    fields.push_back({std::string(key), "name", value, std::string(help), {}, {}, {}, rule});
  }
  void text(std::string_view key, std::string& value, std::string_view help) {
    fields.push_back({std::string(key), "string", value, std::string(help), {}, {}, {}});
  }
  void baselines(std::string_view key, std::string& value, std::vector<BaselineGroup>&, std::string_view help) {
    fields.push_back({std::string(key), "baselines", value, std::string(help), {}, {}, {}});
  }
  void names(std::string_view key, std::vector<std::string>& value, std::string_view help) {
    fields.push_back({std::string(key), "words", joined(value), std::string(help), {}, {}, {}});
  }
  void integers(std::string_view key, std::vector<int>& value, std::int64_t min, std::int64_t max, std::string_view help) {
    const std::string all = joined(value, [](int n) { return std::to_string(n); });
    fields.push_back({std::string(key), "integers", all, std::string(help), min, max, {}});
  }
  void numbers(std::string_view key, std::vector<double>&, double min, double max, std::string_view help,
               const OnlyIf& rule = no_condition) {
    fields.push_back({std::string(key), "numbers", "unset", std::string(help), min, max, {}, rule});
  }
  void entries(std::string_view key, std::string_view help) {
    fields.push_back({std::string(key), "entries", "none", std::string(help), {}, {}, {}});
  }
  void matrix(std::string_view key, Square&, std::string_view help) {
    fields.push_back({std::string(key), "matrix", "required", std::string(help), {}, {}, {}});
  }
  void rows(std::string_view key, NumberRows&, const RowsRule&, std::string_view help) {
    fields.push_back({std::string(key), "rows", "required", std::string(help), {}, {}, {}});
  }
  void limits(std::string_view key, LimitedValue, std::vector<GateLimit>&, std::string_view help) {
    fields.push_back({std::string(key), "limits", "none", std::string(help), {}, {}, {}});
  }
  void models(std::string_view key, std::vector<Noise>&, std::string_view help) {
    fields.push_back({std::string(key), "models", "the base's", std::string(help), {}, {}, {}});
  }
};

/// The fields of a config with its present values as defaults.
template <class C>
std::vector<FieldInfo> fields_of(C config = {}) {
  FieldLister lister;
  describe(lister, config);
  return std::move(lister.fields);
}

/// Keys of [SECTION.NAME] besides `base` that are not fields of the config: what else a variant may be made from.
template <class C>
std::vector<FieldInfo> extra_fields() {
  return {};
}
template <>
std::vector<FieldInfo> extra_fields<RaterConfig>();

/// Every field that some thing of a section may have, whichever its base.
template <class C>
std::vector<FieldInfo> all_fields() {
  return fields_of<C>();
}
template <>
std::vector<FieldInfo> all_fields<EnvConfig>();
template <>
std::vector<FieldInfo> all_fields<PolicyConfig>();

/// "gaussian sigma 0.47 spread 0.2; veto share 0.03": numbers and what else is not at its default; of a matrix its size.
std::string noise_line(const std::vector<Noise>& list);

/// One thing of a catalogue: its word, what it is, and its keys.
struct Listed {
  std::string word, help;
  std::vector<FieldInfo> keys;
};
/// One part of the vocabulary of suite files.
struct Listing {
  std::string name;   ///< "raters"
  std::string title;  ///< one line
  std::vector<Listed> entries;
  std::vector<FieldInfo> keys;  ///< keys that every entry of the part has
};

/// The whole vocabulary, from the catalogues and descriptions alone.
std::vector<Listing> vocabulary();

/// The words of single keys with what they compute: aggregates, tie rules, parse policies, medians, whitening, dead groups, and the
/// formulas of every system under `compat`.
std::vector<Listing> word_parts();

}  // namespace odrpo
