// The best that a response of the toy language model can be, and what the held-out judges are expected to say of responses.
#pragma once
#include <vector>

#include "envs/toy_lm/held_out.hpp"

namespace odrpo {

/// A response of true quality 10, end word included; there is one for every prompt of every world.
// Two linked pairs of claims, the third fact, a word of tone: ten words. Plain words and facts told again fill up to the least length.
inline std::vector<Token> best_response(const ToyLm& world, const ToyPrompt& p) {
  const Vocabulary& v = world.vocabulary;
  const bool swap = p.kind == KeywordOrder::reversed;
  const Token first = p.keywords[swap ? 1 : 0], second = p.keywords[swap ? 0 : 1];
  const bool hard = world.config.difficulty == Difficulty::hard;
  const Token so = v.word(WordClass::connective, hard ? p.persona : 1), because = v.word(WordClass::connective, hard ? p.persona : 2);
  const Token tone = v.word(WordClass::tone, p.persona * tone_words_each);
  std::vector<Token> r{first, so, p.facts[0], v.separator(), p.facts[1], because, p.facts[2], v.separator(), tone, second};
  std::vector<Token> rest;
  const int plain = v.count(WordClass::plain) < 6 ? v.count(WordClass::plain) : 6;
  for (int again = 0; again < 2; ++again) {
    for (int i = 0; i < plain; ++i) rest.push_back(v.word(WordClass::plain, i));
    rest.insert(rest.end(), p.facts.begin(), p.facts.end());
  }
  const std::size_t least = static_cast<std::size_t>(world.range[static_cast<int>(p.length)].least);
  int sentence = 2;
  for (std::size_t next = 0; r.size() < least || (sentence == 1 && r.size() > 10);) {
    if (sentence == most_sentence) {
      r.push_back(v.separator());
      sentence = 0;
    } else {
      r.push_back(rest[next++]);
      ++sentence;
    }
  }
  r.push_back(v.end());
  return r;
}

/// The largest expected value of any responses, in 0..1. A response that passes the filter expects the mean of both judges' probabilities of a
/// yes, which depend on nothing but whether it is supported; a mean over responses is largest when all are of the better kind.
constexpr double grounding_ceiling(const GroundingConfig& c) {
  const double supported = (c.sensitivity[0] + c.sensitivity[1]) / 2, unsupported = (2 - c.specificity[0] - c.specificity[1]) / 2;
  return supported > unsupported ? supported : unsupported;
}

/// The largest expected value of any responses, in 0..1: the instructions can all be followed, and a win rate stays below 1 but comes as
/// near as one likes to it.
constexpr double held_out_ceiling(const GroundingConfig& c) { return held_out_mean(grounding_ceiling(c), 1, 1); }

/// The expected value of grounding() given the responses.
inline double expected_grounding(const ResponseBatch& batch, const GroundingConfig& c) {
  double sum = 0;
  for (int i = 0; i < batch.count(); ++i) {
    const Text t = batch.text(i);
    if (!passes_filter(t)) continue;
    for (int j = 0; j < 2; ++j) sum += 0.5 * (is_supported(t) ? c.sensitivity[j] : 1 - c.specificity[j]);
  }
  return batch.count() > 0 ? sum / batch.count() : 0;
}

}  // namespace odrpo
