// Queues a transformer's forward pass, backward pass and update: which stage runs on which rows, in order. Sampling queues token after
// token of all sequences, without waiting for the chosen tokens; a pass over given responses queues all rows at once.
#pragma once
#include "kernels/device/backend.hpp"
#include "policies/optimizer.hpp"
#include "policies/transformer/device/pass_memory.hpp"
#include "policies/transformer/device/tile_attention.hpp"
#include "policies/transformer/device/tile_rows.hpp"
#include "policies/transformer/device/tile_update.hpp"

namespace odrpo::device {

/// Calls f with the compile-time constant parts = head width / 8.
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

/// Queues all layers on `count` rows from `first` on. The earlier rows that these attend to must have been queued before.
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

/// Queues the logits of `count` sites (rows whose output chooses tokens) from `first` on.
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

/// Queues the sampling of responses to p.prompt by the random words p.word, into p.token, p.length and p.log_probability. With p.shape.end < 0
/// no token ends a response.
template <class Q>
void sample(Q& q, const DevicePass& p, const DeviceWeights& w, float top_p) {
  const int sequences = sequences_of(p.rows), longest = p.shape.response;
  q.tiles(sequences, device::BeginPicks{p.rows, p.shape.end, p.token, p.log_probability, p.length});
  run_layers(q, p, w, 0, prompt_rows_of(p.rows));
  run_heads(q, p, w, 0, p.rows.prompts);
  for (int t = 0; t < longest; ++t) {
    q.tiles(sequences, device::Pick{p.rows, p.shape.vocabulary, t, p.shape.end, p.inverse_temperature, top_p, p.logits, p.word, p.log_total,
                                    p.entropy, p.token, p.log_probability, p.length});
    if (t + 1 == longest) break;
    run_layers(q, p, w, first_of(p.rows, t), sequences);
    run_heads(q, p, w, p.rows.prompts + t * sequences, sequences);
  }
}

/// Queues the forward pass over given responses, p.token and p.length, all rows at once.
template <class Q>
void read(Q& q, const DevicePass& p, const DeviceWeights& w) {
  const int sites = sites_of(p.rows), v = p.shape.vocabulary;
  run_layers(q, p, w, 0, rows_of(p.rows));
  run_heads(q, p, w, 0, sites);
  q.tiles(sites, device::Probabilities{v, p.inverse_temperature, p.logits, p.log_total, p.entropy});
  q.tiles((static_cast<std::size_t>(sequences_of(p.rows)) * p.shape.response + 7) / 8,
          device::NoteProbabilities{p.rows, v, p.inverse_temperature, p.logits, p.log_total, p.token, p.length, p.log_probability});
}

// Backward pass and update: which stage runs on which rows, in order.

/// Queues a norm's backward pass: adds its gradient to dx, and recomputes its output in p.normed. The gradient of its gain becomes partial
/// sums, one for each part of the rows.
template <class Q>
void norm_backward(Q& q, const DevicePass& p, const DeviceBackward& b, const device::NormRows& of, int count, const float* inverse,
                   int norm) {
  float* parts = b.gain_parts + static_cast<std::size_t>(norm) * gain_part_count * of.width;
  q.tiles(count, device::NormBackward{of, inverse, b.dnormed, b.dx, p.normed});
  q.tiles(static_cast<std::size_t>(gain_part_count) * of.width / 8,
          device::GainParts{of, count, gain_part_count, inverse, b.dnormed, parts});
}

/// Queues the output head's backward pass: from the coefficients of tokens to dx of the last layer and the head's gradient.
template <class Q>
void heads_backward(Q& q, const DevicePass& p, const DeviceBackward& b, const DeviceWeights& w) {
  const TransformerShape& s = p.shape;
  const int d = s.width, v = s.vocabulary, sites = sites_of(p.rows);
  const float* head = w.theta + w.table->head;
  float* dhead = w.gradient + w.table->head;
  q.tiles(sites, device::LogitGradient{p.rows, v, p.inverse_temperature, p.logits, p.log_total, p.entropy, b.site_sum, b.site_bonus,
                                       b.coefficient, p.token, b.dlogits});
  q.zero(b.dx, static_cast<std::size_t>(rows_of(p.rows)) * d);
  if (s.tied) q.product({Product::Way::plain, sites, d, v, b.dlogits, v, head, d, nullptr, b.dnormed, d});
  else q.product({Product::Way::by_transposed, sites, d, v, b.dlogits, v, head, v, nullptr, b.dnormed, d});
  norm_backward(q, p, b, {p.rows, true, d, p.out, w.theta + w.table->final_norm}, sites, p.site_inverse, 2 * s.layers);
  if (s.tied) q.product({Product::Way::transposed, v, d, sites, b.dlogits, v, p.normed, d, nullptr, dhead, d});
  else q.product({Product::Way::transposed, d, v, sites, p.normed, d, b.dlogits, v, nullptr, dhead, v});
}

template <class Q>
void layer_backward(Q& q, const DevicePass& p, const DeviceBackward& b, const DeviceWeights& w, int l) {
  using enum Product::Way;
  const TransformerShape& s = p.shape;
  const int d = s.width, wide = s.hidden(), n = rows_of(p.rows);
  const std::size_t rows = n;
  const DevicePass::Layer& at = p.layer[l];
  const WeightTable::Layer& where = w.table->layer[l];
  const float* theta = w.theta;
  float* gradient = w.gradient;
  // the MLP
  q.product({by_transposed, n, wide, d, b.dx, d, theta + where.down, d, nullptr, b.dhidden, wide});
  q.tiles(rows * wide / 8, device::GeluBackward{at.up, b.dhidden, p.hidden});
  q.product({transposed, wide, d, n, p.hidden, wide, b.dx, d, nullptr, gradient + where.down, d});
  q.product({by_transposed, n, d, wide, b.dhidden, wide, theta + where.up, wide, nullptr, b.dnormed, d});
  norm_backward(q, p, b, {p.rows, false, d, at.y, theta + where.norm2}, n, at.inverse2, 2 * l + 1);
  q.product({transposed, d, wide, n, p.normed, d, b.dhidden, wide, nullptr, gradient + where.up, wide});
  // attention
  q.product({transposed, d, d, n, at.mixed, d, b.dx, d, nullptr, gradient + where.out, d});
  q.product({by_transposed, n, d, d, b.dx, d, theta + where.out, d, nullptr, b.dmixed, d});
  by_head_width(s, [&](auto constant) {
    constexpr int parts = decltype(constant)::value;
    const device::HeadRows in{p.rows, d, s.heads, at.qkv};
    q.tiles(rows * s.heads, device::AttendBackwardQuery<parts>{in, at.mixed, b.dmixed, at.log_total, b.along, b.dqkv});
    q.tiles(rows * s.heads, device::AttendBackwardKey<parts>{in, b.dmixed, at.log_total, b.along, b.dqkv});
  });
  q.product({by_transposed, n, d, 3 * d, b.dqkv, 3 * d, theta + where.qkv, 3 * d, nullptr, b.dnormed, d});
  norm_backward(q, p, b, {p.rows, false, d, at.x, theta + where.norm1}, n, at.inverse1, 2 * l);
  q.product({transposed, d, 3 * d, n, p.normed, d, b.dqkv, 3 * d, nullptr, gradient + where.qkv, 3 * d});
}

/// Queues the objective's gradient by the weights, into w.gradient, from the coefficients of tokens in b and a forward pass of the batch in
/// p.
template <class Q>
void backward(Q& q, const DevicePass& p, const DeviceBackward& b, const DeviceWeights& w) {
  const TransformerShape& s = p.shape;
  const int d = s.width;
  const std::size_t columns = d / 8;
  q.zero(w.gradient, w.table->count);
  heads_backward(q, p, b, w);
  for (int l = s.layers - 1; l >= 0; --l) layer_backward(q, p, b, w, l);
  // adds up the partial sums; a tied head has already added its gradient to the embedding's
  q.zero(b.token_parts, static_cast<std::size_t>(token_part_count) * s.vocabulary * d);
  q.tiles(token_part_count * columns,
          device::TokenParts{p.rows, d, s.vocabulary, token_part_count, p.prompt, p.token, p.length, b.dx, b.token_parts});
  q.tiles(position_part_count * s.context() * columns, device::PositionParts{p.rows, d, position_part_count, b.dx, b.position_parts});
  const auto add = [&](const float* parts, int count, std::size_t size, std::size_t to) {
    q.tiles(size / 8, device::AddParts{count, size, parts, w.gradient + to});
  };
  add(b.token_parts, token_part_count, static_cast<std::size_t>(s.vocabulary) * d, w.table->token);
  add(b.position_parts, position_part_count, static_cast<std::size_t>(s.context()) * d, w.table->position);
  const auto gain = [&](int norm, std::size_t to) {
    add(b.gain_parts + static_cast<std::size_t>(norm) * gain_part_count * d, gain_part_count, d, to);
  };
  for (int l = 0; l < s.layers; ++l) {
    gain(2 * l, w.table->layer[l].norm1);
    gain(2 * l + 1, w.table->layer[l].norm2);
  }
  gain(2 * s.layers, w.table->final_norm);
}

/// Queues theta = base + scale A B on every adapted matrix; the other matrices stay as they are.
template <class Q>
void merge_adapters(Q& q, const AdapterTable& table, const float* base, const float* adapters, float* theta) {
  for (const Adapter& x : table.adapters) {
    const std::size_t at = x.weight + x.column;
    q.product({Product::Way::plain, x.rows, x.columns, table.rank, adapters + x.a, table.rank, adapters + x.b, x.columns, base + at,
               theta + at, x.stride, table.scale});
  }
}
/// Queues the adapters' gradient, from the gradient dW of the merged weights: dA = scale dW B', dB = scale A' dW (' = transposed).
template <class Q>
void adapter_gradient(Q& q, const AdapterTable& table, const float* adapters, const float* weight_gradient, float* gradient) {
  for (const Adapter& x : table.adapters) {
    const float* dw = weight_gradient + x.weight + x.column;
    q.product({Product::Way::by_transposed, x.rows, table.rank, x.columns, dw, x.stride, adapters + x.b, x.columns, nullptr, gradient + x.a,
               table.rank, table.scale});
    q.product({Product::Way::transposed, table.rank, x.columns, x.rows, adapters + x.a, table.rank, dw, x.stride, nullptr, gradient + x.b,
               x.columns, table.scale});
  }
}

/// Returns the scalars that update() reads for step t. Call scalars.begin_step(t) first.
inline UpdateScalars update_scalars(const AdamScalars& scalars, int t) {
  if (scalars.config().kind == OptimizerKind::sgd) return {scalars.rate(), 0, 0, 0};
  const PendingStep now = scalars.pending(t)[0];
  return {now.rate, now.scale, now.decay, scalars.eps()};
}

/// Queues one ascent step with the UpdateScalars at b.scalars. Writes the gradient's norm and the factor that clips it to b.norm.
template <class Q>
void update(Q& q, const DeviceBackward& b, const DeviceTrained& of, const OptimizerConfig& o) {
  const std::size_t n = of.count, stretches = (n + device::square_stretch - 1) / device::square_stretch;
  const auto* step = reinterpret_cast<const UpdateScalars*>(b.scalars);
  q.tiles(stretches, device::SquareParts{n, of.gradient, b.square_parts});
  q.tiles(1, device::ClipFactor{static_cast<int>(stretches), static_cast<float>(o.clip), b.square_parts, b.norm});
  if (o.kind == OptimizerKind::sgd) {
    q.tiles(n / 8, device::Ascend{step, b.norm, of.gradient, of.theta});
    return;
  }
  q.tiles(n / 8, device::Adam{static_cast<float>(o.beta1), static_cast<float>(o.beta2), step, b.norm, of.gradient, of.theta, of.m, of.v});
}

}  // namespace odrpo::device
