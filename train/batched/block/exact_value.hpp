// The exact value of a policy on a device: expectations over all prompts, as SoftmaxPolicy::exact computes them.
#pragma once
#include "train/batched/block/workspace.hpp"

namespace odrpo::device {

// Adds up the means of `count` rows from `first` on, in order.
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

/// Quality, KL and entropy with all updates before u applied, to the scalars. The state of training stays as it is.
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

}  // namespace odrpo::device
