// Defines a config's keys as data: allowed values, meaning, when a key has an effect, its value. Each config lists its keys once, in
// describe(). All code that reads, lists, writes, assigns or resets configs uses these fields.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/catalogue/axis.hpp"
#include "envs/rater/noise.hpp"
#include "kernels/shared/field_rules.hpp"
#include "results/stats/gate_limit.hpp"
#include "results/store/record.hpp"

namespace odrpo {

struct BaselineGroup;  // results/table/table_spec.hpp
struct NamedNumber;    // estimators/formula.hpp

/// What kind of value a key has, and its C++ type. The first six kinds are scalars, which may be axes of a grid.
enum class FieldType {
  integer,          ///< a whole number: any integer type
  number,           ///< a finite number: double
  optional_number,  ///< a finite number, or unset: std::optional<double>
  word,             ///< one of a table of words: an enumeration
  word_or_number,   ///< a number, or the one word that means none: std::optional<double>
  name,             ///< the name of something of the suite, or of a file: std::string
  text,             ///< any text: std::string
  formula,          ///< a formula of a level, or a list of a number for each level: Formula
  words,            ///< a list of words, or one word: std::vector<std::string>
  choices,          ///< a list of words from a table, or one of them: std::vector<std::string>
  integers,         ///< a list of whole numbers, or one: std::vector<int>
  numbers,          ///< a list of numbers, which together are one value: std::vector<double>
  baselines,        ///< a row's name (std::string), or a table of lists of rows (std::vector<BaselineGroup>)
  entries,          ///< the entries of [grid] zip, which config/plan/zip.cpp reads: no value
  matrix,           ///< a square matrix of probabilities: Square
  rows,             ///< rows of numbers: NumberRows
  limits,           ///< limits of [gate]: std::vector<GateLimit>
  models,           ///< noise models: std::vector<Noise>
};

/// One key of a config, and its value. Valid only during the call of `visit` by each_field().
struct Field {
  std::string_view key;
  FieldType type = FieldType::integer;
  std::string_view help{};
  void* value = nullptr;
  const OnlyIf* rule = &no_condition;        ///< when the key has an effect
  std::optional<AxisValue> least{}, most{};  ///< bounds of a number, or of each number in a list
  std::vector<Choice> (*words_of)(const Field&) = nullptr;
  const void* table = nullptr;  ///< the allowed words
  std::size_t table_size = 0;
  std::string_view no_number{};          ///< for word_or_number: the word that means that there is no number
  const RowsRule* form = nullptr;        ///< for rows: which rows are allowed
  LimitedValue limited{};                ///< for limits: the value of a run that the limits bound
  std::vector<BaselineGroup>* groups{};  ///< for baselines: the lists of rows
  std::vector<NamedNumber>* numbers{};   ///< for formula: the numbers that it reads by name, which are described after it

  /// Functions that depend on the C++ type of the value. Lists have no `get` and `set`.
  struct Access {
    std::optional<AxisValue> (*get)(const Field&);
    void (*set)(const Field&, const AxisValue&);
    bool (*same)(const void*, const void*);
    void (*copy)(void* to, const void* from);
  };
  const Access* access = nullptr;

  bool is_scalar() const { return type <= FieldType::name; }
  template <class T>
  T& as() const {
    return *static_cast<T*>(value);
  }
  /// The value of a scalar or text; nothing when it is unset, or a list.
  std::optional<AxisValue> get() const { return access == nullptr || access->get == nullptr ? std::nullopt : access->get(*this); }
  /// Sets the value; `given` has the type that get() returns.
  void set(const AxisValue& given) const { access->set(*this, given); }
  /// The allowed words, with their help; for a number, the words that may stand in its place.
  std::vector<Choice> words() const { return words_of == nullptr ? std::vector<Choice>{} : words_of(*this); }
};

using FieldVisit = std::function<void(const Field&)>;

/// Visits every key of a config in the order of its description. `visit` may change values; a field is valid only during its visit.
template <class C>
void each_field(C& config, const FieldVisit& visit);
/// Visits the keys of one noise model.
void each_field(Noise& noise, const FieldVisit& visit);
/// Visits the keys of a copy, so that the config does not change.
template <class C>
void each_field_of(C config, const FieldVisit& visit) {
  each_field(config, visit);
}

/// Sets the value of the field if `key` is its key. In a field of noise models, MODEL.KEY sets a key of that model.
void assign_field(const Field& field, std::string_view key, const AxisValue& value);
/// Sets a key of a config to a value of its axis.
template <class C>
void assign(C& config, std::string_view key, const AxisValue& value) {
  each_field(config, [&](const Field& field) { assign_field(field, key, value); });
}

/// Returns one config for each combination of the values of those `keys` that are axes; the configs are equal in all other keys.
template <class C, class Keys>
std::vector<C> configs_of(const C& config, const std::vector<GridAxis>& axes, const Keys& keys) {
  std::vector<C> configs{config};
  for (const std::string_view key : keys) {
    const GridAxis* axis = find_axis(axes, key);
    if (axis == nullptr) continue;
    std::vector<C> next;
    for (const C& one : configs)
      for (const AxisValue& value : axis->values) assign(next.emplace_back(one), key, value);
    configs = std::move(next);
  }
  return configs;
}

}  // namespace odrpo
