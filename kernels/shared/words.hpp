// Looks words up in the tables of kernels/shared/word.hpp: the value of a word, the word and the help of a value.
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "kernels/shared/word.hpp"

namespace odrpo {

/// `-` and `_` are equal in words, keys and names of catalogues.
constexpr char fold_dash(char c) { return c == '_' ? '-' : c; }
constexpr bool same_word(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (fold_dash(a[i]) != fold_dash(b[i])) return false;
  return true;
}

/// The value of a word, or nothing.
template <class E>
constexpr std::optional<E> find_word(std::span<const Word<E>> table, std::string_view word) {
  for (const auto& w : table)
    if (same_word(w.word, word)) return w.value;
  return std::nullopt;
}

/// The line of help of a value.
template <class E>
constexpr std::string_view help_of(std::span<const Word<E>> table, E value) {
  for (const auto& w : table)
    if (w.value == value) return w.help;
  return "?";
}

/// The word of a value ("?" cannot happen for a complete table).
template <class E>
constexpr std::string_view word_of(std::span<const Word<E>> table, E value) {
  for (const auto& w : table)
    if (w.value == value) return w.word;
  return "?";
}

}  // namespace odrpo
