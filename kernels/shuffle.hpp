// The order in which an epoch deals its prompts: a shuffle by the run's key.
#pragma once
#include "kernels/random.hpp"

namespace odrpo {

/// Fisher-Yates: place i of n is drawn by word(i).
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

/// The order of one epoch, word by word.
template <class T>
ODRPO_HD void shuffle_epoch(std::uint64_t key, std::uint32_t epoch, std::uint32_t n, T* order) {
  Words4 four{};
  shuffle(order, n, [&](std::uint32_t i) {
    if (i % 4 == 0) four = draw(key, Purpose::order, epoch, 0, i / 4);
    return i % 4 < 2 ? (i % 4 == 0 ? four.x[0] : four.x[1]) : (i % 4 == 2 ? four.x[2] : four.x[3]);  // no index: it would cost a stack
  });
}

}  // namespace odrpo
