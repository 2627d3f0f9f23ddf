// Maps words of catalogues to values and back, suggests the nearest word for a misspelt one, and joins lists to text.
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

// An enumeration has a table of Words, one for each enumerator that a suite file may name.

/// One word of a catalogue: the enumerator, its spelling in TOML, and one line of help.
template <class E>
struct Word {
  E value;
  std::string_view word;
  std::string_view help;
};

/// Turns `_` into `-`. Words, keys and names in suites are equal if they differ only in these two characters.
constexpr char fold_dash(char c) { return c == '_' ? '-' : c; }
constexpr bool same_word(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (fold_dash(a[i]) != fold_dash(b[i])) return false;
  return true;
}

/// The value of a word, or nullopt for an unknown one.
template <class E>
constexpr std::optional<E> find_word(std::span<const Word<E>> table, std::string_view word) {
  for (const auto& w : table)
    if (same_word(w.word, word)) return w.value;
  return std::nullopt;
}

/// The line of help for a value of the table.
template <class E>
constexpr std::string_view help_of(std::span<const Word<E>> table, E value) {
  for (const auto& w : table)
    if (w.value == value) return w.help;
  return "?";
}

/// The word for a value; "?" if the table lacks it.
template <class E>
constexpr std::string_view word_of(std::span<const Word<E>> table, E value) {
  for (const auto& w : table)
    if (w.value == value) return w.word;
  return "?";
}

/// The words of a table, whose rows are Words or have another member `word`.
template <class Table>
std::vector<std::string_view> words_in(const Table& table) {
  std::vector<std::string_view> words;
  for (const auto& row : table) words.emplace_back(row.word);
  return words;
}

// Suggestions ("did you mean") for an unknown word.

/// Optimal string alignment distance (insert, delete, replace, swap neighbours). Ignores letter case and the difference of '-' and '_'.
int edit_distance(std::string_view a, std::string_view b);

/// The candidate at the smallest edit distance, if it is at most a third of the longer word's length (or 1). Else the shortest candidate
/// that begins with the word; "" if there is none.
std::string nearest_word(std::string_view word, std::span<const std::string_view> candidates);

/// The text `; did you mean "x"?` with x = nearest_word(), or "" if no word is near.
std::string did_you_mean(std::string_view word, std::span<const std::string_view> words);
std::string did_you_mean(std::string_view word, const std::vector<std::string>& words);

// Lists as one text.

/// Joins words to "a, b, c or d"; cut after `limit` words.
std::string one_of(std::span<const std::string_view> words, std::size_t limit = 32);

/// Appends an item to a list, after the separator `between` unless the list is empty.
inline void add_item(std::string& list, std::string_view item, std::string_view between = ", ") {
  list.append(list.empty() ? "" : between).append(item);
}

/// Joins the texts of all items with the separator `between`: "a, b, c".
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
