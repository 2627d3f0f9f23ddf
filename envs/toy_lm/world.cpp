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

/// True if no response can follow both instructions.
constexpr bool contradict(Instruction a, Instruction b) {
  constexpr Instruction pairs[][2] = {{Instruction::forbidden, Instruction::existence},
                                      {Instruction::forbidden, Instruction::end_checker},
                                      {Instruction::lowercase, Instruction::capitals},
                                      {Instruction::lowercase, Instruction::highlight},
                                      {Instruction::no_comma, Instruction::bullets}};
  for (const auto& pair : pairs)
    if ((a == pair[0] && b == pair[1]) || (a == pair[1] && b == pair[0])) return true;
  return false;
}

/// The pairs of instructions that prompts give: [n] of them, those met in training first. Every third pair is met by held-out prompts alone.
struct InstructionPairs {
  std::array<std::array<Instruction, 2>, toy_instruction_kinds * (toy_instruction_kinds - 1) / 2> pair{};
  std::uint32_t trained = 0, all = 0;
};
constexpr InstructionPairs make_pairs() {
  InstructionPairs pairs;
  for (const bool trained : {true, false}) {
    for (int i = 0; i < toy_instruction_kinds; ++i)
      for (int j = i + 1; j < toy_instruction_kinds; ++j) {
        const auto a = static_cast<Instruction>(i), b = static_cast<Instruction>(j);
        if (!contradict(a, b) && ((i + j) % 3 != 0) == trained) pairs.pair[pairs.all++] = {a, b};
      }
    if (trained) pairs.trained = pairs.all;
  }
  return pairs;
}
constexpr InstructionPairs instruction_pairs = make_pairs();

/// Chooses what a prompt of difficulty `paper` asks: one instruction or two of a pair, of held-out prompts two of any pair, in either order.
void choose_instructions(bool held_out, std::uint32_t pair_word, std::uint32_t shape_word, ToyPrompt& p) {
  const auto& pair = instruction_pairs.pair[uniform_below(pair_word, held_out ? instruction_pairs.all : instruction_pairs.trained)];
  const bool swapped = (shape_word & 1) != 0, single = !held_out && (shape_word & 2) != 0;
  p.instruction = {pair[swapped ? 1 : 0], pair[swapped ? 0 : 1]};
  p.instructions = single ? 1 : 2;
}

}  // namespace

std::string word_text(const Vocabulary& v, Token token) {
  if (token >= v.size) return numbered("?", token);
  const int i = v.index_of(token);
  switch (v.class_of[token]) {
    case WordClass::end: return "<end>";
    case WordClass::separator: return ".";
    case WordClass::kind: return std::string(v.count(WordClass::kind) == toy_kinds ? kind_words[i].word : instruction_words[i].word);
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
  world.vocabulary = make_vocabulary(config.vocabulary, config.difficulty);
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
  p.persona = static_cast<int>(uniform_below(b.x[3], toy_personas));
  const Token persona = v.word(WordClass::persona, p.persona);
  if (world.config.difficulty == Difficulty::paper) {
    choose_instructions(index >= static_cast<std::uint32_t>(world.config.prompts), a.x[3], b.x[2], p);
    const auto word = [&](int i) { return i < p.instructions ? v.word(WordClass::kind, static_cast<int>(p.instruction[i])) : v.separator(); };
    p.words = {p.facts[0], p.facts[1], p.facts[2], word(0), p.keywords[0], p.keywords[1], word(1), persona};
    return p;
  }
  const int kind = static_cast<int>(uniform_below(a.x[3], toy_kinds)), length = static_cast<int>(uniform_below(b.x[2], toy_lengths));
  p.kind = static_cast<KeywordOrder>(kind);
  p.length = static_cast<LengthClass>(length);
  p.words = {p.facts[0],
             p.facts[1],
             p.facts[2],
             v.word(WordClass::kind, kind),
             p.keywords[0],
             p.keywords[1],
             v.word(WordClass::length, length),
             persona};
  return p;
}

std::vector<ToyPrompt> make_prompts(const ToyLm& world, std::uint32_t first, int count) {
  std::vector<ToyPrompt> prompts;
  prompts.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) prompts.push_back(make_prompt(world, first + static_cast<std::uint32_t>(i)));
  return prompts;
}

double count_prompts(const ToyLmConfig& config) {
  const bool paper = config.difficulty == Difficulty::paper;
  const Vocabulary v = make_vocabulary(config.vocabulary, config.difficulty);
  const double asked = paper ? 2.0 * instruction_pairs.all : toy_kinds * toy_lengths;
  const double facts = v.count(WordClass::fact), keywords = v.count(WordClass::keyword);
  return facts * (facts - 1) * (facts - 2) * keywords * (keywords - 1) * asked * toy_personas;
}

}  // namespace odrpo
