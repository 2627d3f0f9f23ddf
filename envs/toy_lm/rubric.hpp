// Computes the true quality of a toy response: all requirements must hold, then rubrics give points (docs/toy-lm.md). No randomness.
#pragma once
#include <array>
#include <cstdint>
#include <span>

#include "envs/toy_lm/response.hpp"
#include "kernels/shared/words.hpp"

namespace odrpo {

/// The requirements, as bits: a set of them is a bit mask, for example of those that a response violates.
enum class Requirement : std::uint16_t {
  safety = 1,
  factuality = 2,
  keywords = 4,
  order = 8,
  length = 16,
  end = 32,
  integrity = 64,
  repetition = 128,
  padding = 256
};
inline constexpr Word<Requirement> requirement_words[] = {
    {Requirement::safety, "safety", "no forbidden word"},
    {Requirement::factuality, "factuality", "only facts of the context"},
    {Requirement::keywords, "keywords", "both required keywords occur"},
    {Requirement::order, "order", "the keywords stand as the prompt's kind says"},
    {Requirement::length, "length", "the body's length is in the range of the prompt's length class"},
    {Requirement::end, "end", "the response ends within the cap"},
    {Requirement::integrity, "integrity", "no word of kind, length or persona: the answer never speaks in the asker's voice"},
    {Requirement::repetition, "repetition", "no word twice in a row, none but the separator (hard: and connectives) more than three times"},
    {Requirement::padding, "padding", "fillers and plain words are at most half of the body"},
};
inline constexpr int toy_requirements = 9;
inline constexpr int most_uses = 3;  ///< most occurrences of one word in a response

/// True if the requirement holds. Each is checked independently of the others. Worlds of difficulty `paper` do not have keywords, order and length.
bool holds_safety(const Text& t);
bool holds_factuality(const Text& t);
bool holds_keywords(const Text& t);
bool holds_order(const Text& t);  ///< false when a keyword is missing
bool holds_length(const Text& t);
bool holds_end(const Text& t);
bool holds_integrity(const Text& t);
bool holds_repetition(const Text& t);
bool holds_padding(const Text& t);
bool holds(Requirement r, const Text& t);
/// Bit mask of the requirements that do not hold.
std::uint16_t find_violations(const Text& t);

/// The rubrics, which grade a response that violates nothing. A point is a sixteenth of a level.
enum class Rubric : std::uint8_t { helpfulness, logic, conciseness, clarity, tone, instructions };
inline constexpr int toy_rubrics = 6;
inline constexpr Word<Rubric> rubric_words[] = {
    {Rubric::helpfulness, "helpfulness", "16 for each different fact of the context that is named; hard: in the order of the context"},
    {Rubric::logic, "logic",
     "16 for each link of two different claims, at most 2; -8 for a connective that links none; hard: 8 for a link that is not by the "
     "persona's connective"},
    {Rubric::conciseness, "conciseness", "16; -4 for each filler, -2 for each word beyond the least length + 2"},
    {Rubric::clarity, "clarity", "16; -8 for each sentence of fewer than 2 or more than 8 words"},
    {Rubric::tone, "tone", "16 with a word of the persona's tone; -8 for each word of another's; where `lowercase` is asked: 16 without any word of tone"},
    {Rubric::instructions, "instructions", "paper: 64, shared evenly by the prompt's instructions; there helpfulness counts two facts at most, and there is neither logic nor conciseness"},
};
inline constexpr int most_points[toy_rubrics] = {48, 32, 16, 16, 16, 64};  ///< easy and hard: 128 without instructions; paper: 32 + 0 + 0 + 16 + 16 + 64 = 128
inline constexpr int most_links = 2, slack_words = 2, most_sentence = 8;

/// The points that one rubric gives, from 0 to its most_points.
int helpfulness_points(const Text& t);
int logic_points(const Text& t);
int conciseness_points(const Text& t);
int clarity_points(const Text& t);
int tone_points(const Text& t);
int instruction_points(const Text& t);

/// The true quality of a response, with the violations and points from which it follows.
struct Verdict {
  std::uint16_t violations = 0;                    ///< bits of Requirement
  std::array<std::uint8_t, toy_rubrics> points{};  ///< by Rubric, as if there were no violations
  int graded16 = 32;                               ///< quality without regard to violations: 2 levels + all points, in 1/16 level, 32..160
  bool clean() const { return violations == 0; }
  int quality16() const { return clean() ? graded16 : 16; }  ///< true quality in 1/16 level: 16 or 32..160
  double quality() const { return quality16() / 16.0; }      ///< true quality in levels: 1 or 2..10
};
Verdict judge_text(const Text& t);
/// Parses the response and judges it; takes about 20 ns a word.
Verdict judge(const ToyLm& world, const ToyPrompt& prompt, std::span<const Token> response);

}  // namespace odrpo
