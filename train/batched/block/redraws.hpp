// A block of the general kind collects its batch, and where that is recorded first some redraws of it: how good its gradient is against the
// exact one, as gradient_quality (train/worlds/bandit.cpp) says.
#pragma once
#include "train/batched/block/general.hpp"
#include "train/batched/block/running_median.hpp"
#include "train/batched/block/update.hpp"
#include "train/worlds/gradient_quality.hpp"

namespace odrpo::device {

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
