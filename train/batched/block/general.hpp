// The general kind of batched run: real-valued rewards, rewards that may be missing, running medians, literal votes. It collects a batch as
// train/batched/block/rollout.hpp does, but for the stages here; its groups of real rewards, and those with gaps, are estimated in double.
#pragma once
#include <type_traits>

#include "envs/bandit/device/rate.hpp"
#include "estimators/group/block_groups.hpp"
#include "estimators/group/range.hpp"
#include "train/batched/block/rollout.hpp"

namespace odrpo::device {

// A column holds a group's rewards without the gaps, later their advantages; as many places for the rewards in order; then how many there
// are; or what a group of whole scores leaves.
ODRPO_HD int count_row(const Layout& p) { return 2 * p.rollouts > column_rows(p.levels) ? 2 * p.rollouts : column_rows(p.levels); }
ODRPO_HD int cells_of(const Layout& p) { return count_row(p) + 1; }
constexpr double by_pass = -1;  // the count of a group that takes the pass

// A reward for each response by literal votes.
template <class W, class B>
ODRPO_HD void rate_by_votes(const B& b, const W& w, int t, const Draws& asked) {
  const Layout& layout = w.layout;
  const General& g = *w.rest;
  for (int first = 0; first < draws(layout); first += layout.polls_at_once) {
    const int here = draws(layout) - first < layout.polls_at_once ? draws(layout) - first : layout.polls_at_once;
    b.threads(here, [&](int j) {
      const int i = first + j, of_group = i % layout.rollouts;
      const std::uint32_t prompt = w.prompt[i / layout.rollouts];
      const std::uint32_t row = w.run.law_row[static_cast<std::size_t>(prompt) * layout.width + w.action[i]];
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

/// A reward for each response, or none.
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

// Counts a group, marks who takes part, and begins its column: its pass, or the rewards that are there.
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

// The advantage of member i of a group.
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

/// Advantages, as the estimator gives them; what the groups count; and who takes part. (BatchEstimator::real and with_gaps)
template <class W, class B>
ODRPO_HD void estimate_generally(const B& b, const W& w) {
  if (w.rest->real) estimate_seen(b, w, w.reward);
  else estimate_seen(b, w, w.score);
}

/// Remembers what rewards the batch of step t got; real ones are added one by one, as sum_seen (train/prompt_batch.hpp) does.
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

}  // namespace odrpo::device
