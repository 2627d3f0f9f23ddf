// Updates a block's policy from its batch: gradient, clip and step, as gradient() and update() of SoftmaxPolicy do.
#pragma once
#include "estimators/group/block_groups.hpp"
#include "policies/row_math.hpp"
#include "train/batched/block/workspace.hpp"

namespace odrpo::device {

// Computes the gradient coefficients of one prompt's rollouts, eight at a time, in w.coefficient. Returns their sum, and counts clipped
// rollouts.
template <class W, class O>
ODRPO_HD float coefficients(const O& o, const W& w, int i, int epoch, float scale, int& clipped) {
  using F = typename O::F;
  const int n = w.layout.rollouts;
  const float* pi = slot_of(w, i);
  const std::size_t from = static_cast<std::size_t>(o.live ? i : 0) * n;
  F sums = O::splat(0.0f);
  for (int at = 0; at < n; at += 8) {
    const int here = n - at;
    const auto there = o.lane() < here;
    const F probability = there ? o.gather(pi, o.load(w.action + from + at, here, 0)) : O::splat(1.0f);
    const F a = there ? whitened(w.s.whitening, o.load(w.advantage + from + at, here, 0.0f)) : O::splat(0.0f);
    const auto part = O::ones(there) & (w.run.masked ? o.load(w.mask + from + at, here, 0) : O::ones(there));
    F c;
    if (epoch > 0) {
      const F ratio = probability / o.load(w.old_probability + from + at, here, 1.0f);
      const auto over = (O::ones(a > 0.0f) & O::ones(ratio > w.run.ratio_high)) | (O::ones(a < 0.0f) & O::ones(ratio < w.run.ratio_low));
      clipped += o.count((over & part) == 1);
      c = row_math::penalised(over == 1 ? O::splat(0.0f) : a * ratio, O::higher(probability, O::splat(smallest_probability)), w.run.kl,
                              w.run.reference);
    } else {
      if (w.layout.updates > 1) o.store(w.old_probability + from + at, O::higher(O::splat(smallest_probability), probability), here);
      c = row_math::penalised(a, probability, w.run.kl, w.run.reference);
    }
    c = part == 1 ? c * scale : O::splat(0.0f);
    sums += c;
    o.store(w.coefficient + static_cast<std::size_t>(i) * n + at, c, here);
  }
  return o.sum(sums);
}

// Replaces the probabilities of the batch's prompt i by the gradient with respect to its logits. `active`: number of rollouts of the batch
// that learn. Counts clipped rollouts.
template <class W, class O>
ODRPO_HD void logit_gradient(const O& o, const W& w, int i, int epoch, int active, int& clipped) {
  const Layout& layout = w.layout;
  float* g = slot_of(w, i);
  const float scale = active > 0 ? 1.0f / static_cast<float>(active) : 0.0f;
  const float sum = coefficients(o, w, i, epoch, scale, clipped);
  o.sync_lanes();
  const std::size_t own = static_cast<std::size_t>(i) * layout.rollouts;
  if (active > 0) spread(o, g, layout.width, w.action + (o.live ? own : 0), w.coefficient + own, layout.rollouts, sum);
  else
    for (int a = 0; a < layout.width; a += 8) o.store(g + a, O::splat(0.0f));
}
/// Returns the number of rollouts that take part in learning.
template <class W>
ODRPO_HD int takers(const W& w) {
  return draws(w.layout) - static_cast<int>(w.s.counts.dropped);
}

// Applies a gradient of row r: to its parameters (plain ascent), or to Adam's moments of them.
template <class W, class O>
ODRPO_HD void take_gradient(const O& o, const W& w, int r, int u, const float* gradient) {
  const Row row = row_of(w, r);
  if (!w.layout.adam) return ascend(o, row, w.run.rate[u - w.run.first_rate], gradient);
  accumulate(o, row, pending_of(w, r, u), w.run.rest1, w.run.rest2, gradient);
  o.sync_lanes();
  if (o.leads()) w.last[r] = u;
}

/// Replaces the probabilities by gradients with respect to the logits. Applies each gradient at once, unless the linear policy or the norm
/// clip needs all of them first.
template <class W, class B>
ODRPO_HD void logit_gradients(const B& b, const W& w, int epoch, int u) {
  const Layout& layout = w.layout;
  const int active = takers(w);
  b.tiles(layout.batch, [&](const auto& o, int i) {
    int clipped = 0;
    logit_gradient(o, w, i, epoch, active, clipped);
    if (o.leads() && clipped > 0) b.add(&w.s.over, static_cast<std::uint32_t>(clipped));
    if (W::linear || w.run.clip > 0 || !o.live) return;
    take_gradient(o, w, w.prompt[i], u, slot_of(w, i));
  });
  if (layout.updates > 1)
    b.threads(1, [&](int) {
      w.s.clipped += active > 0 ? static_cast<double>(w.s.over) / active : 0.0;
      w.s.over = 0;
    });
}

/// Computes the factor that keeps the gradient's norm within the clip. (SoftmaxPolicy::update)
template <class W, class B>
ODRPO_HD void measure_gradient(const B& b, const W& w, const float* gradient, int n) {
  b.aside(
      [&](const auto& o) {
        const double norm = row_math::gradient_norm(dot(o, gradient, gradient, n), gradient, n);
        if (o.leads()) w.s.factor = row_math::clip_factor(norm, w.run.clip);
      },
      [] {});
}

/// Returns the gradient with respect to the parameters, when the rows hold the gradient with respect to the logits.
template <class W, class B>
ODRPO_HD float* gradient_of(const B& b, const W& w) {
  const Layout& layout = w.layout;
  if constexpr (!W::linear) return w.probability;
  b.tiles(layout.features, [&](const auto& o, int f) {
    const float g = linear_gradient(o, w.run.feature, w.probability, w.prompt, layout.batch, layout.features, layout.width, o.live ? f : 0);
    if (o.leads()) w.gradient[f] = g;
  });
  return w.gradient;
}

/// Makes update number u of the parameters, from the rollouts of the batch.
template <class W, class B>
ODRPO_HD void update(const B& b, const W& w, int epoch, int u) {
  const Layout& layout = w.layout;
  logit_gradients(b, w, epoch, u);
  float* gradient = gradient_of(b, w);
  if (!W::linear && !(w.run.clip > 0)) return;
  if (w.run.clip > 0) {
    const int size = W::linear ? layout.row_width : layout.batch * layout.width;
    measure_gradient(b, w, gradient, size);
    if (w.s.factor != 1.0f) b.threads(size, [&](int i) { gradient[i] *= w.s.factor; });
  }
  b.tiles(W::linear ? 1 : layout.batch, [&](const auto& o, int i) {
    if (o.live) take_gradient(o, w, W::linear ? 0 : w.prompt[i], u, gradient + static_cast<std::size_t>(i) * layout.row_width);
  });
}

}  // namespace odrpo::device
