// Makes the toy language: prints words as text, computes length ranges, and draws prompts by hash.
#include "envs/toy_lm/world.hpp"

#include "kernels/random.hpp"

namespace odrpo {
namespace {

constexpr std::string_view personas[toy_personas] = {"formal", "warm", "brisk", "playful"};
constexpr std::string_view connectives[toy_connectives] = {"and", "so", "because", "then"};
constexpr std::string_view fillers[toy_fillers] = {"um", "well", "like", "basically"};

std::string numbered(std::string_view stem, int index) { return std::string(stem) + std::to_string(index); }

// Draws `count` different numbers below n. Number i is an index among the numbers that are not taken yet: it skips the taken ones.
template <std::size_t count>
std::array<int, count> different(const std::uint32_t* random, std::uint32_t n) {
  std::array<int, count> taken{}, sorted{};
  for (std::size_t i = 0; i < count; ++i) {
    int x = static_cast<int>(uniform_below(random[i], n - static_cast<std::uint32_t>(i)));
    std::size_t at = 0;
    for (; at < i && x >= sorted[at]; ++at) ++x;
    for (std::size_t j = i; j > at; --j) sorted[j] = sorted[j - 1];
    taken[i] = sorted[at] = x;
  }
  return taken;
}

}  // namespace

std::string word_text(const Vocabulary& v, Token token) {
  if (token >= v.size) return numbered("?", token);
  const int i = v.index_of(token);
  switch (v.class_of[token]) {
    case WordClass::end: return "<end>";
    case WordClass::separator: return ".";
    case WordClass::kind: return std::string(kind_words[i].word);
    case WordClass::length: return std::string(length_words[i].word);
    case WordClass::persona: return std::string(personas[i]);
    case WordClass::connective: return std::string(connectives[i]);
    case WordClass::filler: return std::string(fillers[i]);
    case WordClass::tone: return numbered("tone", i / tone_words_each) + "." + std::to_string(i % tone_words_each);
    case WordClass::forbidden: return numbered("bad", i);
    case WordClass::fact: return numbered("fact", i);
    case WordClass::keyword: return numbered("key", i);
    case WordClass::plain: return numbered("plain", i);
  }
  return "?";
}

std::string text_of(const Vocabulary& v, std::span<const Token> tokens) {
  return joined(tokens, [&](Token token) { return word_text(v, token); }, " ");
}

ToyLm make_toy_lm(const ToyLmConfig& config, std::uint64_t key) {
  ToyLm world;
  world.config = config;
  world.key = key;
  world.vocabulary = make_vocabulary(config.vocabulary);
  // a full answer has ten words; the more tokens are allowed beyond these and the end word, the further apart the ranges
  const int room = config.response_tokens - 12;
  world.range = {LengthRange{8, 10 + room / 3}, LengthRange{10, 11 + room / 2}, LengthRange{10 + room / 4, 11 + room}};
  return world;
}

ToyPrompt make_prompt(const ToyLm& world, std::uint32_t index) {
  const Vocabulary& v = world.vocabulary;
  const Words4 a = draw(world.key, Purpose::toy_prompt, 0, index, 0), b = draw(world.key, Purpose::toy_prompt, 0, index, 1);
  ToyPrompt p;
  p.index = index;
  const auto facts = different<3>(a.x, static_cast<std::uint32_t>(v.count(WordClass::fact)));
  const auto keywords = different<2>(b.x, static_cast<std::uint32_t>(v.count(WordClass::keyword)));
  for (int i = 0; i < toy_facts; ++i) p.facts[i] = v.word(WordClass::fact, facts[i]);
  for (int i = 0; i < 2; ++i) p.keywords[i] = v.word(WordClass::keyword, keywords[i]);
  const int kind = static_cast<int>(uniform_below(a.x[3], toy_kinds)), length = static_cast<int>(uniform_below(b.x[2], toy_lengths));
  p.kind = static_cast<KeywordOrder>(kind);
  p.length = static_cast<LengthClass>(length);
  p.persona = static_cast<int>(uniform_below(b.x[3], toy_personas));
  p.words = {p.facts[0],
             p.facts[1],
             p.facts[2],
             v.word(WordClass::kind, kind),
             p.keywords[0],
             p.keywords[1],
             v.word(WordClass::length, length),
             v.word(WordClass::persona, p.persona)};
  return p;
}

std::vector<ToyPrompt> make_prompts(const ToyLm& world, std::uint32_t first, int count) {
  std::vector<ToyPrompt> prompts;
  prompts.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) prompts.push_back(make_prompt(world, first + static_cast<std::uint32_t>(i)));
  return prompts;
}

double count_prompts(const ToyLmConfig& config) {
  const Vocabulary v = make_vocabulary(config.vocabulary);
  const double facts = v.count(WordClass::fact), keywords = v.count(WordClass::keyword);
  return facts * (facts - 1) * (facts - 2) * keywords * (keywords - 1) * toy_kinds * toy_lengths * toy_personas;
}

}  // namespace odrpo
