// Collects a batch for batched runs of the general kind: real-valued or missing rewards, running medians, votes drawn one by one, redraws.
// The other stages are in train/batched/block/rollout.hpp. Groups of real rewards, and groups with missing ones, are estimated in double.
#pragma once
#include <type_traits>

#include "envs/bandit/device/rate.hpp"
#include "estimators/group/block_groups.hpp"
#include "estimators/group/entries.hpp"
#include "train/batched/block/rollout.hpp"
#include "train/batched/block/update.hpp"
#include "train/worlds/gradient_quality.hpp"

namespace odrpo::device {

// The working memory of a group is a column of doubles. First come its rewards without missing ones (later their advantages), then the
// rewards in sorted order, then their count. For integer scores without missing ones the column holds what prepare() writes.
ODRPO_HD int count_row(const Layout& p) { return 2 * p.rollouts > column_rows(p.levels) ? 2 * p.rollouts : column_rows(p.levels); }
ODRPO_HD int cells_of(const Layout& p) { return count_row(p) + 1; }
constexpr double by_pass = -1;  // count of a group that prepare() and member() (block_groups.hpp) estimate

// Draws votes one by one, and gives each response the reward that aggregates them.
template <class W, class B>
ODRPO_HD void rate_by_votes(const B& b, const W& w, int t, const Draws& asked) {
  const Layout& layout = w.layout;
  const General& g = *w.rest;
  for (int first = 0; first < draws(layout); first += layout.polls_at_once) {
    const int here = draws(layout) - first < layout.polls_at_once ? draws(layout) - first : layout.polls_at_once;
    b.threads(here, [&](int j) {
      const int i = first + j, of_group = i % layout.rollouts;
      const std::uint32_t prompt = w.prompt[i / layout.rollouts];
      const std::uint32_t row = w.run.distribution_row[static_cast<std::size_t>(prompt) * layout.width + w.action[i]];
      const int blocks = (g.votes + 3) / 4, first_block = (static_cast<int>(asked.replica) * layout.rollouts + of_group) * blocks;
      const Poll poll{w.run.threshold + row,
                      w.run.stride,
                      g.votes,
                      w.run.lowest,
                      layout.levels,
                      g.missing,
                      w.run.key,
                      asked.vote,
                      static_cast<std::uint32_t>(t),
                      prompt,
                      static_cast<std::uint32_t>(first_block)};
      if (g.real) w.reward[i] = mean_of(poll);
      else w.score[i] = score_of(poll, g.aggregate, g.tie, {w.columns + j, layout.polls_at_once});
    });
  }
}

/// Draws a reward for each response, which may be missing.
template <class W, class B>
ODRPO_HD void rate_generally(const B& b, const W& w, int t, const Draws& asked) {
  const General& g = *w.rest;
  if (g.votes > 0) return rate_by_votes(b, w, t, asked);
  b.threads(draws(w.layout), [&](int i) {
    const int outcome = outcome_of(w, i);
    if (g.real) w.reward[i] = g.value[outcome];
    else w.score[i] = outcome == g.missing ? no_score : static_cast<std::uint8_t>(w.run.lowest + outcome);
  });
}

// Adds a group to the batch's counts, masks its rollouts, and begins its column: by prepare(), or with the rewards that are not missing.
template <class W, class B, class T>
ODRPO_HD void read_group(const B& b, const W& w, const T* seen, std::uint8_t* mask, Cells cells) {
  constexpr bool whole = std::is_same_v<T, std::uint8_t>;
  const Layout& layout = w.layout;
  const Range<T> range = range_of(seen, layout.rollouts);
  const bool is_dead = dead(range), dropped = w.run.drop_dead && is_dead;
  int there = 0;
  std::uint32_t sum = 0;
  for (int i = 0; i < layout.rollouts; ++i) {
    const bool has = present(seen[i]);
    if (w.run.masked) mask[i] = has && !dropped;
    if (!has) continue;
    ++there;
    if constexpr (whole) sum += seen[i];
  }
  if (w.run.leaves_pivot && !dropped && there > 0) {
    mask[pivot_of(seen, layout.rollouts)] = 0;
    b.add(&w.s.counts.dropped, std::uint32_t{1});
  }
  if constexpr (whole) b.add(&w.s.counts.reward, sum);
  const std::uint32_t missing = static_cast<std::uint32_t>(layout.rollouts - there);
  if (missing > 0) b.add(&w.s.counts.missing, missing);
  if (dropped || missing > 0) b.add(&w.s.counts.dropped, dropped ? static_cast<std::uint32_t>(layout.rollouts) : missing);
  if (is_dead) b.add(&w.s.counts.dead_groups, std::uint32_t{1});
  b.add(&w.s.counts.dead_levels, static_cast<std::uint32_t>(dead_levels_of(range, w.run.lowest, layout.levels)));

  if constexpr (whole)
    if (missing == 0) {
      prepare<group::ChangingNumbers>(w.run.estimator, seen, {reinterpret_cast<std::uint32_t*>(cells.at), 2 * cells.stride});
      cells[count_row(layout)] = by_pass;
      return;
    }
  const bool teaches = group::teaches(w.rest->estimator, range.low == range.high, there);
  cells[count_row(layout)] = teaches ? there : 0;
  for (int i = 0, at = 0; teaches && i < layout.rollouts; ++i)
    if (present(seen[i])) cells[at++] = static_cast<double>(seen[i]);
}

// Returns the advantage of member i of a group; 0 if its reward is missing.
template <class T>
ODRPO_HD float advantage_of(const EstimatorView& e, const T* seen, int i, Cells cells, int rollouts, int count) {
  if constexpr (std::is_same_v<T, std::uint8_t>)
    if (count < 0) return member({reinterpret_cast<std::uint32_t*>(cells.at), 2 * cells.stride}, seen[i]);
  if (count == 0 || !present(seen[i])) return 0.0f;
  return static_cast<float>(cells[place_of(e, seen, i, rollouts)]);
}

template <class W, class B, class T>
ODRPO_HD void estimate_seen(const B& b, const W& w, const T* seen) {
  const Layout& layout = w.layout;
  const EstimatorView& e = w.rest->estimator;
  const int n = layout.rollouts, stride = layout.groups_at_once;
  for (int first = 0; first < layout.batch; first += stride) {
    const int groups = layout.batch - first < stride ? layout.batch - first : stride;
    const std::size_t from = static_cast<std::size_t>(first) * n;
    const auto cells = [&](int g) { return Cells{w.cells + g, stride}; };
    const auto places = [&](int g) { return Cells{w.cells + g + static_cast<std::size_t>(n) * stride, stride}; };
    const auto count = [&](int g) { return static_cast<int>(cells(g)[count_row(layout)]); };
    b.threads(groups, [&](int g) {
      const std::size_t at = from + static_cast<std::size_t>(g) * n;
      read_group(b, w, seen + at, w.mask + at, cells(g));
    });
    if (w.rest->real || w.rest->gaps) {
      b.threads(groups * n, [&](int i) {
        if (i % n < count(i / n)) place_member(e, cells(i / n), places(i / n), count(i / n), i % n);
      });
      b.threads(groups, [&](int g) {
        if (count(g) > 0) estimate_group(e, places(g), cells(g), count(g));
      });
    }
    b.threads(groups * n, [&](int i) {
      const int g = i / n;
      w.advantage[from + i] = advantage_of(e, seen + from + static_cast<std::size_t>(g) * n, i % n, cells(g), n, count(g));
    });
  }
}

/// Computes the advantages before whitening, the batch's counts and the mask, as BatchEstimator::real and with_gaps do.
template <class W, class B>
ODRPO_HD void estimate_generally(const B& b, const W& w) {
  if (w.rest->real) estimate_seen(b, w, w.reward);
  else estimate_seen(b, w, w.score);
}

/// Records the rewards of step t's batch. Real rewards are added one by one, as sum_seen (train/prompt_batch.hpp) does, for the same bits.
template <class W>
ODRPO_HD void note_rewards(const W& w, int t) {
  const int n = draws(w.layout);
  double sum = w.s.counts.reward;
  if (w.rest->real) {
    sum = 0;
    for (int i = 0; i < n; ++i)
      if (present(w.reward[i])) sum += static_cast<double>(w.reward[i]);
  }
  w.s.seen = sum;
  if (t < w.layout.steps) w.rest->seen[t] = {sum, static_cast<double>(n) - w.s.counts.missing};
}


// Follows a running median (estimators/running_median.hpp): computes the terms for the current median, and updates it by a batch's rewards.

// Returns an integer that is ordered as rewards are: a score, or the bits of a real reward, which is never negative.
ODRPO_HD std::uint32_t key_of(std::uint8_t score) { return score; }
ODRPO_HD std::uint32_t key_of(float reward) { return __builtin_bit_cast(std::uint32_t, reward); }

/// Computes the estimator's terms (weight / divisor of each level) for the current median, if it changed. Real rewards have no terms.
template <class W, class B>
ODRPO_HD void follow_median(const B& b, const W& w) {
  const General& g = *w.rest;
  if (g.median == nullptr || w.median->terms_of == w.median->value) return;
  const int counts = w.layout.rollouts - 1;  // 1 … G - 1; levels that none or all of G reach are dead: their terms stay 0
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

// Writes the batch's rewards into the ring buffer in order, over the oldest ones.
template <class W, class B, class T>
ODRPO_HD void put_in_ring(const B& b, const W& w, const T* seen) {
  const Layout& layout = w.layout;
  const General& g = *w.rest;
  const int n = layout.rollouts;
  std::uint32_t* first = w.columns;  // by group: how many rewards the groups before it have
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
  const int added = static_cast<int>(w.median->added), late = added > g.places ? added - g.places : 0;  // if too many, the last ones stay
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
  // bisects for the lower median: the least key such that more than (held - 1) / 2 keys are not above it
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

/// Updates the running median by the batch's rewards, for later batches. (RunningMedian::add_batch)
template <class W, class B>
ODRPO_HD void add_to_median(const B& b, const W& w) {
  if (w.rest->median == nullptr) return;
  if (w.rest->real) add_seen(b, w, w.reward);
  else add_seen(b, w, w.score);
}

/// Returns the number of components of a gradient: features of the linear policy, or the logits of a batch's prompts.
ODRPO_HD int gradient_size(const Layout& p) { return p.linear ? p.features : p.batch * p.width; }

// Replaces the probabilities pi of the batch's prompt i by the exact gradient of the prompts' mean quality q with respect to the logits.
// For one prompt: d E[q] / d logit_a = pi_a (q_a - E[q]), where a is an action.
template <class W, class O>
ODRPO_HD void exact_gradient(const O& o, const W& w, int i) {
  const Layout& layout = w.layout;
  float* pi = slot_of(w, i);
  const float* q = w.run.quality + static_cast<std::size_t>(o.live ? w.prompt[i] : 0) * layout.width;
  const float mean = dot(o, q, pi, layout.width), prompts = static_cast<float>(layout.batch);
  for (int a = 0; a < layout.width; a += 8) o.store(pi + a, o.load(pi + a) * (o.load(q + a) - mean) / prompts);
}

// Turns the gradient with respect to the logits into one with respect to the parameters. Stores the exact one; adds a redraw's to the sums.
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

// Records cosine and SNR of the gradient, from the sums; one thread calls it.
template <class W>
ODRPO_HD void record_signal(const W& w, Record& to) {
  const GradientSums& s = w.rest->gradient_sums;
  const GradientQuality gradient_sums = quality_of(s.sum, s.exact, gradient_size(w.layout), *s.squares, s.replicas);
  to.cosine = gradient_sums.cosine;
  to.snr = gradient_sums.snr;
}

/// Runs the stages of step t up to the advantages. At recorded steps it first redraws the batch, as gradient_quality
/// (train/worlds/bandit.cpp) does. Round 0 computes the exact gradient, each later round one redraw. The training batch comes last, so that
/// it stays in memory.
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
