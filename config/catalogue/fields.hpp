// The keys of a config as data: what each may be, what it means, when it has an effect, and its value. A config says them once, in its
// describe(); who reads, lists, writes, assigns or settles configs goes through them here.
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

/// What the value of a key is, and its C++ type. The first six are scalars, which may be axes of a grid.
enum class FieldType {
  integer,          ///< a whole number: any integer type
  number,           ///< a finite number: double
  optional_number,  ///< the same, or unset: std::optional<double>
  word,             ///< one of a table of words: an enumeration
  word_or_number,   ///< a number, or the one word that means none: std::optional<double>
  name,             ///< the name of something of the suite, or of a file: std::string
  text,             ///< std::string
  words,            ///< a list of words, or one word: std::vector<std::string>
  choices,          ///< the same, of a table of words
  integers,         ///< a list of whole numbers, or one: std::vector<int>
  numbers,          ///< a list of numbers, which is one value: std::vector<double>
  baselines,        ///< a text, or a table of lists: std::string; and the lists, std::vector<BaselineGroup>
  entries,          ///< the entries of [grid] zip, which config/plan/zip.cpp reads: no value
  matrix,           ///< a square of probabilities: Square
  rows,             ///< rows of numbers: NumberRows
  limits,           ///< limits of [gate]: std::vector<GateLimit>
  models,           ///< std::vector<Noise>
};

/// One key of a config, while it is visited.
struct Field {
  std::string_view key;
  FieldType type = FieldType::integer;
  std::string_view help{};
  void* value = nullptr;
  const OnlyIf* rule = &no_condition;        ///< when the key has an effect
  std::optional<AxisValue> least{}, most{};  ///< of a number, or of each in a list
  std::vector<Choice> (*words_of)(const Field&) = nullptr;
  const void* table = nullptr;  ///< of words
  std::size_t table_size = 0;
  std::string_view no_number{};          ///< of word_or_number
  const RowsRule* form = nullptr;        ///< of rows
  LimitedValue limited{};                ///< of limits
  std::vector<BaselineGroup>* groups{};  ///< of baselines

  /// What depends on the C++ type of the value. Lists have no `get` and `set`.
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
  /// Takes what get() gives.
  void set(const AxisValue& given) const { access->set(*this, given); }
  /// The words that it may be, with their help; of a number those that may stand in its place.
  std::vector<Choice> words() const { return words_of == nullptr ? std::vector<Choice>{} : words_of(*this); }
};

using FieldVisit = std::function<void(const Field&)>;

/// Visits every key of a config in the order of its description. `visit` may change values; a field lasts as long as its visit.
template <class C>
void each_field(C& config, const FieldVisit& visit);
/// The keys of one noise model.
void each_field(Noise& noise, const FieldVisit& visit);
/// Of what stays as it is.
template <class C>
void each_field_of(C config, const FieldVisit& visit) {
  each_field(config, visit);
}

/// Puts the value into the field if it has that key, or holds the model of a key MODEL.KEY.
void assign_field(const Field& field, std::string_view key, const AxisValue& value);
/// Puts the value of an axis into a config.
template <class C>
void assign(C& config, std::string_view key, const AxisValue& value) {
  each_field(config, [&](const Field& field) { assign_field(field, key, value); });
}

/// The config for every combination of the values that these axes of it have; those of no axis are left out.
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
