// Lists the fields of a described config: key, type, default, range or words, help. `list` and the JSON Schema use it.
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

/// The description of one key, as text.
struct FieldInfo {
  std::string key, type;  ///< type: integer, number, word, word or number, name, string, baselines, words, integers, entries, limits or models
  std::string value;      ///< default as text; "unset" for an optional number
  std::string help;
  std::optional<AxisValue> min, max;
  std::vector<Choice> words;  ///< allowed words of type word; of type words only if they come from a table
  OnlyIf only_if{};           ///< when the key has an effect
  /// Allowed values: "1..1024", "adam | adamw | sgd"; "" if every value is allowed.
  std::string allowed() const;
  /// The help, then when the key has an effect: "Adam's decay of the first moment; only if optimizer = \"adam\" or \"adamw\"".
  std::string meaning() const;
};

/// Returns the description of a field, with its present value as default.
FieldInfo field_info(const Field& field);
/// Returns the descriptions of a config's fields, with their present values as defaults.
template <class C>
std::vector<FieldInfo> fields_of(const C& config = {}) {
  std::vector<FieldInfo> fields;
  each_field_of(config, [&](const Field& field) { fields.push_back(field_info(field)); });
  return fields;
}

/// Keys of [SECTION.NAME] that are not fields of the config (except `base`): they make a variant from something else, such as a file.
template <class C>
std::vector<FieldInfo> extra_fields() {
  return {};
}
template <>
std::vector<FieldInfo> extra_fields<RaterConfig>();
template <>
std::vector<FieldInfo> extra_fields<EnvConfig>();

/// Returns all fields that a section of this kind may have, whatever `base` it has.
template <class C>
std::vector<FieldInfo> all_fields() {
  return fields_of<C>();
}
template <>
std::vector<FieldInfo> all_fields<EnvConfig>();
template <>
std::vector<FieldInfo> all_fields<PolicyConfig>();

/// States noise models in one line: "gaussian sigma 0.47 spread 0.2; veto share 0.03". Shows numbers, other keys that are not at their
/// defaults, and of a matrix its size.
std::string noise_line(const std::vector<Noise>& list);

/// One word of a catalogue: what it is, and its keys.
struct Listed {
  std::string word, help;
  std::vector<FieldInfo> keys;
};
/// One part of the vocabulary of suite files.
struct Listing {
  std::string name;   ///< name of the part: "raters"
  std::string title;  ///< its description in one line
  std::vector<Listed> entries;
  std::vector<FieldInfo> keys;  ///< keys that every entry of this part has
};

/// Returns the whole vocabulary of suite files, from the catalogues and descriptions alone.
std::vector<Listing> vocabulary();

/// Returns the words of single keys and what they compute: aggregates, tie rules, parse policies, medians, whitening, dead groups. Also the
/// formulas of every system under `compat`.
std::vector<Listing> word_parts();

}  // namespace odrpo
