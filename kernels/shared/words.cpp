// Computes edit distances, and suggests the nearest word for an unknown one.
#include "kernels/shared/words.hpp"

#include <algorithm>

namespace odrpo {
namespace {

char fold(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : fold_dash(c); }

// The shortest candidate that begins with `word`; empty if there is none or if `word` is a single letter.
std::string shortest_with(std::string_view word, std::span<const std::string_view> candidates) {
  std::string_view best;
  for (const auto c : candidates) {
    const bool begins = word.size() > 1 && word.size() < c.size() &&
                        std::equal(word.begin(), word.end(), c.begin(), [](char a, char b) { return fold(a) == fold(b); });
    if (begins && (best.empty() || c.size() < best.size())) best = c;
  }
  return std::string(best);
}

}  // namespace

int edit_distance(std::string_view a, std::string_view b) {
  // three rows of the table of dynamic programming: two rows before (`before`), one row before (`last`), and the current one
  std::vector<int> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = static_cast<int>(j);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = static_cast<int>(i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = fold(a[i - 1]) == fold(b[j - 1]);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (same ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && fold(a[i - 1]) == fold(b[j - 2]) && fold(a[i - 2]) == fold(b[j - 1]);
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before.swap(last);
    last.swap(row);
  }
  return last[b.size()];
}

std::string nearest_word(std::string_view word, std::span<const std::string_view> candidates) {
  std::string_view best;
  int best_distance = 1 << 20;
  for (const auto candidate : candidates) {
    const auto longer = std::max(word.size(), candidate.size());
    const auto shorter = std::min(word.size(), candidate.size());
    const int threshold = std::max<int>(1, static_cast<int>(longer / 3));
    if (static_cast<int>(longer - shorter) > threshold) continue;
    const int distance = edit_distance(word, candidate);
    if (distance <= threshold && distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best.empty() ? shortest_with(word, candidates) : std::string(best);
}

std::string did_you_mean(std::string_view word, std::span<const std::string_view> words) {
  const std::string near = nearest_word(word, words);
  return near.empty() ? "" : "; did you mean \"" + near + "\"?";
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& words) {
  return did_you_mean(word, std::vector<std::string_view>(words.begin(), words.end()));
}

std::string one_of(std::span<const std::string_view> words, std::size_t limit) {
  std::string text;
  const std::size_t n = std::min(words.size(), limit);
  for (std::size_t i = 0; i < n; ++i) {
    if (i > 0) text += i + 1 == words.size() ? " or " : ", ";
    text += words[i];
  }
  if (words.size() > limit) text += ", ...";
  return text;
}

}  // namespace odrpo
