// "did you mean": the nearest of the words that would have been right.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace odrpo {

/// Optimal string alignment distance (insert, delete, replace, swap neighbours); letter case and '-'/'_' count as equal.
int edit_distance(std::string_view a, std::string_view b);

/// The nearest candidate within a third of the longer word's length (at least 1 edit), else the shortest that begins with the word, or ""
/// when none is near.
std::string nearest_word(std::string_view word, std::span<const std::string_view> candidates);

/// `; did you mean "x"?` with the nearest of the words, or "" when none is near.
std::string did_you_mean(std::string_view word, std::span<const std::string_view> words);
std::string did_you_mean(std::string_view word, const std::vector<std::string>& words);

/// "a, b, c or d"; cut after `limit` words.
std::string one_of(std::span<const std::string_view> words, std::size_t limit = 32);

}  // namespace odrpo
