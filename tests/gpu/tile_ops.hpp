// All that tiles can do between lanes, as one functor: the host runs it by vectors of eight, the device by threads, and both must agree.
#pragma once
#include <cstddef>
#include <vector>

#include "kernels/float_math.hpp"

namespace odrpo::gpu {

/// Item i: out[i][14][8] of x[i][8][8], through every operation; odd items loop longer than even ones.
struct TileOps {
  static constexpr int results = 14;
  const float* x;
  float* out;

  template <class O>
  ODRPO_HD void run(const TileOps& f, const O& o, std::size_t i) {
    using F = typename O::F;
    const float* x = f.x + i * 64;
    float* out = f.out + i * 8 * results;
    F rows[8];
    ODRPO_UNROLL
    for (int l = 0; l < 8; ++l) rows[l] = o.load(x + 8 * l);
    const F a = rows[0], b = rows[1];
    float t = x[63];
    o.store(out, o.sums(rows));
    o.store(out + 8, O::splat(o.sum(a)));
    o.store(out + 16, O::splat(o.largest(a)));
    o.store(out + 24, O::splat(o.at(a, 5)));
    o.store(out + 32, o.before(a, t));
    o.store(out + 40, O::splat(t));
    o.store(out + 48, o.each([&](int l) { return x[l * 9]; }));
    o.store(out + 56, O::real(o.lane() + 3));
    o.store(out + 64, O::higher(a, b) - O::lower(a, b));
    o.store(out + 72, o.load(x, 5, -1.5f));
    o.store(out + 80, float_math::exp_negative<O>(O::lower(a, -a)));
    o.store(out + 88, float_math::log_positive<O>(a * a + 0.5f));
    // loops of unequal length that look at other lanes: run on until all are done, adding nothing once this tile is
    const int n = i % 2 == 0 ? 3 : 11;
    F sum = O::splat(0);
    const int longest = o.most(n);
    for (int k = 0; k < longest; ++k) {
      const float term = o.sum(a * static_cast<float>(k));
      sum += k < n ? term : 0.0f;
    }
    o.store(out + 96, sum);
    o.store(out + 104, a > b ? a : b, 5);
    o.store(out + 109, O::splat(o.all(a == a) ? 1 : 0), 3);
  }
};

/// The same on the device.
void tile_ops(const std::vector<float>& x, std::vector<float>& out);

}  // namespace odrpo::gpu
