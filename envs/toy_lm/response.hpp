// Parses responses of the toy language model into words and their classes.
#pragma once
#include <array>
#include <span>

#include "envs/toy_lm/world.hpp"

namespace odrpo {

/// A parsed response: the body (words before the first end word), each word's class, and whether it ended.
struct Text {
  const ToyLm* world = nullptr;
  const ToyPrompt* prompt = nullptr;
  std::span<const Token> body;
  bool ended = false;  ///< an end word occurs within the first response_tokens words
  std::array<WordClass, most_response_tokens> class_of{};

  int length() const { return static_cast<int>(body.size()); }
  const Vocabulary& vocabulary() const { return world->vocabulary; }
  LengthRange range() const { return world->range[static_cast<int>(prompt->length)]; }
};
/// True if the world has difficulty `paper`.
inline bool is_paper(const Text& t) { return t.world->config.difficulty == Difficulty::paper; }
/// Parses a response up to its end word, at most `response_tokens` words. Throws Failure(Exit::internal) for a token beyond the vocabulary.
/// The text points to world, prompt and response, which must outlive it.
Text read_text(const ToyLm& world, const ToyPrompt& prompt, std::span<const Token> response);

}  // namespace odrpo
