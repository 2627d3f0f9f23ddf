// Implements response.hpp.
#include "envs/toy_lm/response.hpp"

#include "kernels/shared/failure.hpp"

namespace odrpo {

Text read_text(const ToyLm& world, const ToyPrompt& prompt, std::span<const Token> response) {
  Text t;
  t.world = &world;
  t.prompt = &prompt;
  const Vocabulary& v = world.vocabulary;
  const std::size_t cap = static_cast<std::size_t>(world.config.response_tokens);
  std::size_t n = 0;
  for (; n < response.size() && n < cap && !t.ended; ++n) {
    const Token word = response[n];
    if (word >= v.size) throw Failure(Exit::internal, "a response holds a token outside the vocabulary");
    t.class_of[n] = v.class_of[word];
    t.ended = word == v.end();
  }
  t.body = response.first(t.ended ? n - 1 : n);
  return t;
}

}  // namespace odrpo
