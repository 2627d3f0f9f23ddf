// Draws random words as a function of a counter, without state: Philox4x32-10, key = 64-bit seed, counter = (purpose, step, prompt, block).
#pragma once
#include <Random123/philox.h>

#include <cstdint>

#include "kernels/portable.hpp"
#include "kernels/purpose.hpp"

namespace odrpo {

/// What one draw() returns: four uniform random 32-bit words.
struct Words4 {
  std::uint32_t x[4];
};

/// Returns the four random words of a random key and the counter (purpose, step, prompt, block), by Random123's Philox4x32 with 10 rounds.
ODRPO_HD Words4 draw(std::uint64_t key, Purpose purpose, std::uint32_t step, std::uint32_t prompt, std::uint32_t block) {
  const philox4x32_ctr_t counter = {{static_cast<std::uint32_t>(purpose), step, prompt, block}};
  const philox4x32_key_t k = {{static_cast<std::uint32_t>(key), static_cast<std::uint32_t>(key >> 32)}};
  const philox4x32_ctr_t r = philox4x32_R(10, counter, k);
  return {{r.v[0], r.v[1], r.v[2], r.v[3]}};
}

/// The 64-bit random key of a run. It is a hash of (suite seed, seed index) alone, so all estimators get the same random words for a seed.
ODRPO_HD std::uint64_t derive_key(std::uint64_t suite_seed, std::uint32_t index) {
  const Words4 w = draw(suite_seed, Purpose::derive, 0, index, 0);
  return (static_cast<std::uint64_t>(w.x[1]) << 32) | w.x[0];
}

/// A uniform integer in [0, n) from one word (multiply-shift; bias below n / 2^32).
ODRPO_HD std::uint32_t uniform_below(std::uint32_t word, std::uint32_t n) {
  return static_cast<std::uint32_t>((static_cast<std::uint64_t>(word) * n) >> 32);
}

// The order of an epoch's prompts: a shuffle by the run's random key.

/// Fills `order` with a random permutation of 0..n-1 (Fisher-Yates); word(i) is the random word that chooses order[i].
template <class T, class Word>
ODRPO_HD void shuffle(T* order, std::uint32_t n, Word word) {
  for (std::uint32_t i = 0; i < n; ++i) order[i] = static_cast<T>(i);
  for (std::uint32_t i = 0; i + 1 < n; ++i) {
    const std::uint32_t j = i + uniform_below(word(i), n - i);
    const T other = order[j];
    order[j] = order[i];
    order[i] = other;
  }
}

/// Fills `order` with the order of the n prompts in one epoch.
template <class T>
ODRPO_HD void shuffle_epoch(std::uint64_t key, std::uint32_t epoch, std::uint32_t n, T* order) {
  Words4 four{};
  shuffle(order, n, [&](std::uint32_t i) {
    if (i % 4 == 0) four = draw(key, Purpose::order, epoch, 0, i / 4);
    return i % 4 < 2 ? (i % 4 == 0 ? four.x[0] : four.x[1]) : (i % 4 == 2 ? four.x[2] : four.x[3]);  // an index would need a stack on GPUs
  });
}

}  // namespace odrpo
