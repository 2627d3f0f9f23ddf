// A prompt written by hand, and responses given as words, for the tests of the toy language model.
#pragma once
#include <optional>
#include <random>
#include <string_view>
#include <vector>

#include "envs/toy_lm/rubric.hpp"

namespace odrpo::toy_test {

/// Context fact0 fact1 fact2, keywords key0 key1, persona 0 ("formal").
inline ToyPrompt hand_prompt(const ToyLm& world, KeywordOrder kind = KeywordOrder::in_order, LengthClass length = LengthClass::brief) {
  const Vocabulary& v = world.vocabulary;
  ToyPrompt p;
  for (int i = 0; i < toy_facts; ++i) p.facts[i] = v.word(WordClass::fact, i);
  for (int i = 0; i < 2; ++i) p.keywords[i] = v.word(WordClass::keyword, i);
  p.kind = kind;
  p.length = length;
  p.words = {p.facts[0],
             p.facts[1],
             p.facts[2],
             v.word(WordClass::kind, static_cast<int>(kind)),
             p.keywords[0],
             p.keywords[1],
             v.word(WordClass::length, static_cast<int>(length)),
             v.word(WordClass::persona, 0)};
  return p;
}

/// The tokens of words separated by spaces; nothing when one is not a word of the vocabulary.
inline std::optional<std::vector<Token>> tokens_of(const Vocabulary& v, std::string_view text) {
  std::vector<Token> tokens;
  while (true) {
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
    if (text.empty()) return tokens;
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(word.size());
    int token = 0;
    while (token < v.size && word_text(v, static_cast<Token>(token)) != word) ++token;
    if (token == v.size) return std::nullopt;
    tokens.push_back(static_cast<Token>(token));
  }
}

/// The tokens of words; throws when one is misspelt.
inline std::vector<Token> words(const ToyLm& world, std::string_view text) { return tokens_of(world.vocabulary, text).value(); }

/// What one part of the rubric says about a response given as words.
template <class Part>
auto of(Part part, const ToyLm& world, const ToyPrompt& prompt, std::string_view text) {
  const std::vector<Token> response = words(world, text);
  return part(read_text(world, prompt, response));
}

/// `length` words chosen uniformly, end words among them.
inline std::vector<Token> random_response(const ToyLm& world, int length, std::mt19937_64& g) {
  std::vector<Token> r(static_cast<std::size_t>(length));
  for (Token& t : r) t = static_cast<Token>(g() % static_cast<unsigned>(world.vocabulary.size));
  return r;
}

}  // namespace odrpo::toy_test
