// Runs the training steps of a block of threads in phases, on a device or, in tests, on the host. Every sum has the order of the CPU's
// stages, so that the results have the same bits.
#pragma once
#include <type_traits>

#include "train/batched/block/general.hpp"
#include "train/batched/block/rollout.hpp"
#include "train/batched/block/update.hpp"
#include "train/batched/block/workspace.hpp"

namespace odrpo::device {

// Computes the exact value of a policy on a device: expectations over all prompts, as SoftmaxPolicy::exact does.

// Adds the means of `count` prompts, from prompt `first` on, to the policy's values, in order. Divides by the number of prompts after the
// last one.
template <class W>
ODRPO_HD void add_means(const W& w, int first, int count) {
  double quality = 0, entropy = 0;
  for (int i = 0; i < count; ++i) {
    quality += static_cast<double>(w.means[i].quality);
    entropy += static_cast<double>(w.means[i].entropy);
  }
  quality /= count;
  entropy /= count;
  const double kl = static_cast<double>(float_math::log_positive<float_math::ScalarLane>(static_cast<float>(w.layout.actions))) - entropy;
  if (first == 0) w.s.quality = w.s.kl = w.s.entropy = 0;
  w.s.quality += quality * count;
  w.s.kl += (kl > 0 ? kl : 0) * count;
  w.s.entropy += entropy * count;
  if (first + count < w.layout.prompts) return;
  w.s.quality /= w.layout.prompts;
  w.s.kl /= w.layout.prompts;
  w.s.entropy /= w.layout.prompts;
}

/// Computes quality, KL and entropy with all updates before u applied, and writes them to the scalars. The state of training stays as it
/// is.
template <class W, class B>
ODRPO_HD void value_policy(const B& b, const W& w, int u) {
  const Layout& layout = w.layout;
  float* theta = w.theta;
  if (W::linear && layout.adam) {
    theta = w.gradient;
    b.tiles(1, [&](const auto& o, int) {
      float* to = o.live ? theta : slot_of(w, o.index);
      catch_up(o, o.live ? row_of(w, 0) : idle_row(w, to), o.live ? pending_of(w, 0, u) : Pending{}, w.run.eps, to);
    });
  }
  for (int first = 0; first < layout.prompts; first += rows_together) {
    const int count = layout.prompts - first < rows_together ? layout.prompts - first : rows_together;
    b.tiles(count, [&](const auto& o, int i) {
      const int r = o.live ? first + i : 0;
      float *slot = slot_of(w, o.index), *logits = slot;
      if constexpr (W::linear) {
        linear_logits(o, features_of(w, r), theta, layout.features, layout.width, layout.actions, slot);
      } else if (layout.adam) {
        catch_up(o, o.live ? row_of(w, r) : idle_row(w, slot), o.live ? pending_of(w, r, u) : Pending{}, w.run.eps, slot);
      } else if (o.live) {
        logits = row_of(w, r).theta;
      }
      const RowMeans means = row_means(o, logits, w.run.quality + static_cast<std::size_t>(r) * layout.width, layout.width);
      if (o.leads()) w.means[i] = means;
    });
    b.threads(1, [&](int) { add_means(w, first, count); });
  }
}

template <class W>
ODRPO_HD Record& record_of(const W& w, int t) {
  return w.run.record[t == w.layout.steps ? records(w.layout) - 1 : t / w.layout.every];
}

// Records the policy's values before step t, and the time of each stage since the last record.
template <class W>
ODRPO_HD void record_policy(const W& w, int t) {
  Record& r = record_of(w, t);
  r.quality = w.s.quality;
  r.kl = w.s.kl;
  r.entropy = w.s.entropy;
  for (int i = 0; i < stage_count; ++i) {
    r.ticks[i] = w.s.ticks[i];
    w.s.ticks[i] = 0;
  }
  w.s.lost = !(w.s.quality - w.s.quality == 0);
}

// Records the statistics of step t's batch.
template <class W>
ODRPO_HD void record_batch(const W& w, int t) {
  Record& r = record_of(w, t);
  r.squares = w.s.squares;
  r.lowest = w.s.lowest;
  r.highest = w.s.highest;
  r.seen = w.s.seen;
  r.counts = w.s.counts;
  r.clipped = w.s.updates > 0 ? w.s.clipped / w.s.updates : __builtin_nan("");
  w.s.clipped = w.s.updates = 0;
}

/// Runs the stages of step t up to the advantages.
template <class W, class B>
ODRPO_HD void collect_batch(const B& b, const W& w, int t, bool recorded) {
  choose_prompts(b, w, t, Draws::training());
  lap(b, w, stage_prompts);
  forward(b, w, t * w.layout.updates, true);
  lap(b, w, stage_policy);
  score_rollouts(b, w);
  lap(b, w, stage_rater);
  estimate_advantages(b, w);
  survey_batch(b, w, recorded, [&] { note_scores(w, t); });
  lap(b, w, stage_estimator);
}

/// Trains steps t = first .. end - 1. Step number `steps`, after the last update, is only recorded.
/// Always inlined: as a call, nvcc would keep `w` in local memory.
template <class W, class B>
__attribute__((always_inline)) ODRPO_HD void run_steps(const B& b, const W& w, int first, int end) {
  const Layout& layout = w.layout;
  if (w.s.lost) return;  // its parameters were not finite in an earlier launch
  if (b.leads()) w.s.before = b.ticks();
  for (int t = first; t < end; ++t) {
    const bool recorded = t % layout.every == 0 || t == layout.steps;
    if (recorded) {
      value_policy(b, w, t * layout.updates);
      lap(b, w, stage_record);
      b.threads(1, [&](int) { record_policy(w, t); });
      if (w.s.lost) return;
      lap(b, w, stage_record);
    }
    if constexpr (W::general) collect_general_batch(b, w, t, recorded, record_of(w, t));
    else collect_batch(b, w, t, recorded);
    for (int e = 0; t < layout.steps && e < layout.updates; ++e) {
      if (e > 0) forward(b, w, t * layout.updates + e, false);
      update(b, w, e, t * layout.updates + e);
    }
    lap(b, w, stage_update);
    if (t < layout.steps && b.leads()) w.s.updates += layout.updates;
    if (recorded) {
      b.threads(1, [&](int) { record_batch(w, t); });
      lap(b, w, stage_record);
    }
  }
}

/// The work of a block in one launch, in `memory` (layout.bytes of it, aligned to 16). Copies the run's state in, trains steps `first` to
/// `end` - 1, and copies the state back.
template <bool linear, bool resident, bool general, class B>
ODRPO_HD void run_block(const B& b, const Layout& layout, const Run& given, unsigned char* memory, int first, int end) {
  const auto copy = [&](void* to, const void* from, std::size_t bytes) {
    b.threads(static_cast<int>(bytes / 4), [&](int i) { static_cast<std::uint32_t*>(to)[i] = static_cast<const std::uint32_t*>(from)[i]; });
  };
  copy(memory, &given, sizeof(Run));
  const Run& run = *reinterpret_cast<const Run*>(memory);
  if constexpr (general) copy(memory + layout.general_run, run.general, sizeof(General));
  const auto w = work_in<Work<linear, resident, general>>(memory, layout, run);
  const auto move_state = [&](bool in) {
    const auto move = [&](void* here, void* there, std::size_t bytes) { in ? copy(here, there, bytes) : copy(there, here, bytes); };
    move(&w.s, run.scalars, sizeof(Scalars));
    if constexpr (general)
      if (w.rest->median != nullptr) move(w.median, w.rest->median, sizeof(Median));
    move(w.last, run.last, sizeof(std::int32_t) * static_cast<std::size_t>(rows(layout)));
    if constexpr (resident) move(w.theta, run.theta, sizeof(float) * parameters(layout));
  };
  move_state(true);
  if constexpr (general)
    if (w.rest->median != nullptr) b.threads(1, [&](int) { w.rest->estimator.running = w.median->terms_of; });
  if constexpr (linear) b.threads(layout.row_width, [&](int i) { w.gradient[i] = 0; });
  run_steps(b, w, first, end);
  b.sync();  // until the leading thread has counted its last step and time
  move_state(false);
}

/// Calls f(linear, resident, general) with constants: is the policy linear, do its parameters lie in the block's memory, is the run of the
/// general kind?
template <class F>
void with_kind(const Layout& layout, F f) {
  using Yes = std::true_type;
  using No = std::false_type;
  const auto kind = [&](auto general) {
    if (layout.linear) f(Yes{}, Yes{}, general);
    else if (layout.resident) f(No{}, Yes{}, general);
    else f(No{}, No{}, general);
  };
  layout.general ? kind(Yes{}) : kind(No{});
}

}  // namespace odrpo::device
