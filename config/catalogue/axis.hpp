// Defines the extra axes of a grid (keys that have a list of values), and how [grid] zip ties values of several axes together.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "config/read/tree.hpp"
#include "kernels/shared/words.hpp"
#include "results/store/record.hpp"

namespace odrpo {

struct GridAxis {
  std::string section;            ///< "learn", "rater.loud"
  std::string key;                ///< within the section: "lr", "low.p"
  std::string name;               ///< in ids and tables: the key when no other axis of the suite has it, else section.key
  Place key_place, place;         ///< where the key stands in the suite (this orders the axes), and where its list stands
  std::vector<AxisValue> values;  ///< all different
  std::vector<std::size_t> of_entry{};  ///< for each entry of [grid] zip the index of its value; empty = not zipped
  bool zipped() const { return !of_entry.empty(); }
  /// Number of values that this axis has in the runs of one entry of [grid] zip: 1 if it is zipped, else all.
  std::size_t choices() const { return zipped() ? 1 : values.size(); }
};

/// What the entries of [grid] zip set in a plan. env[e] = index in Plan::env of the env that entry e sets; likewise the other lists. An empty
/// list = that word is not zipped. Other zipped keys are in GridAxis::of_entry.
struct Zip {
  Place key_place;
  std::size_t entries = 1;  ///< 1 if nothing is zipped
  std::vector<std::size_t> env{}, rater{}, policy{}, estimator{}, votes{};
};

/// Returns the axis with this key, or nullptr.
const GridAxis* find_axis(const std::vector<GridAxis>& axes, std::string_view key);
/// True if the axis has the value.
bool has_value(const GridAxis& axis, const AxisValue& value);
/// Returns a value as ids write it: "8", "0.03", "cosine".
std::string value_text(const AxisValue& value);

// Values that a key has in the runs of a suite: those of its axis, or `scalar` if it is no axis.

/// True if the key has the enumerator `value` in some run.
template <class E, std::size_t n>
bool may_be(const std::vector<GridAxis>& axes, std::string_view key, E scalar, const Word<E> (&table)[n], E value) {
  const auto* axis = find_axis(axes, key);
  return axis == nullptr ? scalar == value : has_value(*axis, std::string(word_of(std::span<const Word<E>>(table), value)));
}

/// Returns the values that an integer key has in the runs.
inline std::vector<std::int64_t> values_of(const std::vector<GridAxis>& axes, std::string_view key, int scalar) {
  const auto* axis = find_axis(axes, key);
  if (axis == nullptr) return {scalar};
  std::vector<std::int64_t> values;
  for (const auto& v : axis->values) values.push_back(std::get<std::int64_t>(v));
  return values;
}

// Choice: a word that a described key may have, kept as text.

/// One allowed word of a key whose value is kept as text.
struct Choice {
  std::string_view word, help;
  std::string_view begins{};  ///< any word with this prefix is accepted, and checked elsewhere; empty = this word alone
};

}  // namespace odrpo
