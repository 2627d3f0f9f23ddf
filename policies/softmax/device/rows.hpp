// Computes rows of a softmax policy (parameters, logits) with a tile, on a device or the host backend, with the bits of softmax_stage.cpp.
// A tile (kernels/device/tile_threads.hpp) deals actions to its eight lanes in turn: lane l has actions l, l + 8, l + 16, ….
#pragma once
#include <cstdint>

#include "kernels/float_math.hpp"
#include "policies/row_math.hpp"
#include "policies/softmax/stages.hpp"

namespace odrpo::device {

/// One row of parameters and its moments of Adam, `width` (a multiple of 32) floats each; see TableRows in stages.hpp.
struct Row {
  float *theta, *m, *v;
  int width, used;
  float unused;
};

/// The n pending steps of one row (Adam steps not yet applied), and the decay of its moments over them; see RowVisit in stages.hpp.
struct Pending {
  int n;
  const PendingStep* steps;
  float keep1, keep2;
};

/// Applies a row's pending steps and writes the parameters to `to`, which may be row.theta. Same bits as catch_up in softmax_stage.cpp.
template <class O>
ODRPO_HD void catch_up(const O& o, const Row& row, const Pending& pending, float eps, float* to) {
  using F = typename O::F;
  auto below = O::ones(o.load(row.v) < row_math::highest_square);
  for (int a = 8; a < row.width; a += 8) below &= O::ones(o.load(row.v + a) < row_math::highest_square);
  const bool four_at_once = o.all(below == 1) && row_math::eps_allows_four(eps);
  if (pending.n == 0) {
    if (to != row.theta)
      for (int a = 0; a < row.width; a += 8) o.store(to + a, o.load(row.theta + a));
    return;
  }
  for (int a = 0; a < row.width; a += 8) {  // one vector of 8: a thread's registers hold no more next to four steps' scalars
    const F m = o.load(row.m + a), root = O::sqrt(o.load(row.v + a));
    F x = o.load(row.theta + a);
    row_math::take_pending(pending.steps, pending.n, four_at_once, [&](const auto& some) { x = row_math::taken(some, x, m, root, eps); });
    o.store(to + a, x);
  }
  if (pending.steps->decay != 1.0f)
    for (int a = row.used / 8 * 8; a < row.width; a += 8) o.store(to + a, o.lane() + a >= row.used ? O::splat(row.unused) : o.load(to + a));
}

/// Updates the moments with a gradient (null = zero). Same bits as accumulate in softmax_stage.cpp.
template <class O>
ODRPO_HD void accumulate(const O& o, const Row& row, const Pending& pending, float rest1, float rest2, const float* gradient) {
  for (int a = 0; a < row.width; a += 8) {
    const typename O::F g = gradient ? o.load(gradient + a) : O::splat(0.0f);
    o.store(row.m + a, row_math::first_moment(pending.keep1, o.load(row.m + a), rest1, g));
    o.store(row.v + a, row_math::second_moment(pending.keep2, o.load(row.v + a), rest2, g));
  }
}

/// Plain gradient ascent: theta <- theta + rate gradient. Same bits as ascend in softmax_stage.cpp.
template <class O>
ODRPO_HD void ascend(const O& o, const Row& row, float rate, const float* gradient) {
  for (int a = 0; a < row.width; a += 8) o.store(row.theta + a, o.load(row.theta + a) + rate * o.load(gradient + a));
}

/// The largest element of a row.
template <class O>
ODRPO_HD float highest(const O& o, const float* x, int width) {
  typename O::F top = o.load(x);
  for (int a = 8; a < width; a += 8) top = O::higher(top, o.load(x + a));
  return o.largest(top);
}

/// Values x[j] of actions 8 j .. 8 j + 7 (of 32), and sum[j] = x[0] + … + x[j]: lane l adds up its actions l, l + 8, l + 16, l + 24.
template <class O>
struct Column {
  typename O::F x[4], sum[4];
};
template <class O>
ODRPO_HD Column<O> column_of(const O& o, const float* e) {
  Column<O> c;
  ODRPO_UNROLL
  for (int j = 0; j < 4; ++j) c.x[j] = o.load(e + 8 * j);
  c.sum[0] = c.x[0];
  ODRPO_UNROLL
  for (int j = 1; j < 4; ++j) c.sum[j] = c.sum[j - 1] + c.x[j];
  return c;
}

/// Writes e^(logit - max) to `e`, which may be `logits`. Returns their sum in sampling order. Same bits as softmax in softmax_stage.cpp.
template <class O>
ODRPO_HD float exponents(const O& o, const float* logits, int width, float* e) {
  const float top = highest(o, logits, width);
  float total = 0;
  for (int a = 0; a < width; a += 32) {
    ODRPO_UNROLL
    for (int j = 0; j < 4; ++j) o.store(e + a + 8 * j, float_math::exp_negative<O>(o.load(logits + a + 8 * j) - top));
    o.before(column_of(o, e + a).sum[3], total);
  }
  return total;
}

/// Samples action[rollouts] by inverse CDF, from `words` random words and e and total of exponents(). Same bits as sample in softmax_stage.cpp.
template <class O>
ODRPO_HD void sample(const O& o, const float* e, float total, int width, int rollouts, const std::uint32_t* word, int words,
                     std::uint16_t* action) {
  using F = typename O::F;
  using I = typename O::I;
  const float below_total = float_math::ScalarLane::floats(float_math::ScalarLane::bits(total) - 1);
  for (int i = 0; i < rollouts; i += 8) {
    const F u = (O::real((I)(o.load(word + i, words - i, std::uint32_t{0}) >> 9)) + 0.5f) * 0x1p-23f;
    const F v = O::lower(u * total, O::splat(below_total));
    I rank = {};
    float running = 0;
    for (int a = 0; a < width; a += 32) {
      const Column<O> c = column_of(o, e + a);
      const F before = o.before(c.sum[3], running), last = before + c.sum[3];
      I column = {};
      ODRPO_UNROLL
      for (int l = 0; l < 8; ++l) column += O::ones(O::splat(o.at(last, l)) <= v);
      const I inside = column & 7;
      I within = {};
      ODRPO_UNROLL
      for (int j = 0; j < 3; ++j) within += O::ones(o.lookup(before + c.sum[j], inside) <= v);
      rank += 4 * column + (column < 8 ? within : I{});
    }
    o.store(action + i, (rank & ~31) | ((rank & 3) << 3) | ((rank & 31) >> 2), rollouts - i);
  }
}

/// Turns the exponents `e` into probabilities e / total, in place.
template <class O>
ODRPO_HD void normalise(const O& o, float total, int width, float* e) {
  const float inverse = 1.0f / total;
  for (int a = 0; a < width; a += 8) o.store(e + a, o.load(e + a) * inverse);
}

/// Exact expected quality and entropy (nats) of one row's softmax. Same bits as exact in softmax_stage.cpp.
struct RowMeans {
  float quality, entropy;
};
template <class O>
ODRPO_HD RowMeans row_means(const O& o, const float* logits, const float* quality, int width) {
  using F = typename O::F;
  const float top = highest(o, logits, width);
  F s[4], sq[4], sx[4];
  ODRPO_UNROLL
  for (int j = 0; j < 4; ++j) s[j] = sq[j] = sx[j] = O::splat(0.0f);
  for (int a = 0; a < width; a += 32) {
    ODRPO_UNROLL
    for (int j = 0; j < 4; ++j) {
      const F d = o.load(logits + a + 8 * j) - top, e = float_math::exp_negative<O>(d);
      s[j] += e;
      sq[j] += e * o.load(quality + a + 8 * j);
      sx[j] += e * d;
    }
  }
  const float sum = float_math::sum_lanes(o, s);
  return {float_math::sum_lanes(o, sq) / sum, float_math::log_positive<float_math::ScalarLane>(sum) - float_math::sum_lanes(o, sx) / sum};
}

/// Replaces pi by the gradient by the logits: g[a] = sum_i c_i (1[a = a_i] - pi_a), c_i = coefficient[i]. `sum`: the c_i, added eight at a time.
template <class O>
ODRPO_HD void spread(const O& o, float* pi, int width, const std::uint16_t* action, const float* coefficient, int rollouts, float sum) {
  using F = typename O::F;
  const float all = -sum;
  for (int a = 0; a < width; a += 32) {
    F g[4];
    ODRPO_UNROLL
    for (int j = 0; j < 4; ++j) g[j] = o.load(pi + a + 8 * j) * all;
    for (int i = 0; i < rollouts; ++i) {
      const int chosen = action[i] - a;
      ODRPO_UNROLL
      for (int j = 0; j < 4; ++j) g[j] = o.lane() + 8 * j == chosen ? g[j] + coefficient[i] : g[j];
    }
    ODRPO_UNROLL
    for (int j = 0; j < 4; ++j) o.store(pi + a + 8 * j, g[j]);
  }
}

/// Writes the logits of the linear policy from a prompt's features [F][width]. Same bits as linear_logits in softmax_stage.cpp.
template <class O>
ODRPO_HD void linear_logits(const O& o, const float* feature, const float* theta, int features, int width, int actions, float* logits) {
  using F = typename O::F;
  for (int a = 0; a < width; a += 32) {
    F s[4];
    ODRPO_UNROLL
    for (int j = 0; j < 4; ++j) s[j] = o.lane() + (a + 8 * j) < actions ? O::splat(0.0f) : O::splat(padding);
    for (int f = 0; f < features; ++f) {
      ODRPO_UNROLL
      for (int j = 0; j < 4; ++j) s[j] += theta[f] * o.load(feature + static_cast<std::size_t>(f) * width + a + 8 * j);
    }
    ODRPO_UNROLL
    for (int j = 0; j < 4; ++j) o.store(logits + a + 8 * j, s[j]);
  }
}

/// Returns the linear policy's gradient by parameter f from the logits' gradients of `rows` prompts; as linear_gradient in softmax_stage.cpp.
template <class O>
ODRPO_HD float linear_gradient(const O& o, const float* features_of_all, const float* logit_gradient, const std::uint16_t* prompt, int rows,
                               int features, int width, int f) {
  typename O::F sum = O::splat(0.0f);
  for (int b = 0; b < rows; ++b) {
    const float* g = logit_gradient + static_cast<std::size_t>(b) * width;
    const float* x = features_of_all + (static_cast<std::size_t>(prompt[b]) * features + f) * width;
    for (int a = 0; a < width; a += 32) {
      const auto part = [&](int j) { return o.load(g + a + j) * o.load(x + a + j); };
      sum += (part(0) + part(16)) + (part(8) + part(24));
    }
  }
  return o.sum(sum);
}

/// Inner product of two arrays of n floats, added up in 32 lanes; n a multiple of 32. Same bits as dot in softmax_stage.cpp.
template <class O>
ODRPO_HD float dot(const O& o, const float* x, const float* y, int n) {
  using F = typename O::F;
  F s[4];
  ODRPO_UNROLL
  for (int j = 0; j < 4; ++j) s[j] = O::splat(0.0f);
  for (int i = 0; i < n; i += 32) {
    ODRPO_UNROLL
    for (int j = 0; j < 4; ++j) s[j] += o.load(x + i + 8 * j) * o.load(y + i + 8 * j);
  }
  return float_math::sum_lanes(o, s);
}

}  // namespace odrpo::device
