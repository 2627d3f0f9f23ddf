// A block of the general kind collects its batch, and where that is recorded first some redraws of it: how good its gradient is against the
// exact one, as gradient_quality (train/worlds/bandit.cpp) says.
#pragma once
#include "train/batched/block/general.hpp"
#include "train/batched/block/update.hpp"
#include "train/worlds/gradient_quality.hpp"

namespace odrpo::device {

// A block follows a running median (estimators/running_median.hpp): the terms of the one in force, and what a batch's rewards make of it.

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

/// Numbers of a gradient.
ODRPO_HD int gradient_size(const Layout& p) { return p.linear ? p.features : p.batch * p.width; }

// Row i of probabilities becomes the exact gradient of the prompts' mean quality by the logits: d E[q] / d logit_a = pi_a (q_a - E[q]).
template <class W, class O>
ODRPO_HD void exact_gradient(const O& o, const W& w, int i) {
  const Layout& layout = w.layout;
  float* pi = slot_of(w, i);
  const float* q = w.run.quality + static_cast<std::size_t>(o.live ? w.prompt[i] : 0) * layout.width;
  const float mean = dot(o, q, pi, layout.width), prompts = static_cast<float>(layout.batch);
  for (int a = 0; a < layout.width; a += 8) o.store(pi + a, o.load(pi + a) * (o.load(q + a) - mean) / prompts);
}

// The rows hold a gradient by the logits: the exact one, or a redraw's. By the parameters it is kept, or joins the sums.
template <class W, class B>
ODRPO_HD void add_gradient(const B& b, const W& w, bool exact) {
  const Layout& layout = w.layout;
  const GradientSums& s = w.rest->gradient_sums;
  const float* g = gradient_of(b, w);
  const int size = gradient_size(layout);
  b.threads(size + 1, [&](int i) {
    if (i < size) {
      if (exact) s.exact[i] = g[i];
      s.sum[i] = exact ? 0.0 : s.sum[i] + static_cast<double>(g[i]);
      return;
    }
    double squares = exact ? 0.0 : *s.squares;
    for (int j = 0; !exact && j < size; ++j) squares += static_cast<double>(g[j]) * static_cast<double>(g[j]);
    *s.squares = squares;
  });
}

// What the sums say, by one thread.
template <class W>
ODRPO_HD void record_signal(const W& w, Record& to) {
  const GradientSums& s = w.rest->gradient_sums;
  const GradientQuality gradient_sums = quality_of(s.sum, s.exact, gradient_size(w.layout), *s.squares, s.replicas);
  to.cosine = gradient_sums.cosine;
  to.snr = gradient_sums.snr;
}

/// The stages of step t up to the advantages. Redraws of the batch know nothing of it, so it comes last, and is what they leave: round 0
/// takes the exact gradient, rounds 1 … a redraw each.
template <class W, class B>
ODRPO_HD void collect_general_batch(const B& b, const W& w, int t, bool recorded, Record& record) {
  follow_median(b, w);
  const int replicas = recorded ? w.rest->gradient_sums.replicas : 0, last = replicas > 0 ? replicas + 1 : 0;
  for (int round = 0; round <= last; ++round) {
    const bool training = round == last, exact = !training && round == 0;
    const auto lap_of = [&](int stage) { lap(b, w, training ? stage : stage_record); };
    const Draws asked = training ? Draws::training() : Draws::replicas(round - 1);
    choose_prompts(b, w, t, asked);
    lap_of(stage_prompts);
    forward(b, w, t * w.layout.updates, !exact, round > 0);
    lap_of(stage_policy);
    if (!exact) {
      rate_generally(b, w, t, asked);
      lap_of(stage_rater);
      estimate_generally(b, w);
      if (training) add_to_median(b, w);
      survey_batch(b, w, recorded && training, [&] { note_rewards(w, training ? t : w.layout.steps); });
      lap_of(stage_estimator);
    }
    if (training) return;
    const int active = takers(w);
    b.tiles(w.layout.batch, [&](const auto& o, int i) {
      int clipped = 0;
      if (exact) exact_gradient(o, w, i);
      else logit_gradient(o, w, i, 0, active, clipped);
    });
    add_gradient(b, w, exact);
    if (round == replicas) b.threads(1, [&](int) { record_signal(w, record); });
    lap_of(stage_update);
  }
}

}  // namespace odrpo::device
