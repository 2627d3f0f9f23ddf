// Defines the world `toy-lm`: a vocabulary of word classes, and prompts that are a hash of the world's key (docs/toy-lm.md).
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "envs/rater/rater.hpp"
#include "envs/toy_lm/config.hpp"
#include "kernels/shared/words.hpp"

namespace odrpo {

/// A word's number in the vocabulary, 0 <= token < V.
using Token = std::uint16_t;

inline constexpr int toy_prompt_tokens = 8;      ///< words of every prompt
inline constexpr int toy_facts = 3;              ///< number of facts in a prompt's context

/// Where the two required keywords must stand in a response.
enum class KeywordOrder : std::uint8_t { in_order, reversed, opening };
inline constexpr Word<KeywordOrder> kind_words[] = {
    {KeywordOrder::in_order, "in-order", "the first keyword comes before the second"},
    {KeywordOrder::reversed, "reversed", "the second keyword comes before the first"},
    {KeywordOrder::opening, "opening", "the response begins with the first keyword"},
};
/// How long the answer should be. ToyLm::range has the number of words of each class.
enum class LengthClass : std::uint8_t { brief, medium, lengthy };
inline constexpr Word<LengthClass> length_words[] = {
    {LengthClass::brief, "brief", "a short answer"},
    {LengthClass::medium, "medium", "an answer of middle length"},
    {LengthClass::lengthy, "lengthy", "a long answer"},
};
/// What prompts of difficulty `paper` ask, after the kinds of instructions of IFEval (arXiv 2311.07911); envs/toy_lm/instructions.hpp checks them.
enum class Instruction : std::uint8_t {
  forbidden, lowercase, no_comma, existence, frequency, letters, placeholders, capitals, highlight, sentences, bullets, paragraph, at_least, repeat_prompt, title,
  postscript, end_checker, quotation
};
inline constexpr int toy_instruction_kinds = 18, most_instructions = 2;
inline constexpr Word<Instruction> instruction_words[] = {
    {Instruction::forbidden, "forbidden", "keywords:forbidden_words: the second keyword does not occur"},
    {Instruction::lowercase, "lowercase", "change_case:english_lowercase: no word of tone"},
    {Instruction::no_comma, "no-comma", "punctuation:no_comma: no `and`"},
    {Instruction::existence, "existence", "keywords:existence: both keywords occur"},
    {Instruction::frequency, "frequency", "keywords:frequency: the first keyword occurs at least twice"},
    {Instruction::letters, "letters", "keywords:letter_frequency: at least three connectives"},
    {Instruction::placeholders, "placeholders", "detectable_content:number_placeholders: at least two plain words"},
    {Instruction::capitals, "capitals", "change_case:capital_word_frequency: at least two words of tone"},
    {Instruction::highlight, "highlight", "detectable_format:number_highlighted_sections: a fact of the context directly after a word of tone"},
    {Instruction::sentences, "sentences", "length_constraints:number_sentences: one to three sentences"},
    {Instruction::bullets, "bullets", "detectable_format:number_bullet_lists: exactly two sentences begin with `and`"},
    {Instruction::paragraph, "paragraph", "length_constraints:nth_paragraph_first_word: the second sentence begins with the first keyword"},
    {Instruction::at_least, "at-least", "length_constraints:number_words: at least eleven words"},
    {Instruction::repeat_prompt, "repeat-prompt", "combination:repeat_prompt: begins with the first two facts of the prompt"},
    {Instruction::title, "title", "detectable_format:title: the first of several sentences has exactly two words"},
    {Instruction::postscript, "postscript", "detectable_content:postscript: the last of several sentences begins with `then`"},
    {Instruction::end_checker, "end-checker", "startend:end_checker: ends with the second keyword"},
    {Instruction::quotation, "quotation", "startend:quotation: the first word is the last word too"},
};

inline constexpr int toy_kinds = 3, toy_lengths = 3, toy_personas = 4, tone_words_each = 2, toy_connectives = 4, toy_fillers = 4;

static_assert(toy_personas == toy_connectives);  // in the hard world (Difficulty) each persona has a connective of its own

/// The vocabulary of V words: class c holds the tokens begin[c] <= token < begin[c + 1].
struct Vocabulary {
  int size = 0;
  std::array<std::uint16_t, word_classes + 1> begin{};
  std::array<WordClass, most_vocabulary> class_of{};  ///< [size], the rest unused

  constexpr int count(WordClass c) const { return begin[static_cast<int>(c) + 1] - begin[static_cast<int>(c)]; }
  /// Word `index` of a class, 0 <= index < count(c).
  constexpr Token word(WordClass c, int index) const { return static_cast<Token>(begin[static_cast<int>(c)] + index); }
  constexpr int index_of(Token t) const { return t - begin[static_cast<int>(class_of[t])]; }
  constexpr Token end() const { return 0; }
  constexpr Token separator() const { return 1; }
};

/// Makes the vocabulary of V words, 40 <= V <= 512. 28 words have fixed classes. The other R = V - 28 words are: R / 10 forbidden ones
/// (at least one), 3 R / 10 facts, 3 R / 10 keywords (at least four each). The rest are plain. Of difficulty `paper` 40 words are fixed, V is at least
/// least_paper_vocabulary: the words of class kind are the instructions, and there are none of length.
inline constexpr int least_paper_vocabulary = 52;
constexpr Vocabulary make_vocabulary(int size, Difficulty difficulty = Difficulty::easy) {
  const bool paper = difficulty == Difficulty::paper;
  const int kinds = paper ? toy_instruction_kinds : toy_kinds, lengths = paper ? 0 : toy_lengths, rest = size - 22 - kinds - lengths, forbidden = rest / 10 > 1 ? rest / 10 : 1, claims = 3 * rest / 10 > 4 ? 3 * rest / 10 : 4;
  const int counts[word_classes] = {1,
                                    1,
                                    kinds,
                                    lengths,
                                    toy_personas,
                                    toy_connectives,
                                    toy_fillers,
                                    toy_personas * tone_words_each,
                                    forbidden,
                                    claims,
                                    claims,
                                    rest - forbidden - 2 * claims};
  Vocabulary v;
  v.size = size;
  for (int c = 0; c < word_classes; ++c) {
    v.begin[c + 1] = static_cast<std::uint16_t>(v.begin[c] + counts[c]);
    for (int t = v.begin[c]; t < v.begin[c + 1]; ++t) v.class_of[t] = static_cast<WordClass>(c);
  }
  return v;
}

/// Returns the text of a token: "fact3", "key2", "so", ".", "<end>", ... Tokens outside the vocabulary are "?7".
std::string word_text(const Vocabulary& v, Token token);
/// Returns the tokens as words with spaces between.
std::string text_of(const Vocabulary& v, std::span<const Token> tokens);

/// Least and most words of a response's body (its words before the end word).
struct LengthRange {
  int least = 0, most = 0;
};

/// The world of one random key. Never changes once made; small enough to copy.
struct ToyLm {
  ToyLmConfig config;
  std::uint64_t key = 0;
  Vocabulary vocabulary;
  std::array<LengthRange, toy_lengths> range{};  ///< by LengthClass; with response_tokens = 24: 8..14, 10..17, 13..23
};
ToyLm make_toy_lm(const ToyLmConfig& config, std::uint64_t key);

/// Returns the number of different prompts that the vocabulary can make.
double count_prompts(const ToyLmConfig& config);

/// One prompt: its eight words, and what they mean.
struct ToyPrompt {
  std::uint32_t index = 0;
  std::array<Token, toy_prompt_tokens> words{};  ///< fact fact fact kind keyword keyword length persona; paper: fact fact fact instruction keyword keyword instruction persona
  std::array<Token, toy_facts> facts{};          ///< the context: three different facts
  std::array<Token, 2> keywords{};               ///< two different keywords, both required
  KeywordOrder kind = KeywordOrder::in_order;
  LengthClass length = LengthClass::brief;
  int persona = 0;  ///< 0..toy_personas-1
  std::array<Instruction, most_instructions> instruction{};  ///< difficulty `paper`: the first `instructions` of them are asked; kind and length mean nothing
  int instructions = 0;
  bool asks(Instruction i) const { return (instructions > 0 && instruction[0] == i) || (instructions > 1 && instruction[1] == i); }
};
/// Makes prompt number `index` of a world, a hash of (key, index). Any index is valid; training uses the indices below P.
ToyPrompt make_prompt(const ToyLm& world, std::uint32_t index);
/// Makes the prompts with indices first .. first + count - 1.
std::vector<ToyPrompt> make_prompts(const ToyLm& world, std::uint32_t first, int count);

}  // namespace odrpo
