// Lists the fields of a described config: key, type, default, range or words, help. What `list` prints, and a schema can be made of.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/catalogue/axis.hpp"
#include "config/catalogue/env_config.hpp"
#include "config/catalogue/fields.hpp"
#include "envs/rater/rater.hpp"
#include "kernels/shared/field_rules.hpp"
#include "policies/policy.hpp"
#include "results/store/record.hpp"

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

/// What a list shows of a field, with its present value as default.
FieldInfo field_info(const Field& field);
/// The fields of a config with its present values as defaults.
template <class C>
std::vector<FieldInfo> fields_of(const C& config = {}) {
  std::vector<FieldInfo> fields;
  each_field_of(config, [&](const Field& field) { fields.push_back(field_info(field)); });
  return fields;
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
