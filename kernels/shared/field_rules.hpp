// Rules of described keys, as data: when a key has an effect, and what lists of lists of numbers must be.
// A config's describe() hands a rule to the visitor behind the help of a key; config/check/key_effect.hpp evaluates it.
#pragma once
#include <array>
#include <cstddef>
#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

#include "kernels/shared/words.hpp"

namespace odrpo {

/// What a key needs of one other key.
struct Need {
  enum class Kind {
    one_of,    ///< a word among `words`
    none_of,   ///< a word that is not among `words`
    above,     ///< a number above `bound`
    not_zero,  ///< a number other than 0
    given,     ///< a text or a list that is not empty
  };
  /// The other key of the same section; base_need: the catalogue word that the section starts from; env_need: the world of the run;
  /// noise_need: the first model of the section's noise.
  std::string_view key;
  Kind kind = Kind::one_of;
  std::array<std::string_view, 8> words{};  ///< unused places are empty; "odrpo*" allows every word that begins with "odrpo"
  double bound = 0;
  std::string_view why = "";  ///< for people, where it says more than the need itself: "only aggregate = \"mode\" has ties"
  bool operator==(const Need&) const = default;
};
inline constexpr std::string_view base_need = "base", env_need = "env.base", noise_need = "noise";

/// When a key has an effect. The default: always.
struct OnlyIf {
  std::array<Need, 4> needs{};
  int count = 0;
  bool any = false;            ///< one of the needs is enough; else all of them must hold
  bool every_run = false;      ///< the key must have an effect in every run of a suite that sets it; else one run is enough
  bool training_only = false;  ///< the supervised steps that a policy starts from do not use the key

  constexpr bool always() const { return count == 0 && !training_only; }
  constexpr std::span<const Need> list() const { return std::span(needs).first(static_cast<std::size_t>(count)); }
  bool operator==(const OnlyIf&) const = default;
};
inline constexpr OnlyIf no_condition{}, training_only{.training_only = true};

/// The other key's word is one of `values`.
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
/// The section starts from one of these words of its catalogue.
constexpr OnlyIf base_is(std::initializer_list<std::string_view> words, std::string_view why = "") {
  OnlyIf rule{.count = 1};
  rule.needs[0] = {.key = base_need, .why = why};
  std::size_t i = 0;
  for (const std::string_view word : words) rule.needs[0].words.at(i++) = word;
  return rule;
}
/// The section starts from any other word than this one of its catalogue.
constexpr OnlyIf base_is_not(std::string_view word, std::string_view why) {
  return {.needs = {Need{.key = base_need, .kind = Need::Kind::none_of, .words = {word}, .why = why}}, .count = 1};
}
/// The run's world is of this base.
constexpr OnlyIf env_is(std::string_view base, std::string_view why = "") {
  return {.needs = {Need{.key = env_need, .words = {base}, .why = why}}, .count = 1};
}
/// The section's noise begins with one of these models.
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

/// Both rules. Neither may be a choice of several needs.
constexpr OnlyIf operator&&(OnlyIf a, const OnlyIf& b) {
  if (a.any || b.any) throw "a choice of needs cannot be part of another rule";  // a compile error, since rules are constants
  for (const Need& need : b.list()) a.needs.at(static_cast<std::size_t>(a.count++)) = need;
  a.every_run = a.every_run || b.every_run;
  a.training_only = a.training_only || b.training_only;
  return a;
}
/// One of two single needs.
constexpr OnlyIf operator||(OnlyIf a, const OnlyIf& b) {
  if (a.count != 1 || b.count != 1) throw "only single needs can be a choice";  // a compile error, since rules are constants
  a = a && b;
  a.any = true;
  return a;
}
/// The rule, for a key that must have an effect in every run.
constexpr OnlyIf in_every_run(OnlyIf rule) {
  rule.every_run = true;
  return rule;
}

// Lists of lists of numbers in configs, and what a reader holds them to.

using NumberRows = std::vector<std::vector<double>>;

/// What the rows of a key must be; a reader reports the first row that is not.
struct RowsRule {
  int least_rows, most_rows, least_entries, most_entries;
  double least, most;        ///< of an entry
  bool same_length = false;  ///< all rows
  bool whole = false;        ///< entries are whole numbers
  bool ascending = false;    ///< entries do not decrease in their row
  bool sums_to_one = false;  ///< within 1e-6; the reader then divides by the sum
};

}  // namespace odrpo
