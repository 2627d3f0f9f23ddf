// Computes causal attention on tiles, forward and backward. An item is one query or attention key of one head; it takes eight rows at a time.
#pragma once
#include <cstddef>

#include "policies/transformer/elementwise.hpp"
#include "policies/transformer/fixed_rows.hpp"

namespace odrpo::device {

/// Queries, keys and values (q | k | v) of all tokens, a row each. A head has 8 x parts columns in each of the three (8 x parts = head width).
struct HeadRows {
  FixedRows rows;
  int width, heads;
  const float* qkv;  ///< [rows][3 width]
};
template <int parts>
ODRPO_HD float head_scale() {
  return 1.0f / __builtin_sqrtf(8.0f * parts);
}

/// Returns the inner products of the vector `by` with eight rows: lane l gets the one with the 8 x parts floats at from[l].
template <int parts, class O>
ODRPO_HD typename O::F products_of(const O& o, const typename O::F* by, const float* const* from) {
  typename O::F x[8];
  ODRPO_UNROLL
  for (int l = 0; l < 8; ++l) {
    x[l] = by[0] * o.load(from[l]);
    ODRPO_UNROLL
    for (int c = 1; c < parts; ++c) x[l] += by[c] * o.load(from[l] + 8 * c);
  }
  return o.sums(x);
}
/// Adds to sum[] the rows at from[0] .. from[7], in order: row l times lane l of `weight`.
template <int parts, class O>
ODRPO_HD void add_rows_by(const O& o, typename O::F weight, const float* const* from, typename O::F* sum) {
  ODRPO_UNROLL
  for (int l = 0; l < 8; ++l) {
    const float w = o.at(weight, l);
    ODRPO_UNROLL
    for (int c = 0; c < parts; ++c) sum[c] += w * o.load(from[l] + 8 * c);
  }
}
/// Writes to `from` the addresses of head h's q at positions j .. j + 7 of a sequence. Positions after the query get the query's own row.
ODRPO_HD void rows_seen(const HeadRows& r, const RowPlace& place, int h, int head_width, int j, const float** from) {
  ODRPO_UNROLL
  for (int l = 0; l < 8; ++l) {
    const int at = j + l < place.at ? j + l : place.at;
    from[l] = r.qkv + static_cast<std::size_t>(row_at(r.rows, place, at)) * 3 * r.width + h * head_width;
  }
}

/// Item i computes attention for head i % heads of the token in row first + i / heads, over its sequence up to itself. The softmax takes one
/// pass over the attention keys: when a larger attention score comes, it scales the earlier sums down.
template <int parts>
struct Attend {
  HeadRows in;
  int first;
  float *mixed, *log_total;  ///< [rows][width]; [rows][heads]: ln of the sum of e^(scaled attention score)

  template <class O>
  ODRPO_HD void run(const Attend& f, const O& o, std::size_t i) {
    using F = typename O::F;
    constexpr int hw = 8 * parts;
    const int heads = f.in.heads, width = f.in.width, row = f.first + static_cast<int>(i) / heads, h = static_cast<int>(i) % heads;
    const RowPlace place = place_of(f.in.rows, row);
    const float* query = f.in.qkv + static_cast<std::size_t>(row) * 3 * width + h * hw;
    F q[parts], sum[parts], total = O::splat(0);
    ODRPO_UNROLL
    for (int c = 0; c < parts; ++c) q[c] = o.load(query + 8 * c) * head_scale<parts>(), sum[c] = O::splat(0);
    float top = -1e30f;
    const int n = place.at + 1, longest = o.most(n);
    for (int j = 0; j < longest; j += 8) {
      const float* from[8];
      rows_seen(f.in, place, h, hw, j, from);
      ODRPO_UNROLL
      for (int l = 0; l < 8; ++l) from[l] += width;
      F score = products_of<parts>(o, q, from);
      score = o.lane() + j < n ? score : O::splat(-1e30f);
      const float block = o.largest(score), higher = block > top ? block : top;
      const float shrink = float_math::exp_negative<float_math::ScalarLane>(top - higher);
      const F e = float_math::exp_negative<O>(score - higher);
      top = higher;
      total = total * shrink + e;
      ODRPO_UNROLL
      for (int c = 0; c < parts; ++c) sum[c] = sum[c] * shrink;
      ODRPO_UNROLL
      for (int l = 0; l < 8; ++l) from[l] += width;
      add_rows_by<parts>(o, e, from, sum);
    }
    const float whole = o.sum(total), inverse = 1.0f / whole;
    ODRPO_UNROLL
    for (int c = 0; c < parts; ++c) o.store(f.mixed + static_cast<std::size_t>(row) * width + h * hw + 8 * c, sum[c] * inverse);
    const float log_total = top + float_math::log_positive<float_math::ScalarLane>(whole);
    o.store(f.log_total + static_cast<std::size_t>(row) * heads + h, O::splat(log_total), 1);
  }
};

// Attention's backward pass for tiles, in two launches: gradients of queries, then gradients of keys and values. Each item sums its own
// gradient alone, in a fixed order.

// The gradient by a scaled attention score is ds = p (dp - along), with p = e^(score - log_total), dp = dmixed . v, along = dmixed . mixed.
// `along` equals the sum of p dp over the attention keys.

/// Item i computes `along` and the query's gradient dq for head i % heads of the query in row i / heads.
template <int parts>
struct AttendBackwardQuery {
  HeadRows in;
  const float *mixed, *dmixed, *log_total;  ///< [rows][width] twice, [rows][heads]
  float *along, *dqkv;                      ///< [rows][heads], [rows][3 width]

  template <class O>
  ODRPO_HD void run(const AttendBackwardQuery& f, const O& o, std::size_t i) {
    using F = typename O::F;
    constexpr int hw = 8 * parts;
    const int heads = f.in.heads, width = f.in.width, row = static_cast<int>(i) / heads, h = static_cast<int>(i) % heads;
    const RowPlace place = place_of(f.in.rows, row);
    const std::size_t at_row = static_cast<std::size_t>(row) * width + h * hw,
                      at_query = static_cast<std::size_t>(row) * 3 * width + h * hw;
    const float scale = head_scale<parts>(), log_total = f.log_total[i];
    F q[parts], d[parts], dq[parts], both = O::splat(0);
    ODRPO_UNROLL
    for (int c = 0; c < parts; ++c) {
      q[c] = o.load(f.in.qkv + at_query + 8 * c) * scale;
      d[c] = o.load(f.dmixed + at_row + 8 * c);
      both += d[c] * o.load(f.mixed + at_row + 8 * c);
      dq[c] = O::splat(0);
    }
    const float along = o.sum(both);
    o.store(f.along + i, O::splat(along), 1);
    const int n = place.at + 1, longest = o.most(n);
    for (int j = 0; j < longest; j += 8) {
      const float *key[8], *value[8];
      rows_seen(f.in, place, h, hw, j, key);
      ODRPO_UNROLL
      for (int l = 0; l < 8; ++l) key[l] += width, value[l] = key[l] + width;
      const F score = products_of<parts>(o, q, key), dp = products_of<parts>(o, d, value);
      const F p = float_math::exp_negative<O>(O::lower(score - log_total, O::splat(0)));
      const F ds = o.lane() + j < n ? p * (dp - along) * scale : O::splat(0);
      add_rows_by<parts>(o, ds, key, dq);
    }
    ODRPO_UNROLL
    for (int c = 0; c < parts; ++c) o.store(f.dqkv + at_query + 8 * c, dq[c]);
  }
};

/// Item i sums dk and dv of head i % heads of the key in row i / heads, in order over the queries. It runs after AttendBackwardQuery.
template <int parts>
struct AttendBackwardKey {
  HeadRows in;
  const float *dmixed, *log_total, *along;  ///< [rows][width], [rows][heads] twice
  float* dqkv;                              ///< [rows][3 width]

  template <class O>
  ODRPO_HD void run(const AttendBackwardKey& f, const O& o, std::size_t i) {
    using F = typename O::F;
    constexpr int hw = 8 * parts;
    const int heads = f.in.heads, width = f.in.width, row = static_cast<int>(i) / heads, h = static_cast<int>(i) % heads;
    const Lookers lookers = lookers_of(f.in.rows, row);
    const std::size_t at_key = static_cast<std::size_t>(row) * 3 * width + width + h * hw;
    const float scale = head_scale<parts>();
    F k[parts], v[parts], dk[parts], dv[parts];
    ODRPO_UNROLL
    for (int c = 0; c < parts; ++c) {
      k[c] = o.load(f.in.qkv + at_key + 8 * c) * scale;
      v[c] = o.load(f.in.qkv + at_key + width + 8 * c);
      dk[c] = dv[c] = O::splat(0);
    }
    const int n = lookers.count, longest = o.most(n);
    for (int j = 0; j < longest; j += 8) {
      const auto at = [&](int l) { return static_cast<std::size_t>(looker(f.in.rows, lookers, j + l < n ? j + l : n - 1)); };
      const float *query[8], *d[8];
      ODRPO_UNROLL
      for (int l = 0; l < 8; ++l) {
        const std::size_t r = at(l);
        query[l] = f.in.qkv + r * 3 * width + h * hw;
        d[l] = f.dmixed + r * width + h * hw;
      }
      const F score = products_of<parts>(o, k, query), dp = products_of<parts>(o, v, d);
      const F log_total = o.each([&](int l) { return f.log_total[at(l) * heads + h]; });
      const F along = o.each([&](int l) { return f.along[at(l) * heads + h]; });
      const auto there = o.lane() + j < n;
      const F p = there ? float_math::exp_negative<O>(O::lower(score - log_total, O::splat(0))) : O::splat(0);
      add_rows_by<parts>(o, p, d, dv);
      add_rows_by<parts>(o, p * (dp - along) * scale, query, dk);
    }
    ODRPO_UNROLL
    for (int c = 0; c < parts; ++c) {
      o.store(f.dqkv + at_key + 8 * c, dk[c]);
      o.store(f.dqkv + at_key + width + 8 * c, dv[c]);
    }
  }
};

}  // namespace odrpo::device
