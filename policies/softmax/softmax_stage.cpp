// Implements the softmax policies' stages for one instruction set; compiled once for each, into its own namespace.
#include <type_traits>

#include "kernels/math.hpp"
#include "kernels/simd.hpp"
#include "policies/row_math.hpp"
#include "policies/softmax/stages.hpp"

namespace odrpo::ODRPO_ISA {

// Calls f with a width, and with a number of rollouts: as constants for 32 actions and groups of 8, so that loops over them are unrolled.
template <class F>
static inline auto with_width(int width, F f) {
  return width == 32 ? f(std::integral_constant<int, 32>{}) : f(width);
}
template <class F>
static inline auto with_shape(int width, int rollouts, F f) {
  return width == 32 && rollouts == 8 ? f(std::integral_constant<int, 32>{}, std::integral_constant<int, 8>{}) : f(width, rollouts);
}

// Adam on rows that are visited irregularly. Between visits a row's gradient is zero: its moments only decay. The steps in between are
// applied at the next visit (RowVisit in stages.hpp).

template <class Width>
static inline void catch_up_rows(const TableRows& rows, const RowVisit* visits, int count, float eps, float* out, Width width) {
  for (int i = 0; i < count; ++i) {
    const RowVisit& visit = visits[i];
    const std::size_t at = static_cast<std::size_t>(visit.row) * width;
    const float *from = rows.theta + at, *m = rows.m + at, *root = rows.root + at;
    float* to = out ? out + static_cast<std::size_t>(visit.place) * width : rows.theta + at;
    f32x8 largest = load(root);
    for (int a = 8; a < width; a += 8) largest = max(largest, load(root + a));
    const bool four_at_once = row_math::eps_allows_four(eps) && count_true(largest < row_math::highest_root) == 8;
    for (int a = 0; a < width && (visit.n > 0 || out); a += 32) {
      Lanes x = load_lanes(from + a);
      const Lanes first = load_lanes(m + a), roots = load_lanes(root + a);
      row_math::take_pending(visit.steps, visit.n, four_at_once, [&](const auto& some) {
        x = each([&](wide p, wide moment, wide r) { return row_math::taken(some, p, moment, r, eps); }, x, first, roots);
      });
      store(to + a, x);
    }
    // weight decay must not change the padding
    if (visit.n > 0 && visit.steps->decay != 1.0f)
      for (int a = rows.used; a < width; ++a) to[a] = rows.unused;
  }
}

static void catch_up(const TableRows& rows, const RowVisit* visits, int count, float eps, float* out) {
  with_width(rows.width, [&](auto width) { catch_up_rows(rows, visits, count, eps, out, width); });
}

template <class Width>
static inline void accumulate_rows(const TableRows& rows, const RowVisit* visits, int count, float rest1, float rest2, const float* gradient, Width width) {
  for (int i = 0; i < count; ++i) {
    const std::size_t at = static_cast<std::size_t>(visits[i].row) * width;
    float *m = rows.m + at, *v = rows.v + at;
    const float keep1 = visits[i].keep1, keep2 = visits[i].keep2;
    const float* g = gradient ? gradient + static_cast<std::size_t>(i) * width : nullptr;
    for (int a = 0; a < width; a += wide_lanes) {
      const wide x = g ? load_wide(g + a) : wide{};
      store(m + a, row_math::first_moment(keep1, load_wide(m + a), rest1, x));
      const wide square = row_math::second_moment(keep2, load_wide(v + a), rest2, x);
      store(v + a, square);
      store(rows.root + at + a, sqrt(square));
    }
  }
}

static void accumulate(const TableRows& rows, const RowVisit* visits, int count, float rest1, float rest2, const float* gradient) {
  with_width(rows.width, [&](auto width) { accumulate_rows(rows, visits, count, rest1, rest2, gradient, width); });
}

static void ascend(const TableRows& rows, const RowVisit* visits, int count, float rate, const float* gradient) {
  for (int i = 0; i < count; ++i) {
    float* theta = rows.theta + static_cast<std::size_t>(visits[i].row) * rows.width;
    const float* g = gradient + static_cast<std::size_t>(i) * rows.width;
    for (int a = 0; a < rows.width; a += wide_lanes) store(theta + a, load_wide(theta + a) + rate * load_wide(g + a));
  }
}

// Logits and gradient of the linear policy. Features are [prompt][feature][action], so that a vector holds neighbouring actions.

static void linear_logits(const float* feature, const float* theta, const float* bias, const std::uint32_t* row, int count, int features,
                          int width, float* logits) {
  for (int b = 0; b < count; ++b) {
    const float* x = feature + static_cast<std::size_t>(row ? row[b] : static_cast<std::uint32_t>(b)) * features * width;
    float* out = logits + static_cast<std::size_t>(b) * width;
    for (int a = 0; a < width; a += 32) {
      Lanes sum = load_lanes(bias + a);
      for (int f = 0; f < features; ++f) {
        const wide t = splat_wide(theta[f]);
        sum = each([&](wide s, wide of) { return s + t * of; }, sum, load_lanes(x + f * width + a));
      }
      store(out + a, sum);
    }
  }
}

// Computes the gradient by `some` features together, so that their sums stay in registers. Folds 32 lanes to 8 before it adds over prompts.
template <int some>
static inline void gradient_block(const float* feature, const float* logit_gradient, const std::uint32_t* row, int count, int features,
                                  int width, int first, float* gradient) {
  f32x8 sum[some];
  for (int f = 0; f < some; ++f) sum[f] = splat(0);
  for (int b = 0; b < count; ++b) {
    const float* g = logit_gradient + static_cast<std::size_t>(b) * width;
    const float* x = feature + (static_cast<std::size_t>(row[b]) * features + first) * width;
    for (int a = 0; a < width; a += 32) {
      const Lanes by_logit = load_lanes(g + a);
      ODRPO_UNROLL
      for (int f = 0; f < some; ++f) sum[f] += fold(each([](wide y, wide z) { return y * z; }, by_logit, load_lanes(x + f * width + a)));
    }
  }
  for (int f = 0; f < some; ++f) gradient[first + f] = add_halves(sum[f]);
}

static void linear_gradient(const float* feature, const float* logit_gradient, const std::uint32_t* row, int count, int features, int width,
                            float* gradient) {
  int f = 0;
  for (; f + 8 <= features; f += 8) gradient_block<8>(feature, logit_gradient, row, count, features, width, f, gradient);
  for (; f < features; ++f) gradient_block<1>(feature, logit_gradient, row, count, features, width, f, gradient);
}

// Softmax over rows, sampling by inverse CDF, and the gradient by the logits, for rollouts of the present policy or of an earlier one.
// Sampling order: 32 actions are four vectors V0..V3 of 8; the running sum goes down the column of lane l (actions l, l+8, l+16, l+24),
// then to lane l+1. The sums never decrease, because each one extends the one before. They need 3 vector additions and one chain of 8
// additions instead of a chain of 32.

// Works on eight rows together. Work along a row (its maximum, the chain of 8) then becomes vector work, with one row per lane.
template <class Width>
static inline void softmax_rows(const float* logits, const std::uint32_t* row, int count, Width width, const SoftmaxRows& out) {
  for (int first = 0; first < count; first += 8) {
    const int here = count - first < 8 ? count - first : 8;
    const float* x[8];
    float *e[8], *c[8];
    for (int r = 0; r < 8; ++r) {  // past the end repeats the last row
      const std::size_t i = static_cast<std::size_t>(first + (r < here ? r : here - 1));
      x[r] = logits + (row ? row[i] : i) * width;
      e[r] = out.probability + i * width;
      c[r] = out.cumulative + i * width;
    }
    f32x8 top[8];
    for (int r = 0; r < 8; ++r) {
      top[r] = load(x[r]);
      for (int a = 8; a < width; a += 8) top[r] = max(top[r], load(x[r] + a));
    }
    float shift[8];
    store(shift, max_rows(top));
    f32x8 total = splat(0);
    for (int a = 0; a < width; a += 32) {
      // computes e^(x - max), and its running sums down each column of four
      f32x8 column[8];
      for (int r = 0; r < 8; ++r) {
        const wide h = splat_wide(shift[r]);
        const Lanes powers = each([&](wide of) { return exp_negative(of - h); }, load_lanes(x[r] + a));
        const f32x8 e0 = eight_of(powers, 0), s1 = e0 + eight_of(powers, 1), s2 = s1 + eight_of(powers, 2), s3 = s2 + eight_of(powers, 3);
        store(e[r] + a, powers);
        store(c[r] + a, e0);
        store(c[r] + a + 8, s1);
        store(c[r] + a + 16, s2);
        store(c[r] + a + 24, s3);
        column[r] = s3;
      }
      // replaces each column's sum by the sum before it; between the two transposes a lane holds a row
      transpose(column);
      for (int l = 0; l < 8; ++l) {
        const f32x8 sum = column[l];
        column[l] = total;
        total = total + sum;
      }
      transpose(column);
      for (int r = 0; r < here; ++r)
        for (int j = 0; j < 32; j += 8) store(c[r] + a + j, column[r] + load(c[r] + a + j));
    }
    const f32x8 inverse = 1.0f / total;
    for (int r = 0; r < here; ++r) {
      out.total[first + r] = total[r];
      const wide scale = splat_wide(inverse[r]);
      for (int a = 0; a < width; a += wide_lanes) store(e[r] + a, load_wide(e[r] + a) * scale);
    }
  }
}

static void softmax(const float* logits, const std::uint32_t* row, int count, int width, const SoftmaxRows& out) {
  with_width(width, [&](auto known) { softmax_rows(logits, row, count, known, out); });
}

static ExactMeans exact(const float* logits, const float* quality, int count, int width, int actions) {
  double sum_quality = 0, sum_entropy = 0;  // sums over rows, in order
  for (int first = 0; first < count; first += 8) {
    const int here = count - first < 8 ? count - first : 8;
    const float *x[8], *q[8];
    f32x8 top[8], z[8], zq[8], zx[8];  // of a row: maximum; sums of e, e q, e (x - max), lanes folded 32 to 8
    for (int r = 0; r < 8; ++r) {      // past the end repeats the last row
      const std::size_t at = static_cast<std::size_t>(first + (r < here ? r : here - 1)) * width;
      x[r] = logits + at;
      q[r] = quality + at;
      top[r] = load(x[r]);
      for (int a = 8; a < width; a += 8) top[r] = max(top[r], load(x[r] + a));
    }
    float shift[8];
    store(shift, max_rows(top));
    for (int r = 0; r < 8; ++r) {
      const wide highest = splat_wide(shift[r]);
      Lanes s = zero_lanes(), sq = zero_lanes(), sx = zero_lanes();
      for (int a = 0; a < width; a += 32) {
        ODRPO_UNROLL
        for (int j = 0; j < 32 / wide_lanes; ++j) {
          const wide d = load_wide(x[r] + a + wide_lanes * j) - highest, e = exp_negative(d);
          s.v[j] += e;
          sq.v[j] += e * load_wide(q[r] + a + wide_lanes * j);
          sx.v[j] += e * d;
        }
      }
      z[r] = fold(s);
      zq[r] = fold(sq);
      zx[r] = fold(sx);
    }
    // E[q] = sum e q / sum e;  -sum pi ln pi = ln sum e - sum e (x - max) / sum e
    const f32x8 sums = add_rows(z), means = add_rows(zq) / sums, entropies = log_positive(sums) - add_rows(zx) / sums;
    for (int r = 0; r < here; ++r) {
      sum_quality += static_cast<double>(means[r]);
      sum_entropy += static_cast<double>(entropies[r]);
    }
  }
  ExactMeans means;
  means.quality = sum_quality / count;
  means.entropy = sum_entropy / count;
  // KL to the uniform policy = ln(actions) - entropy. The logarithm is the stage's own, so that the uniform policy's KL is exactly 0.
  const double kl = static_cast<double>(log_positive(splat(static_cast<float>(actions)))[0]) - means.entropy;
  means.kl = kl > 0 ? kl : 0;
  return means;
}

template <class Width, class Rollouts>
static inline void sample_rows(const SoftmaxRows& rows, int count, Width width, Rollouts rollouts, const std::uint32_t* word, int blocks,
                               std::uint16_t* action) {
  for (int b = 0; b < count; ++b) {
    const float* c = rows.cumulative + static_cast<std::size_t>(b) * width;
    const float total = rows.total[b];
    // keeps every threshold below the total, so that the action found has a larger sum than its predecessor, that is a positive probability
    const float below_total = __builtin_bit_cast(float, __builtin_bit_cast(std::int32_t, total) - 1);
    for (int i = 0; i < rollouts; i += 8) {
      // the words of a prompt are a multiple of 4: load a vector of 8 only where 8 are left
      u32x8 w = {};
      const std::uint32_t* from = word + static_cast<std::size_t>(b) * blocks * 4 + i;
      const int here = blocks * 4 - i;
      if (here >= 8) w = load(from);
      else
        for (int l = 0; l < here; ++l) w[l] = from[l];
      // u = midpoint of one of 2^23 equal cells, since u = 0 would choose the first action however small its probability
      const f32x8 u = (__builtin_convertvector((i32x8)(w >> 9), f32x8) + 0.5f) * 0x1p-23f;
      const f32x8 v = min(u * total, splat(below_total));
      // rank = number of sums <= v. Per 32 actions: 4 for each column that ends at or below v, then the next column's first three sums.
      i32x8 rank = {};
      for (int a = 0; a < width; a += 32) {
        i32x8 column = {};
        ODRPO_UNROLL
        for (int l = 0; l < 8; ++l) column -= (i32x8)(splat(c[a + 24 + l]) <= v);
        const i32x8 inside = column & 7;
        i32x8 within = {};
        ODRPO_UNROLL
        for (int j = 0; j < 3; ++j) within -= (i32x8)(lookup(load(c + a + 8 * j), inside) <= v);
        rank += 4 * column + (within & (column < 8));
      }
      // converts the rank in sampling order to the action
      const i32x8 arm = (rank & ~31) | ((rank & 3) << 3) | ((rank & 31) >> 2);
      const int most = rollouts - i < 8 ? rollouts - i : 8;
      for (int l = 0; l < most; ++l) action[b * rollouts + i + l] = static_cast<std::uint16_t>(arm[l]);
    }
  }
}

static void sample(const SoftmaxRows& rows, int count, int width, int rollouts, const std::uint32_t* word, int blocks, std::uint16_t* action) {
  with_shape(width, rollouts, [&](auto w, auto r) { sample_rows(rows, count, w, r, word, blocks, action); });
}

// g[a] = sum_i c_i (1[a = a_i] - pi_a); `sums`: the c_i, added up eight rollouts at a time.
template <class Width, class Rollouts>
static inline void spread(const float* pi, Width width, const std::uint16_t* chosen, const float* coefficient, Rollouts rollouts, f32x8 sums,
                          float* g) {
  const float sum = add_halves(sums);
  const wide all = splat_wide(-sum);
  for (int a = 0; a < width; a += wide_lanes) store(g + a, load_wide(pi + a) * all);
  for (int i = 0; i < rollouts; ++i) g[chosen[i]] += coefficient[i];
}

template <class Width, class Rollouts>
static inline void logit_gradient_rows(const SoftmaxRows& rows, int count, Width width, Rollouts rollouts, const std::uint16_t* action,
                                       const float* advantage, float kl, float reference, float scale, float* gradient) {
  for (int b = 0; b < count; ++b) {
    const float* pi = rows.probability + static_cast<std::size_t>(b) * width;
    const std::uint16_t* chosen = action + b * rollouts;
    const float* advantages = advantage + b * rollouts;
    // c_i, eight rollouts a vector; lanes past the last rollout are 0
    float coefficient[256];
    f32x8 sums = splat(0);
    for (int i = 0; i < rollouts; i += 8) {
      const f32x8 probability = gather(pi, chosen + i, rollouts - i, 1.0f), a = load_some(advantages + i, rollouts - i, 0.0f);
      f32x8 c = row_math::penalised(a, probability, kl, reference) * scale;
      for (int l = rollouts - i; l < 8; ++l) c[l] = 0;
      store(coefficient + i, c);
      sums += c;
    }
    spread(pi, width, chosen, coefficient, rollouts, sums, gradient + static_cast<std::size_t>(b) * width);
  }
}

static void logit_gradient(const SoftmaxRows& rows, int count, int width, int rollouts, const std::uint16_t* action, const float* advantage,
                           float kl, float reference, float scale, float* gradient) {
  with_shape(width, rollouts,
             [&](auto w, auto r) { logit_gradient_rows(rows, count, w, r, action, advantage, kl, reference, scale, gradient); });
}

// A vector mask for eight rollouts, of which the first n exist: true for those that mask[] keeps.
static inline i32x8 lanes_of_mask(const std::uint8_t* mask, int n) {
  typedef std::uint8_t u8x8 __attribute__((vector_size(8)));
  u8x8 k = {};
  for (int l = 0; l < 8 && l < n; ++l) k[l] = mask[l];
  return __builtin_convertvector(k, i32x8) != 0;
}

static int coefficients(const SoftmaxRows& rows, int count, int width, int rollouts, const std::uint16_t* action, const float* advantage,
                        const RolloutWeights& w, float* out) {
  int clipped = 0;
  for (int b = 0; b < count; ++b) {
    const float* pi = rows.probability + static_cast<std::size_t>(b) * width;
    for (int i = 0; i < rollouts; i += 8) {
      const int first = b * rollouts + i, here = rollouts - i;
      const f32x8 probability = gather(pi, action + first, here, 1.0f), a = load_some(advantage + first, here, 0.0f);
      const i32x8 part = w.mask ? lanes_of_mask(w.mask + first, here) : i32x8{} == 0;
      f32x8 c;
      if (w.old_probability) {
        const f32x8 ratio = probability / load_some(w.old_probability + first, here, 1.0f);
        const i32x8 over = ((a > 0) & (ratio > w.highest)) | ((a < 0) & (ratio < w.lowest));
        clipped += count_true(over & part);
        c = row_math::penalised(over ? splat(0) : a * ratio, max(probability, splat(smallest_probability)), w.kl, w.reference);
      } else {
        c = row_math::penalised(a, probability, w.kl, w.reference);
      }
      c = part ? c * w.scale : splat(0);
      if (here >= 8) store(out + first, c);
      else
        for (int l = 0; l < here; ++l) out[first + l] = c[l];
    }
  }
  return clipped;
}

static void logit_gradient_by(const SoftmaxRows& rows, int count, int width, int rollouts, const std::uint16_t* action,
                              const float* coefficient, float* gradient) {
  for (int b = 0; b < count; ++b) {
    const float* c = coefficient + b * rollouts;
    f32x8 sums = splat(0);
    for (int i = 0; i < rollouts; i += 8) sums += load_some(c + i, rollouts - i, 0.0f);
    const std::size_t at = static_cast<std::size_t>(b) * width;
    spread(rows.probability + at, width, action + b * rollouts, c, rollouts, sums, gradient + at);
  }
}

static float dot(const float* a, const float* b, int n) {
  Lanes s = zero_lanes();
  for (int i = 0; i < n; i += 32) s = each([](wide sum, wide x, wide y) { return sum + x * y; }, s, load_lanes(a + i), load_lanes(b + i));
  return add_halves(s);
}

static void scale(float* a, float factor, int n) {
  for (int i = 0; i < n; i += 8) store(a + i, load(a + i) * factor);
}

extern const PolicyStages policy_table;
const PolicyStages policy_table = {catch_up,     accumulate,        ascend,        softmax,         exact, sample, logit_gradient,
                                   coefficients, logit_gradient_by, linear_logits, linear_gradient, dot,   scale};

}  // namespace odrpo::ODRPO_ISA
