// Defines the configs of the world `toy-lm` and of its demonstrations: the keys of [env.NAME].
#pragma once
#include <cstdint>
#include <span>

#include "kernels/shared/words.hpp"

namespace odrpo {

inline constexpr int toy_levels = 10;            ///< K: quality and scores of this world live on 1..10
inline constexpr int most_vocabulary = 512;      ///< largest V
inline constexpr int most_response_tokens = 64;  ///< largest cap on a response

/// What a prompt asks and how much of it a good response must respect (docs/toy-lm.md, "Difficulty"). Prompts and demonstrations of `easy` and `hard` are
/// the same.
enum class Difficulty : std::uint8_t { easy, hard, paper };
inline constexpr Word<Difficulty> difficulty_words[] = {
    {Difficulty::easy, "easy", "facts count in any order, any connective links two claims, two facts of the context ground a response"},
    {Difficulty::hard, "hard",
     "facts count in the order of the context, the persona's connective links best and may be repeated, three facts ground a response"},
    {Difficulty::paper, "paper",
     "prompts give one or two of 18 instructions, which earn points; held-out prompts give two; grounding is graded fact by fact"},
};

/// Config of [env.NAME] with base "toy-lm".
struct ToyLmConfig {
  int prompts = 256;         ///< P, prompts 0..P-1 are trained on; evaluations use later ones
  int vocabulary = 64;       ///< V, number of words
  int response_tokens = 24;  ///< most words of a response, the end word included
  Difficulty difficulty = Difficulty::easy;
  int evaluated_prompts =
      256;  ///< E, number of prompts from P on; one response to each measures quality and the three evaluations
  int best_of = 1;  ///< the opponent of the win rate: the best of so many responses of the policy before training
  bool operator==(const ToyLmConfig&) const = default;
};
/// Why these are the least values: the smallest vocabulary has four facts, so that any prompt's context lacks at least one. Twelve response tokens
/// are enough for the ten words of a full answer and the end word.
template <class V>
void describe(V& v, ToyLmConfig& c) {
  v.integer("prompts", c.prompts, 2, 65536, "prompts P of the world");
  v.integer("vocabulary", c.vocabulary, 40, most_vocabulary, "words V that prompts and responses are made of");
  v.integer("response_tokens", c.response_tokens, 12, most_response_tokens, "most words of a response, the end word included");
  v.word("difficulty", c.difficulty, std::span<const Word<Difficulty>>(difficulty_words), "how much of the prompt a good response obeys");
  v.integer("evaluated_prompts", c.evaluated_prompts, 2, 65536,
            "prompts, none of them trained on, whose responses measure quality and the evaluations");
  v.integer("best_of", c.best_of, 1, 64,
            "opponent of win-rate: the best, by true quality, of so many responses that the policy samples before training; 1: its response of the evaluations");
}

/// How mediocre demonstrations are. With the default, their mean true quality is near 3.5 (docs/toy-lm.md).
struct DemonstrationConfig {
  double flaw_share = 0.5;  ///< share of demonstrations that break a requirement (quality 1); the others get 2 or more
  double obeyed_share = 0.9;  ///< probability that a demonstration obeys an instruction on purpose; in worlds of difficulty `paper`
  bool operator==(const DemonstrationConfig&) const = default;
};
template <class V>
void describe(V& v, DemonstrationConfig& c) {
  v.number("flaw_share", c.flaw_share, 0.0, 1.0, "share of demonstrations that break one requirement (quality 1)");
  v.number("obeyed_share", c.obeyed_share, 0.0, 1.0, "paper: probability that a demonstration obeys an instruction on purpose");
}

}  // namespace odrpo
