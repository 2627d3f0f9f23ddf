// Defines field rules, as data: when a key of a suite has an effect, and which lists of lists of numbers it accepts.
// A config's describe() passes a key's rule to its visitor after the help text; config/check/key_effect.hpp evaluates it.
#pragma once
#include <array>
#include <cstddef>
#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

#include "kernels/shared/words.hpp"

namespace odrpo {

/// A condition on the value of another key, without which a key has no effect.
struct Need {
  enum class Kind {
    one_of,    ///< the value is a word among `words`
    none_of,   ///< the value is a word that is not among `words`
    above,     ///< the value is a number above `bound`
    not_zero,  ///< the value is a number other than 0
    given,     ///< the value is a text or a list that is not empty
  };
  /// Whose value the condition is about: another key of the same section; base_need: the catalogue word that the section starts from;
  /// env_need: the world of the run; noise_need: the first model of the section's noise; median_need: given if levels read a median.
  std::string_view key;
  Kind kind = Kind::one_of;
  /// Padded with empty ones; "odrpo*" means every word that begins with "odrpo". A word of a form also means corrected(FORM).
  std::array<std::string_view, 12> words{};
  double bound = 0;
  std::string_view why = "";  ///< reason for messages, if it says more than the condition: "only aggregate = \"mode\" has ties"
  bool operator==(const Need&) const = default;
};
inline constexpr std::string_view base_need = "base", env_need = "env.base", noise_need = "noise", median_need = "med";

/// When a key has an effect. By default: always.
struct OnlyIf {
  std::array<Need, 4> needs{};
  int count = 0;               ///< how many of `needs` are used
  bool any = false;            ///< true: one of the needs is enough; false: all of them must hold
  bool every_run = false;      ///< true: the key must have an effect in every run of a suite that sets it; false: in at least one
  bool training_only = false;  ///< true: the supervised steps before training, which make the initial policy, do not use the key

  constexpr bool always() const { return count == 0 && !training_only; }
  constexpr std::span<const Need> list() const { return std::span(needs).first(static_cast<std::size_t>(count)); }
  bool operator==(const OnlyIf&) const = default;
};
inline constexpr OnlyIf no_condition{}, training_only{.training_only = true};

/// A rule that holds if the value of `key` is one of `values`, whose words are in `table`.
template <class E, std::size_t n>
constexpr OnlyIf word_is(std::string_view key, const Word<E> (&table)[n], std::initializer_list<E> values, std::string_view why = "") {
  OnlyIf rule{.count = 1};
  rule.needs[0] = {.key = key, .why = why};
  std::size_t i = 0;
  for (const E value : values)
    for (const Word<E>& w : table)
      if (w.value == value) rule.needs[0].words.at(i++) = w.word;
  return rule;
}
/// A rule that holds if the section starts from one of these words of its catalogue.
constexpr OnlyIf base_is(std::initializer_list<std::string_view> words, std::string_view why = "") {
  OnlyIf rule{.count = 1};
  rule.needs[0] = {.key = base_need, .why = why};
  std::size_t i = 0;
  for (const std::string_view word : words) rule.needs[0].words.at(i++) = word;
  return rule;
}
/// A rule that holds if the section starts from any word of its catalogue but this one.
constexpr OnlyIf base_is_not(std::string_view word, std::string_view why) {
  return {.needs = {Need{.key = base_need, .kind = Need::Kind::none_of, .words = {word}, .why = why}}, .count = 1};
}
/// A rule that holds if the run's world starts from this word of the catalogue of worlds.
constexpr OnlyIf env_is(std::string_view base, std::string_view why = "") {
  return {.needs = {Need{.key = env_need, .words = {base}, .why = why}}, .count = 1};
}
/// A rule that holds if the first model of the section's noise is one of these.
constexpr OnlyIf noise_is(std::initializer_list<std::string_view> words, std::string_view why = "") {
  OnlyIf rule = base_is(words, why);
  rule.needs[0].key = noise_need;
  return rule;
}
constexpr OnlyIf above(std::string_view key, double bound, std::string_view why = "") {
  return {.needs = {Need{.key = key, .kind = Need::Kind::above, .bound = bound, .why = why}}, .count = 1};
}
constexpr OnlyIf not_zero(std::string_view key) { return {.needs = {Need{.key = key, .kind = Need::Kind::not_zero}}, .count = 1}; }
constexpr OnlyIf given(std::string_view key, std::string_view why = "") {
  return {.needs = {Need{.key = key, .kind = Need::Kind::given, .why = why}}, .count = 1};
}

/// A rule that holds if both rules hold. Neither may be made by operator||.
constexpr OnlyIf operator&&(OnlyIf a, const OnlyIf& b) {
  if (a.any || b.any) throw "a choice of needs cannot be part of another rule";  // a compile error, since rules are constants
  for (const Need& need : b.list()) a.needs.at(static_cast<std::size_t>(a.count++)) = need;
  a.every_run = a.every_run || b.every_run;
  a.training_only = a.training_only || b.training_only;
  return a;
}
/// A rule that holds if one of two rules holds. Each must have exactly one need.
constexpr OnlyIf operator||(OnlyIf a, const OnlyIf& b) {
  if (a.count != 1 || b.count != 1) throw "only single needs can be a choice";  // a compile error, since rules are constants
  a = a && b;
  a.any = true;
  return a;
}
/// The same rule, for a key that must have an effect in every run of a suite that sets it.
constexpr OnlyIf in_every_run(OnlyIf rule) {
  rule.every_run = true;
  return rule;
}

// Values of keys that are lists of lists of numbers, and what the reader of a suite checks in them.

using NumberRows = std::vector<std::vector<double>>;

/// Conditions on a list of rows of numbers; the reader of a suite reports the first row that violates one.
struct RowsRule {
  int least_rows, most_rows, least_entries, most_entries;
  double least, most;        ///< bounds of each number
  bool same_length = false;  ///< all rows must have the same length
  bool whole = false;        ///< numbers must be integers
  bool ascending = false;    ///< numbers must not decrease within a row
  bool sums_to_one = false;  ///< each row must have the sum 1 within 1e-6; the reader then divides it by its sum
};

}  // namespace odrpo
