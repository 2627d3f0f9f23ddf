// Lays out the workspace of a block of threads in its memory, and finds a row of parameters and its pending Adam steps.
#pragma once
#include "policies/softmax/device/rows.hpp"
#include "train/batched/block/run_block.hpp"

namespace odrpo::device {

/// Number of prompts whose exact means are added up together, as in SoftmaxPolicy::exact (policies/softmax/policy.hpp).
inline constexpr int rows_together = 256;

/// A run at work: its data and the block's arrays. The kind of run is a compile-time constant, so that each kind has code of its own.
template <bool is_linear, bool is_resident, bool is_general>
struct Work {
  static constexpr bool linear = is_linear, resident = is_resident, general = is_general;
  const Layout& layout;
  const Run& run;
  Scalars& s;
  std::uint32_t *words, *ratings;
  RowMeans* means;
  float *advantage, *coefficient, *probability, *old_probability, *gradient, *theta;
  std::uint32_t* columns;
  std::uint16_t *prompt, *action;
  std::uint8_t *score, *mask;
  std::int32_t* last;
  General* rest;  ///< this member and those after it: for the general kind only
  float* reward;
  double* cells;
  Median* median;
};

template <class W>
ODRPO_HD W work_in(unsigned char* memory, const Layout& layout, const Run& run) {
  const auto floats = [=](std::size_t at) { return reinterpret_cast<float*>(memory + at); };
  const auto words = [=](std::size_t at) { return reinterpret_cast<std::uint32_t*>(memory + at); };
  const auto halves = [=](std::size_t at) { return reinterpret_cast<std::uint16_t*>(memory + at); };
  float* theta = run.theta;
  if constexpr (W::resident) theta = floats(layout.theta);
  return {layout,
          run,
          *reinterpret_cast<Scalars*>(memory + layout.scalars),
          words(layout.words),
          words(layout.ratings),
          reinterpret_cast<RowMeans*>(memory + layout.means),
          floats(layout.advantage),
          floats(layout.coefficient),
          floats(layout.probability),
          floats(layout.old_probability),
          floats(layout.gradient),
          theta,
          words(layout.columns),
          halves(layout.prompt),
          halves(layout.action),
          memory + layout.score,
          memory + layout.mask,
          reinterpret_cast<std::int32_t*>(memory + layout.last),
          reinterpret_cast<General*>(memory + layout.general_run),
          floats(layout.reward),
          reinterpret_cast<double*>(memory + layout.columns),
          reinterpret_cast<Median*>(memory + layout.median)};
}

template <class W>
ODRPO_HD Row row_of(const W& w, int r) {
  float* theta = w.theta + static_cast<std::size_t>(r) * w.layout.row_width;
  const std::size_t all = static_cast<std::size_t>(rows(w.layout)) * w.layout.row_width;
  return {theta,
          theta + all,
          theta + 2 * all,
          w.layout.row_width,
          W::linear ? w.layout.features : w.layout.actions,
          W::linear ? 0.0f : padding};
}
// Returns the row for a tile (eight threads, kernels/device/tile_threads.hpp) that has no prompt to work on: scratch that nobody reads
template <class W>
ODRPO_HD Row idle_row(const W& w, float* slot) {
  return {slot, slot, slot, w.layout.row_width, w.layout.row_width, 0.0f};
}
template <class W>
ODRPO_HD float* slot_of(const W& w, int i) {
  return w.probability + static_cast<std::size_t>(i) * w.layout.width;
}

/// Returns the Adam steps that parameter row r has missed before update u because updates are lazy; as SoftmaxPolicy::visit.
template <class W>
ODRPO_HD Pending pending_of(const W& w, int r, int u) {
  const int last = w.last[r];
  if (last < 0 || !w.layout.adam) return {0, nullptr, 1.0f, 1.0f};
  const int n = u - last;
  return {n, w.run.pending + static_cast<std::size_t>(last - w.run.first_pending) * (w.layout.remember + 1), w.run.power1[n],
          w.run.power2[n]};
}

template <class W>
ODRPO_HD const float* features_of(const W& w, int prompt) {
  return w.run.feature + static_cast<std::size_t>(prompt) * w.layout.features * w.layout.width;
}

// Adds the clock ticks since the last call of lap() to a stage.
template <class W, class B>
ODRPO_HD void lap(const B& b, const W& w, int stage) {
  if (!b.leads()) return;
  const long long now = b.ticks();
  w.s.ticks[stage] += now - w.s.before;
  w.s.before = now;
}

}  // namespace odrpo::device
