// A block follows a running median (estimators/running_median.hpp): the terms of the one in force, and what a batch's rewards make of it.
#pragma once
#include "train/batched/block/general.hpp"

namespace odrpo::device {

// A reward as a whole number, ordered as rewards are: a score, or the bits of a real one, which is not negative.
ODRPO_HD std::uint32_t key_of(std::uint8_t score) { return score; }
ODRPO_HD std::uint32_t key_of(float reward) { return __builtin_bit_cast(std::uint32_t, reward); }

/// Terms for the median in force; of real rewards there are none. (BatchEstimator::set_median)
template <class W, class B>
ODRPO_HD void follow_median(const B& b, const W& w) {
  const General& g = *w.rest;
  if (g.median == nullptr || w.median->terms_of == w.median->value) return;
  const int counts = w.layout.rollouts - 1;  // dead levels stay 0
  const double median = w.median->value;
  b.threads(g.real ? 0 : w.layout.levels * counts, [&](int i) {
    const int level = 1 + i / counts, count = 1 + i % counts;
    const LevelTerm term = level_term(g.estimator.weight, g.estimator.rule, level, median_decay(median, level), count, w.layout.rollouts);
    float* at = g.term + 2 * (static_cast<std::size_t>(level) * (w.layout.rollouts + 1) + count);
    at[0] = term.reached;
    at[1] = term.centre;
  });
  b.threads(1, [&](int) {
    w.median->terms_of = median;
    w.rest->estimator.running = median;
  });
}

// Puts the batch's rewards in the place of the oldest, in order.
template <class W, class B, class T>
ODRPO_HD void put_in_ring(const B& b, const W& w, const T* seen) {
  const Layout& layout = w.layout;
  const General& g = *w.rest;
  const int n = layout.rollouts;
  std::uint32_t* first = w.columns;  // of each group: how many rewards the groups before it have
  b.threads(layout.batch, [&](int group) {
    std::uint32_t there = 0;
    for (int i = 0; i < n; ++i) there += present(seen[static_cast<std::size_t>(group) * n + i]);
    first[group] = there;
  });
  b.threads(1, [&](int) {
    std::uint32_t sum = 0;
    for (int group = 0; group < layout.batch; ++group) {
      const std::uint32_t there = first[group];
      first[group] = sum;
      sum += there;
    }
    w.median->added = sum;
    if (!g.by_window && sum > 0) w.median->held = w.median->next = 0;
  });
  const int added = static_cast<int>(w.median->added), late = added > g.places ? added - g.places : 0;  // the last ones stay
  b.threads(draws(layout), [&](int i) {
    if (!present(seen[i])) return;
    int at = static_cast<int>(first[i / n]) - late;
    for (int j = i - i % n; j < i; ++j) at += present(seen[j]);
    if (at >= 0) g.ring[(w.median->next + at) % g.places] = key_of(seen[i]);
  });
  b.threads(1, [&](int) {
    Median& m = *w.median;
    m.next = (m.next + (added - late)) % g.places;
    m.held = m.held + added < g.places ? m.held + added : g.places;
  });
}

template <class W, class B, class T>
ODRPO_HD void add_seen(const B& b, const W& w, const T* seen) {
  const General& g = *w.rest;
  put_in_ring(b, w, seen);
  Median& m = *w.median;
  if (m.added == 0) return;
  // the lower median: the least key that so many are not above
  b.threads(1, [&](int) {
    m.low = key_of(static_cast<T>(w.run.lowest));
    m.high = key_of(static_cast<T>(w.layout.levels));
    m.below = 0;
  });
  while (m.low < m.high) {
    const std::uint32_t middle = m.low + (m.high - m.low) / 2;
    b.threads(w.layout.threads, [&](int i) {
      std::uint32_t below = 0;
      for (int j = i; j < m.held; j += w.layout.threads) below += g.ring[j] <= middle;
      if (below > 0) b.add(&m.below, below);
    });
    b.threads(1, [&](int) {
      if (m.below > static_cast<std::uint32_t>(m.held - 1) / 2) m.high = middle;
      else m.low = middle + 1;
      m.below = 0;
    });
  }
  b.threads(1, [&](int) {
    double median = m.low;
    if (g.real) median = static_cast<double>(__builtin_bit_cast(float, m.low));
    m.value = g.by_window ? median : g.rho * m.value + (1 - g.rho) * median;
  });
}

/// What the batch makes of the median, for those after it. (RunningMedian::add_batch)
template <class W, class B>
ODRPO_HD void add_to_median(const B& b, const W& w) {
  if (w.rest->median == nullptr) return;
  if (w.rest->real) add_seen(b, w, w.reward);
  else add_seen(b, w, w.score);
}

}  // namespace odrpo::device
