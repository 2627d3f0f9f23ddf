// The values that a key of a variant takes in the runs of a suite: those of its axis, or the one that it has.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "kernels/shared/words.hpp"
#include "config/catalogue/axis.hpp"

namespace odrpo {

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

}  // namespace odrpo
