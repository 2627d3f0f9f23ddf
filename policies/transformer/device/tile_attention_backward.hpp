// Attention's backward pass for tiles: once by queries, once by keys, each adding up what is its own, so that nothing is added by chance.
#pragma once
#include "policies/transformer/device/tile_attention.hpp"

namespace odrpo::device {

// With p = e^(score - log_total), dp = dmixed . v and along = dmixed . mixed = sum p dp: ds = p (dp - along), by the scaled score.

/// Item i: head i % heads of row i / heads as a query: its `along`, and dq.
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

/// Item i: head i % heads of row i / heads as a key: dk and dv from all queries that see it, in order. Runs after the queries.
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
