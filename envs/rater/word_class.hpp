// Classes of words that judges of texts can tell apart; the toy language model's vocabulary is made of them.
#pragma once
#include <cstdint>

#include "kernels/word.hpp"

namespace odrpo {

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

}  // namespace odrpo
