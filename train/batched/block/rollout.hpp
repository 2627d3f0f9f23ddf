// Collects a batch on a block of threads: prompts, rollouts, scores, advantages; the stages of train_step (train/loop.hpp) before the
// update.
#pragma once
#include "envs/bandit/device/rate.hpp"
#include "estimators/group/block_groups.hpp"
#include "estimators/group/entries.hpp"
#include "kernels/random.hpp"
#include "train/batched/block/workspace.hpp"
#include "train/worlds/gradient_quality.hpp"

namespace odrpo::device {

// Draws counter block i of the random generator (four words), i < 2 x batch x layout.blocks. The first half is for the actions of the
// batch's prompts, the second half for their ratings.
template <class W>
ODRPO_HD void put_words(const W& w, int i, std::uint32_t prompt, int t, const Draws& draws) {
  const int blocks = w.layout.blocks, each = w.layout.batch * blocks, at = i < each ? i : i - each;
  const Words4 four = draw(w.run.key, i < each ? draws.action : draws.rating, static_cast<std::uint32_t>(t), prompt,
                           draws.replica * static_cast<std::uint32_t>(blocks) + static_cast<std::uint32_t>(at % blocks));
  std::uint32_t* to = (i < each ? w.words : w.ratings) + 4 * static_cast<std::size_t>(at);
  ODRPO_UNROLL
  for (int j = 0; j < 4; ++j) to[j] = four.x[j];
}

/// Chooses the batch's prompts, draws the random words that the batch needs, and sets its counts to 0.
template <class W, class B>
ODRPO_HD void choose_prompts(const B& b, const W& w, int t, const Draws& asked) {
  const Layout& layout = w.layout;
  const std::uint16_t* order = w.run.order + static_cast<std::size_t>(t / layout.per_epoch - w.run.first_epoch) * layout.prompts +
                               static_cast<std::size_t>(t % layout.per_epoch) * layout.batch;
  const int each = layout.batch * layout.blocks;
  b.threads(2 * each, [&](int i) {
    if (i == 0) w.s.counts = {};
    const int of_prompt = i % each / layout.blocks;
    const std::uint32_t prompt = order[of_prompt];
    if (i < each && i % layout.blocks == 0) w.prompt[of_prompt] = static_cast<std::uint16_t>(prompt);
    put_words(w, i, prompt, t, asked);
  });
}

// Applies the pending Adam steps of rows unused for `remember` updates, with a zero gradient. (SoftmaxPolicy::visit_overdue)
template <class W, class B>
ODRPO_HD void visit_overdue(const B& b, const W& w, int u) {
  const int at_once = 2 * w.layout.slots * w.layout.width - 8 * w.layout.width;  // length of the list, such that idle tiles keep their slots
  std::uint16_t* list = reinterpret_cast<std::uint16_t*>(slot_of(w, 4));
  for (int first = 0; first < w.layout.prompts; first += at_once) {
    const int count = w.layout.prompts - first < at_once ? w.layout.prompts - first : at_once;
    b.threads(1, [&](int) { w.s.listed = 0; });
    b.threads(count, [&](int i) {
      if (w.last[first + i] == u - w.layout.remember && w.last[first + i] >= 0)
        list[b.add(&w.s.listed, std::uint32_t{1})] = static_cast<std::uint16_t>(first + i);
    });
    b.tiles(static_cast<int>(w.s.listed), [&](const auto& o, int i) {
      const int r = o.live ? list[i] : 0;
      const Row row = o.live ? row_of(w, r) : idle_row(w, slot_of(w, o.index % 4));
      const Pending pending = o.live ? pending_of(w, r, u) : Pending{};
      catch_up(o, row, pending, w.run.eps, row.theta);
      accumulate(o, row, pending, w.run.rest1, w.run.rest2, static_cast<const float*>(nullptr));
      o.sync_lanes();
      if (o.leads()) w.last[r] = u;
    });
  }
}

// Computes one prompt's row of probabilities, from `logits` or from the linear policy's own logits. Samples actions too when `drawn`.
template <class W, class O>
ODRPO_HD void softmax_row(const O& o, const W& w, int i, int prompt, const float* logits, bool drawn) {
  const Layout& layout = w.layout;
  float* slot = slot_of(w, i);
  if constexpr (W::linear) linear_logits(o, features_of(w, prompt), w.theta, layout.features, layout.width, layout.actions, slot);
  const float total = exponents(o, logits, layout.width, slot);
  if (drawn) {
    const int words = 4 * layout.blocks;
    sample(o, slot, total, layout.width, layout.rollouts, w.words + (o.live ? static_cast<std::size_t>(i) * words : 0), words,
           w.action + static_cast<std::size_t>(i) * layout.rollouts);
  }
  normalise(o, total, layout.width, slot);
}

/// Computes the softmax rows of the batch's prompts, with all updates before u applied. Samples actions too when `drawn`. `again`: these
/// updates are applied already.
template <class W, class B>
ODRPO_HD void forward(const B& b, const W& w, int u, bool drawn, bool again = false) {
  const Layout& layout = w.layout;
  if constexpr (!W::linear)
    if (layout.overdue && !again) visit_overdue(b, w, u);
  if (W::linear && layout.adam && !again)
    b.tiles(1, [&](const auto& o, int) {
      const Row row = o.live ? row_of(w, 0) : idle_row(w, slot_of(w, o.index));
      catch_up(o, row, o.live ? pending_of(w, 0, u) : Pending{}, w.run.eps, row.theta);
    });
  b.tiles(layout.batch, [&](const auto& o, int i) {
    float *slot = slot_of(w, i), *logits = slot;
    const int prompt = o.live ? w.prompt[i] : 0;
    if constexpr (!W::linear) {
      const Row row = o.live ? row_of(w, prompt) : idle_row(w, slot);
      if (layout.adam && !again) catch_up(o, row, o.live ? pending_of(w, prompt, u) : Pending{}, w.run.eps, row.theta);
      logits = row.theta;
    }
    softmax_row(o, w, i, prompt, logits, drawn);
  });
}

// Returns the outcome for response i: its random word picks one from the distribution of the aggregate of its votes.
template <class W>
ODRPO_HD int outcome_of(const W& w, int i) {
  const Layout& layout = w.layout;
  const int of_prompt = i / layout.rollouts, of_group = i % layout.rollouts;
  const std::size_t cell = static_cast<std::size_t>(w.prompt[of_prompt]) * layout.width + w.action[i];
  const std::uint32_t word = w.ratings[4 * static_cast<std::size_t>(of_prompt) * layout.blocks + of_group];
  return exceeded(w.run.threshold + w.run.distribution_row[cell], w.run.stride, static_cast<std::int32_t>(word >> 1));
}

/// Draws an integer score for each response.
template <class W, class B>
ODRPO_HD void score_rollouts(const B& b, const W& w) {
  b.threads(draws(w.layout), [&](int i) { w.score[i] = static_cast<std::uint8_t>(w.run.lowest + outcome_of(w, i)); });
}

/// Computes the advantages before whitening, the batch's counts and, where dead groups are dropped, the mask.
template <class W, class B>
ODRPO_HD void estimate_advantages(const B& b, const W& w) {
  const Layout& layout = w.layout;
  const int n = layout.rollouts;
  for (int first = 0; first < layout.batch; first += layout.groups_at_once) {
    const int count = layout.batch - first < layout.groups_at_once ? layout.batch - first : layout.groups_at_once;
    const auto column = [&](int g) { return ScoreColumn{w.columns + g, layout.groups_at_once}; };
    b.threads(count, [&](int g) {
      const std::size_t at = static_cast<std::size_t>(first + g) * n;
      const std::uint8_t* score = w.score + at;
      prepare(w.run.estimator, score, column(g));
      std::uint32_t sum = 0;
      for (int i = 0; i < n; ++i) sum += score[i];
      const Range<std::uint8_t> range = range_of(score, n);
      const bool is_dead = dead(range);
      b.add(&w.s.counts.reward, sum);
      b.add(&w.s.counts.dead_levels, static_cast<std::uint32_t>(dead_levels_of(range, w.run.lowest, layout.levels)));
      if (is_dead) b.add(&w.s.counts.dead_groups, std::uint32_t{1});
      if (!w.run.drop_dead) return;
      if (is_dead) b.add(&w.s.counts.dropped, static_cast<std::uint32_t>(n));
      for (int i = 0; i < n; ++i) w.mask[at + i] = !is_dead;
    });
    b.threads(count * n, [&](int i) {
      const std::size_t at = static_cast<std::size_t>(first) * n + i;
      w.advantage[at] = member(column(i / n), w.score[at]);
    });
  }
}

// Records the sum of the scores of step t's batch.
template <class W>
ODRPO_HD void note_scores(const W& w, int t) {
  if (t < w.layout.steps) w.run.reward[t] = w.s.counts.reward;
  w.s.seen = w.s.counts.reward;
}

/// Computes the whitening of the batch. Meanwhile another thread calls note() and, for a record, sums over the advantages one by one, as
/// summarise (train/run_record.hpp) does.
template <class W, class B, class Note>
ODRPO_HD void survey_batch(const B& b, const W& w, bool recorded, Note note) {
  const int n = draws(w.layout);
  if (recorded)
    b.threads(n, [&](int i) {  // qualities are multiples of 1/16, so that their sum is exact
      const std::size_t cell = static_cast<std::size_t>(w.prompt[i / w.layout.rollouts]) * w.layout.width + w.action[i];
      b.add(&w.s.counts.truth, static_cast<unsigned long long>(w.run.quality[cell] * 16.0f));
    });
  b.aside(
      [&](const auto& o) {
        const std::uint8_t* mask = w.run.masked ? w.mask : nullptr;
        const Whitened whitening = whitening_of(o, w.run.whitening, w.advantage, mask, n, n - static_cast<int>(w.s.counts.dropped));
        if (o.leads()) w.s.whitening = whitening;
      },
      [&] {
        note();
        if (!recorded) return;
        double squares = 0, lowest = static_cast<double>(w.advantage[0]), highest = lowest;
        for (int i = 0; i < n; ++i) {
          const double a = static_cast<double>(w.advantage[i]);
          squares += a * a;
          lowest = a < lowest ? a : lowest;
          highest = a > highest ? a : highest;
        }
        w.s.squares = squares;
        w.s.lowest = lowest;
        w.s.highest = highest;
      });
}

}  // namespace odrpo::device
