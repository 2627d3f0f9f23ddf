// The forward pass over a queue: which stage runs on which rows, in order. Sampling goes slice by slice without asking what was chosen;
// reading takes all rows at once.
#pragma once
#include "kernels/device/backend.hpp"
#include "policies/transformer/device/pass_memory.hpp"
#include "policies/transformer/device/tile_attention.hpp"
#include "policies/transformer/device/tile_rows.hpp"
#include "policies/transformer/device/tile_vocabulary.hpp"

namespace odrpo::device {

/// f(integral constant parts) for heads 8 parts wide.
template <int n>
struct Parts {
  static constexpr int value = n;
};
template <class F>
void by_head_width(const TransformerShape& s, F f) {
  switch (s.head_width()) {
    case 8: return f(Parts<1>{});
    case 16: return f(Parts<2>{});
    default: return f(Parts<4>{});
  }
}

/// Layers on `count` rows from `first` on; rows that they see from elsewhere are done.
template <class Q>
void run_layers(Q& q, const DevicePass& p, const DeviceWeights& w, int first, int count) {
  const TransformerShape& s = p.shape;
  const int d = s.width, wide = s.hidden();
  const std::size_t from = static_cast<std::size_t>(first) * d, n = count;
  const float* theta = w.theta;
  if (count == 0) return;
  q.tiles(n, device::Embed{p.rows, d, first, p.prompt, p.token, p.length, theta + w.table->token, theta + w.table->position, p.layer[0].x});
  for (int l = 0; l < s.layers; ++l) {
    const DevicePass::Layer& at = p.layer[l];
    const WeightTable::Layer& where = w.table->layer[l];
    float *normed = p.normed + from, *next = (l + 1 == s.layers ? p.out : p.layer[l + 1].x) + from;
    q.tiles(n, device::Norm{{p.rows, false, d, at.x, theta + where.norm1}, first, at.inverse1, p.normed});
    q.product({Product::Way::plain, count, 3 * d, d, normed, d, theta + where.qkv, 3 * d, nullptr, at.qkv + 3 * from, 3 * d});
    by_head_width(s, [&](auto parts) {
      q.tiles(n * s.heads, device::Attend<decltype(parts)::value>{{p.rows, d, s.heads, at.qkv}, first, at.mixed, at.log_total});
    });
    q.product({Product::Way::plain, count, d, d, at.mixed + from, d, theta + where.out, d, at.x + from, at.y + from, d});
    q.tiles(n, device::Norm{{p.rows, false, d, at.y, theta + where.norm2}, first, at.inverse2, p.normed});
    q.product({Product::Way::plain, count, wide, d, normed, d, theta + where.up, wide, nullptr, at.up + 4 * from, wide});
    q.tiles(n * wide / 8, device::Gelu{at.up + 4 * from, p.hidden + 4 * from});
    q.product({Product::Way::plain, count, d, wide, p.hidden + 4 * from, wide, theta + where.down, d, at.y + from, next, d});
  }
}

/// Logits of `count` sites from `first` on.
template <class Q>
void run_heads(Q& q, const DevicePass& p, const DeviceWeights& w, int first, int count) {
  const int d = p.shape.width, v = p.shape.vocabulary;
  if (count == 0) return;
  q.tiles(count, device::Norm{{p.rows, true, d, p.out, w.theta + w.table->final_norm}, first, p.site_inverse, p.normed});
  const float *normed = p.normed + static_cast<std::size_t>(first) * d, *head = w.theta + w.table->head;
  float* logits = p.logits + static_cast<std::size_t>(first) * v;
  if (p.shape.tied) q.product({Product::Way::by_transposed, count, v, d, normed, d, head, d, nullptr, logits, v});
  else q.product({Product::Way::plain, count, v, d, normed, d, head, v, nullptr, logits, v});
}

/// Samples from p.prompt by p.word into p.token, p.length and p.log_chance. `end` < 0: nothing ends a response.
template <class Q>
void sample(Q& q, const DevicePass& p, const DeviceWeights& w, float top_p) {
  const int sequences = sequences_of(p.rows), longest = p.shape.response;
  q.tiles(sequences, device::BeginPicks{p.rows, p.shape.end, p.token, p.log_chance, p.length});
  run_layers(q, p, w, 0, prompt_rows_of(p.rows));
  run_heads(q, p, w, 0, p.rows.prompts);
  for (int t = 0; t < longest; ++t) {
    q.tiles(sequences, device::Pick{p.rows, p.shape.vocabulary, t, p.shape.end, p.inverse_temperature, top_p, p.logits, p.word, p.log_total,
                                    p.entropy, p.token, p.log_chance, p.length});
    if (t + 1 == longest) break;
    run_layers(q, p, w, first_of(p.rows, t), sequences);
    run_heads(q, p, w, p.rows.prompts + t * sequences, sequences);
  }
}

/// The same over what p.token and p.length hold, all rows at once.
template <class Q>
void read(Q& q, const DevicePass& p, const DeviceWeights& w) {
  const int sites = sites_of(p.rows), v = p.shape.vocabulary;
  run_layers(q, p, w, 0, rows_of(p.rows));
  run_heads(q, p, w, 0, sites);
  q.tiles(sites, device::Chances{v, p.inverse_temperature, p.logits, p.log_total, p.entropy});
  q.tiles((static_cast<std::size_t>(sequences_of(p.rows)) * p.shape.response + 7) / 8,
          device::NoteChances{p.rows, v, p.inverse_temperature, p.logits, p.log_total, p.token, p.length, p.log_chance});
}

}  // namespace odrpo::device
