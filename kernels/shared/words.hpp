// Words of catalogues: the value of a word, the word and the help of a value, and the word that was meant; lists in one text.
#pragma once
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace odrpo {

// Word: one word of a catalogue. A visible table of them is the vocabulary that suite files use for an enumeration.

/// One word of a catalogue: its value, how it is written in TOML, and one line of help.
template <class E>
struct Word {
  E value;
  std::string_view word;
  std::string_view help;
};

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

/// The words of a table, of Word or other rows that have a `word`.
template <class Table>
std::vector<std::string_view> words_in(const Table& table) {
  std::vector<std::string_view> words;
  for (const auto& row : table) words.emplace_back(row.word);
  return words;
}

// "did you mean": the nearest of the words that would have been right.

/// Optimal string alignment distance (insert, delete, replace, swap neighbours); letter case and '-'/'_' count as equal.
int edit_distance(std::string_view a, std::string_view b);

/// The nearest candidate within a third of the longer word's length (at least 1 edit), else the shortest that begins with the word, or ""
/// when none is near.
std::string nearest_word(std::string_view word, std::span<const std::string_view> candidates);

/// `; did you mean "x"?` with the nearest of the words, or "" when none is near.
std::string did_you_mean(std::string_view word, std::span<const std::string_view> words);
std::string did_you_mean(std::string_view word, const std::vector<std::string>& words);

// Lists in one text.

/// "a, b, c or d"; cut after `limit` words.
std::string one_of(std::span<const std::string_view> words, std::size_t limit = 32);

/// Adds an item to a list, behind `between` unless the list is empty.
inline void add_item(std::string& list, std::string_view item, std::string_view between = ", ") {
  list.append(list.empty() ? "" : between).append(item);
}

/// The texts of all items, `between` between them: "a, b, c".
template <class List, class Text = std::identity>
std::string joined(const List& list, Text text = {}, std::string_view between = ", ") {
  std::string all;
  bool first = true;
  for (const auto& item : list) {
    if (!std::exchange(first, false)) all += between;
    all.append(std::string_view(std::invoke(text, item)));
  }
  return all;
}

}  // namespace odrpo
