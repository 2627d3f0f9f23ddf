// The transformer's elementwise stages and norms for tiles (kernels/device/tile.hpp): embedding, RMSNorm and its backward pass, GELU.
#pragma once
#include <cstddef>
#include <cstdint>

#include "policies/transformer/elementwise.hpp"
#include "policies/transformer/fixed_rows.hpp"

// A functor f is data; F::run(f, tile, i) does item i of its launch. No item reads what another item of the same launch writes.
namespace odrpo::device {

/// Item i: x[first + i] = token[its word] + position[its place]; rows whose response has ended before them take token 0.
struct Embed {
  FixedRows rows;
  int width, first;
  const std::uint16_t *prompt, *chosen;  ///< [B][P], [S][response]
  const int* length;                     ///< [S]
  const float *token, *position;         ///< [V][width], [context][width]
  float* x;                              ///< [rows][width]

  template <class O>
  ODRPO_HD void run(const Embed& f, const O& o, std::size_t i) {
    const int row = f.first + static_cast<int>(i);
    const RowPlace p = place_of(f.rows, row);
    const int t = p.at - f.rows.prompt;
    int id = 0;
    if (t < 0) id = f.prompt[row];
    else if (t + 1 < f.length[p.s]) id = f.chosen[static_cast<std::size_t>(p.s) * f.rows.response + t];
    const float *a = f.token + static_cast<std::size_t>(id) * f.width, *b = f.position + static_cast<std::size_t>(p.at) * f.width;
    float* x = f.x + static_cast<std::size_t>(row) * f.width;
    for (int j = 0; j < f.width; j += 8) o.store(x + j, o.load(a + j) + o.load(b + j));
  }
};

/// What a norm runs over: rows, or sites, whose x lies in their rows. Its inverses and what it gives lie in the order of what it runs over.
struct NormRows {
  FixedRows rows;
  bool sites;
  int width;
  const float *x, *gain;  ///< [rows][width], [width]
};
ODRPO_HD std::size_t norm_row(const NormRows& r, std::size_t n) {
  return static_cast<std::size_t>(r.sites ? row_of_site(r.rows, static_cast<int>(n)) : static_cast<int>(n)) * r.width;
}

/// Item i, for n = first + i: inverse[n] = 1 / sqrt(mean(x^2) + eps) and y[n] = gain x inverse.
struct Norm {
  NormRows of;
  int first;
  float *inverse, *y;  ///< [n], [n][width]

  template <class O>
  ODRPO_HD void run(const Norm& f, const O& o, std::size_t i) {
    const std::size_t n = f.first + i, width = f.of.width;
    const float* x = f.of.x + norm_row(f.of, n);
    typename O::F square = O::splat(0);
    for (std::size_t j = 0; j < width; j += 8) square += o.load(x + j) * o.load(x + j);
    const float inverse = 1.0f / __builtin_sqrtf(o.sum(square) / static_cast<float>(width) + float_math::norm_eps);
    o.store(f.inverse + n, O::splat(inverse), 1);
    for (std::size_t j = 0; j < width; j += 8) o.store(f.y + n * width + j, o.load(f.of.gain + j) * (o.load(x + j) * inverse));
  }
};

/// Item i: dx of its row += what the norm hands back, and y[i] = gain x inverse again.
struct NormBackward {
  NormRows of;
  const float *inverse, *dy;  ///< [n], [n][width]
  float *dx, *y;              ///< [rows][width], [n][width]

  template <class O>
  ODRPO_HD void run(const NormBackward& f, const O& o, std::size_t i) {
    using F = typename O::F;
    const std::size_t width = f.of.width, row = norm_row(f.of, i);
    const float *x = f.of.x + row, *dy = f.dy + i * width;
    F sum = O::splat(0);
    for (std::size_t j = 0; j < width; j += 8) sum += o.load(dy + j) * o.load(f.of.gain + j) * o.load(x + j);
    const float by = f.inverse[i], along = o.sum(sum) / static_cast<float>(width) * by * by;
    for (std::size_t j = 0; j < width; j += 8) {
      const F v = o.load(x + j), gain = o.load(f.of.gain + j);
      o.store(f.dx + row + j, o.load(f.dx + row + j) + by * (o.load(dy + j) * gain - v * along));
      o.store(f.y + i * width + j, gain * (v * by));
    }
  }
};

/// Item (part, j): columns 8 j .. 8 j + 7 of part[part] = sum of dy x inverse over that part of the rows, in order: a norm's gain's
/// gradient.
struct GainParts {
  NormRows of;
  int count, parts;
  const float *inverse, *dy;  ///< [count], [count][width]
  float* part;                ///< [parts][width]

  template <class O>
  ODRPO_HD void run(const GainParts& f, const O& o, std::size_t i) {
    const int width = f.of.width, columns = width / 8, part = static_cast<int>(i) / columns, j = static_cast<int>(i) % columns * 8;
    const int each = (f.count + f.parts - 1) / f.parts, begin = part * each, end = begin + each < f.count ? begin + each : f.count;
    typename O::F sum = O::splat(0);
    for (int r = begin; r < end; ++r) {
      const float *x = f.of.x + norm_row(f.of, r) + j, *dy = f.dy + static_cast<std::size_t>(r) * width + j;
      sum += o.load(dy) * (o.load(x) * f.inverse[r]);
    }
    o.store(f.part + static_cast<std::size_t>(part) * width + j, sum);
  }
};

/// Item i: floats 8 i .. 8 i + 7 of `to` += the sum of `parts` arrays that lie `stride` floats apart, in order.
struct AddParts {
  int parts;
  std::size_t stride;
  const float* part;
  float* to;

  template <class O>
  ODRPO_HD void run(const AddParts& f, const O& o, std::size_t i) {
    typename O::F sum = O::splat(0);
    for (int p = 0; p < f.parts; ++p) sum += o.load(f.part + p * f.stride + 8 * i);
    o.store(f.to + 8 * i, o.load(f.to + 8 * i) + sum);
  }
};

/// Item i: y = gelu(x) of eight floats.
struct Gelu {
  const float* x;
  float* y;

  template <class O>
  ODRPO_HD void run(const Gelu& f, const O& o, std::size_t i) {
    const typename O::F x = o.load(f.x + 8 * i);
    o.store(f.y + 8 * i, x * float_math::gelu_gate<O>(x));
  }
};

/// Item i: y = gelu(x) again and d <- d gelu'(x) of eight floats.
struct GeluBackward {
  const float* x;
  float *d, *y;

  template <class O>
  ODRPO_HD void run(const GeluBackward& f, const O& o, std::size_t i) {
    using F = typename O::F;
    const F x = o.load(f.x + 8 * i), s = float_math::gelu_gate<O>(x), h = x * s;
    o.store(f.y + 8 * i, h);
    o.store(f.d + 8 * i, o.load(f.d + 8 * i) * float_math::gelu_slope<O>(x, s, h));
  }
};

}  // namespace odrpo::device
