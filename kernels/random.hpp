// Counter-based randomness: a question with a fixed answer. Philox4x32-10, key = 64-bit seed, counter = (purpose, step, prompt, block).
#pragma once
#include <Random123/philox.h>

#include <cstdint>

#include "kernels/portable.hpp"

namespace odrpo {

/// What a draw is for. Values are part of the numbers' definition: never reuse or renumber one.
enum class Purpose : std::uint32_t {
  derive = 1,          ///< 64-bit keys from a suite's seed
  order = 2,           ///< order of prompts in an epoch: step = epoch
  action = 3,          ///< choice of a response: block = 4 rollouts
  rating = 4,          ///< aggregated score from its law: block = 4 rollouts
  vote = 5,            ///< literal votes: block = 4 votes of one rollout
  replica_action = 6,  ///< the same for redraws of a batch (gradient signal and noise)
  replica_rating = 7,
  replica_vote = 8,
  world_prompt = 16,     ///< centre and spread of a prompt
  world_feature = 17,    ///< features of a response: block = 2 normals
  world_direction = 18,  ///< hidden direction of the features
  world_residual = 19,   ///< what the features do not explain: block = 2 normals
  world_hack = 20,       ///< does a response hack the reward: block = 4 responses
  trait_spread = 32,     ///< the rater's sigma class of a prompt
  trait_veto = 33,       ///< is a response ambiguous, and its veto class: one block a response
};

/// One answer: four uniform 32-bit words.
struct Words4 {
  std::uint32_t x[4];
};

/// The answer to (key, purpose, step, prompt, block): Random123's Philox4x32 with 10 rounds.
ODRPO_HD Words4 draw(std::uint64_t key, Purpose purpose, std::uint32_t step, std::uint32_t prompt, std::uint32_t block) {
  const philox4x32_ctr_t counter = {{static_cast<std::uint32_t>(purpose), step, prompt, block}};
  const philox4x32_key_t k = {{static_cast<std::uint32_t>(key), static_cast<std::uint32_t>(key >> 32)}};
  const philox4x32_ctr_t r = philox4x32_R(10, counter, k);
  return {{r.v[0], r.v[1], r.v[2], r.v[3]}};
}

/// The run's 64-bit key: a hash of (suite seed, seed index) and of nothing else, so that every estimator of a seed meets the same draws.
ODRPO_HD std::uint64_t derive_key(std::uint64_t suite_seed, std::uint32_t index) {
  const Words4 w = draw(suite_seed, Purpose::derive, 0, index, 0);
  return (static_cast<std::uint64_t>(w.x[1]) << 32) | w.x[0];
}

/// A uniform integer in [0, n) from one word (multiply-shift; bias below n / 2^32).
ODRPO_HD std::uint32_t uniform_below(std::uint32_t word, std::uint32_t n) {
  return static_cast<std::uint32_t>((static_cast<std::uint64_t>(word) * n) >> 32);
}

}  // namespace odrpo
