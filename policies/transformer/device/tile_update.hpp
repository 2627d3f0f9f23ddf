// Computes the end of an update on tiles: gradients of the embeddings, the gradient's norm and clip, Adam or plain ascent.
#pragma once
#include <cstddef>
#include <cstdint>

#include "policies/row_math.hpp"
#include "policies/transformer/elementwise.hpp"
#include "policies/transformer/fixed_rows.hpp"

namespace odrpo::device {

/// The gradient of the token embedding, in partial sums. Item (part, j) adds columns 8 j .. 8 j + 7 of dx to part[part][the row's token], for
/// each row of that part in order. `part` must be zeros at first.
struct TokenParts {
  FixedRows rows;
  int width, vocabulary, parts;
  const std::uint16_t *prompt, *chosen;  ///< [B][P] and [S][response], as in Embed
  const int* length;
  const float* dx;  ///< [rows][width]
  float* part;      ///< [parts][vocabulary][width]

  template <class O>
  ODRPO_HD void run(const TokenParts& f, const O& o, std::size_t i) {
    const int columns = f.width / 8, part = static_cast<int>(i) / columns, j = static_cast<int>(i) % columns * 8, n = rows_of(f.rows);
    const int each = (n + f.parts - 1) / f.parts, begin = part * each, end = begin + each < n ? begin + each : n;
    float* to = f.part + static_cast<std::size_t>(part) * f.vocabulary * f.width + j;
    for (int row = begin; row < end; ++row) {
      const RowPlace p = place_of(f.rows, row);
      const int t = p.at - f.rows.prompt;
      if (t >= 0 && t + 1 >= f.length[p.s]) continue;
      const int id = t < 0 ? f.prompt[row] : f.chosen[static_cast<std::size_t>(p.s) * f.rows.response + t];
      float* sum = to + static_cast<std::size_t>(id) * f.width;
      o.store(sum, o.load(sum) + o.load(f.dx + static_cast<std::size_t>(row) * f.width + j));
    }
  }
};

/// The gradient of the position embedding, in partial sums. Item (part, position, j) computes columns 8 j .. 8 j + 7 of part[part][position]:
/// the sum of dx over that part of the rows at the position, in order.
struct PositionParts {
  FixedRows rows;
  int width, parts;
  const float* dx;
  float* part;  ///< [parts][context][width]

  template <class O>
  ODRPO_HD void run(const PositionParts& f, const O& o, std::size_t i) {
    const int columns = f.width / 8, context = f.rows.prompt + f.rows.response, k = static_cast<int>(i) / columns;
    const int j = static_cast<int>(i) % columns * 8, part = k / context, at = k % context;
    // the last position has no row, since a response's last token is no input
    const bool prompt = at < f.rows.prompt;
    const int n = prompt ? f.rows.prompts : at + 1 < context ? sequences_of(f.rows) : 0;
    const int first = prompt ? at : first_of(f.rows, at - f.rows.prompt), step = prompt ? f.rows.prompt : 1;
    const int each = (n + f.parts - 1) / f.parts, begin = part * each, end = begin + each < n ? begin + each : n;
    typename O::F sum = O::splat(0);
    for (int r = begin; r < end; ++r) sum += o.load(f.dx + static_cast<std::size_t>(first + r * step) * f.width + j);
    o.store(f.part + static_cast<std::size_t>(k) * f.width + j, sum);
  }
};

inline constexpr std::size_t square_stretch = 2048;

/// Item i: part[i] = sum of squares of floats 2048 i .. 2048 i + 2047; n (a multiple of 8) floats in all.
struct SquareParts {
  std::size_t n;
  const float* x;
  float* part;

  template <class O>
  ODRPO_HD void run(const SquareParts& f, const O& o, std::size_t i) {
    const std::size_t begin = i * square_stretch, end = begin + square_stretch < f.n ? begin + square_stretch : f.n;
    typename O::F sum = O::splat(0);
    for (std::size_t j = begin; j < end; j += 8) sum += o.load(f.x + j) * o.load(f.x + j);
    o.store(f.part + i, O::splat(o.sum(sum)), 1);
  }
};

/// One item: norm[0] = the gradient's norm, norm[1] = the factor that brings it down to `clip` (0 = no clip).
struct ClipFactor {
  int parts;
  float clip;
  const float* part;
  float* norm;

  template <class O>
  ODRPO_HD void run(const ClipFactor& f, const O& o, std::size_t) {
    double sum = 0;
    for (int p = 0; p < f.parts; ++p) sum += f.part[p];
    const float norm = __builtin_sqrtf(static_cast<float>(sum));
    o.store(f.norm, O::splat(norm), 1);
    o.store(f.norm + 1, O::splat(row_math::clip_factor(norm, f.clip)), 1);
  }
};

/// The scalars that change from step to step. They lie in device memory, so that the queued work is the same in every step. Adam uses rate,
/// scale and decay as in PendingStep, and eps; plain ascent uses the rate alone.
struct UpdateScalars {
  float rate, scale, decay, eps;
};

/// Item i: one ascent step of Adam on eight weights, as AdamStep says; the gradient is multiplied by norm[1], which clips it.
struct Adam {
  float beta1, beta2;
  const UpdateScalars* step;
  const float *norm, *gradient;
  float *theta, *m, *v;

  template <class O>
  ODRPO_HD void run(const Adam& f, const O& o, std::size_t i) {
    using F = typename O::F;
    const F g = o.load(f.gradient + 8 * i) * f.norm[1];
    const F first = f.beta1 * o.load(f.m + 8 * i) + (1.0f - f.beta1) * g;
    const F second = f.beta2 * o.load(f.v + 8 * i) + (1.0f - f.beta2) * (g * g);
    o.store(f.m + 8 * i, first);
    o.store(f.v + 8 * i, second);
    const UpdateScalars s = *f.step;
    o.store(f.theta + 8 * i, s.decay * o.load(f.theta + 8 * i) + s.rate * first / (O::sqrt(second) * s.scale + s.eps));
  }
};

/// Item i: one plain ascent step on eight weights, theta += rate norm[1] gradient.
struct Ascend {
  const UpdateScalars* step;
  const float *norm, *gradient;
  float* theta;

  template <class O>
  ODRPO_HD void run(const Ascend& f, const O& o, std::size_t i) {
    o.store(f.theta + 8 * i, o.load(f.theta + 8 * i) + f.step->rate * f.norm[1] * o.load(f.gradient + 8 * i));
  }
};

}  // namespace odrpo::device
