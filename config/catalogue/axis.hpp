// One extra axis of a grid: a key that was given a list.
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
  Place key_place, place;         ///< of the key (the order of axes) and of the list
  std::vector<AxisValue> values;  ///< all different
  std::vector<std::size_t> of_entry{};  ///< of an axis that [grid] zip sets: the value of each entry
  bool zipped() const { return !of_entry.empty(); }
  /// How many values the runs of one entry of `zip` have.
  std::size_t choices() const { return zipped() ? 1 : values.size(); }
};

/// [grid] zip in a plan: the words that each entry sets, as indices of the plan's lists; an empty list = not zipped. Zipped keys are axes.
struct Zip {
  Place key_place;
  std::size_t entries = 1;  ///< 1 also where nothing is zipped
  std::vector<std::size_t> env{}, rater{}, policy{}, estimator{}, votes{};
};

/// The axis of that key, or nullptr.
const GridAxis* find_axis(const std::vector<GridAxis>& axes, std::string_view key);
/// Does the axis have the value?
bool has_value(const GridAxis& axis, const AxisValue& value);
/// A value as ids write it: "8", "0.03", "cosine".
std::string value_text(const AxisValue& value);

// The values that a key of a variant takes in the runs of a suite: those of its axis, or the one that it has.

/// Can the enumeration take this value in some run?
template <class E, std::size_t n>
bool may_be(const std::vector<GridAxis>& axes, std::string_view key, E scalar, const Word<E> (&table)[n], E value) {
  const auto* axis = find_axis(axes, key);
  return axis == nullptr ? scalar == value : has_value(*axis, std::string(word_of(std::span<const Word<E>>(table), value)));
}

/// The values that an integer key takes.
inline std::vector<std::int64_t> values_of(const std::vector<GridAxis>& axes, std::string_view key, int scalar) {
  const auto* axis = find_axis(axes, key);
  if (axis == nullptr) return {scalar};
  std::vector<std::int64_t> values;
  for (const auto& v : axis->values) values.push_back(std::get<std::int64_t>(v));
  return values;
}

// Choice: a word that a described key may have, kept as text.

/// A word of a choice that is kept as text.
struct Choice {
  std::string_view word, help;
  std::string_view begins{};  ///< any word that begins so is meant, and is checked elsewhere; empty = this word alone
};

}  // namespace odrpo
