// What a judge of the toy language model sees in a text besides its quality, as flat numbers of a rater's config (docs/toy-lm.md).
#pragma once
#include <cstdint>
#include <span>

#include "kernels/shared/field_rules.hpp"
#include "kernels/shared/word.hpp"

namespace odrpo {

// Classes of words that judges of texts can tell apart; the toy language model's vocabulary is made of them.

/// What a word is for. The vocabulary holds the classes in this order.
enum class WordClass : std::uint8_t { end, separator, kind, length, persona, connective, filler, tone, forbidden, fact, keyword, plain };
inline constexpr int word_classes = 12;
inline constexpr Word<WordClass> class_words[] = {
    {WordClass::end, "end", "ends a response"},
    {WordClass::separator, "separator", "ends a sentence"},
    {WordClass::kind, "kind", "says where the required keywords go (prompts only)"},
    {WordClass::length, "length", "says how long the answer should be (prompts only)"},
    {WordClass::persona, "persona", "says who asks (prompts only)"},
    {WordClass::connective, "connective", "links two claims"},
    {WordClass::filler, "filler", "says nothing"},
    {WordClass::tone, "tone", "suits one persona: two words each"},
    {WordClass::forbidden, "forbidden", "must never be said"},
    {WordClass::fact, "fact", "a claim; true when the prompt's context holds it"},
    {WordClass::keyword, "keyword", "a claim that a prompt may require"},
    {WordClass::plain, "plain", "neutral content"},
};

/// The part of [rater.NAME] that only texts meet. At its defaults a judge sees the true quality and answers in order.
struct TextJudge {
  double length_bias = 0, length_mid = 12;      ///< seen quality + length_bias (length - length_mid)
  double flattery = 0;                          ///< seen quality + flattery x repeated words, at most flattery_most
  int flattery_most = 8;                        //
  double misfire = 0;                           ///< chance per call that a clean text with a trigger word scores 1
  WordClass misfire_trigger = WordClass::tone;  //
  double overlook = 0;                          ///< chance per call that violations are overlooked
  double json_odd = 0, json_broken = 0;         ///< shares of odd and of broken JSON answers
  bool operator==(const TextJudge&) const = default;
};
inline constexpr OnlyIf length_bias_only = not_zero("length_bias"), flattery_only = not_zero("flattery"),
                        misfire_only = above("misfire", 0);
template <class V>
void describe(V& v, TextJudge& c) {
  v.number("length_bias", c.length_bias, -10.0, 10.0, "toy-lm: levels added per word beyond length_mid");
  v.number("length_mid", c.length_mid, 0.0, 64.0, "toy-lm: length at which length_bias adds nothing", length_bias_only);
  v.number("flattery", c.flattery, -10.0, 10.0, "toy-lm: levels added per word that stood in the text already");
  v.integer("flattery_most", c.flattery_most, 0, 64, "toy-lm: repeated words that flattery counts at most", flattery_only);
  v.number("misfire", c.misfire, 0.0, 1.0, "toy-lm: probability per call that a clean text with a trigger word scores 1");
  v.word("misfire_trigger", c.misfire_trigger, std::span<const Word<WordClass>>(class_words),
         "toy-lm: words that misfire takes for a violation", misfire_only);
  v.number("overlook", c.overlook, 0.0, 1.0, "toy-lm: probability per call that violations are overlooked");
  v.number("json_odd", c.json_odd, 0.0, 1.0, "toy-lm: share of JSON answers written oddly, but readable");
  v.number("json_broken", c.json_broken, 0.0, 1.0, "toy-lm: share of JSON answers that break the format");
}

}  // namespace odrpo
