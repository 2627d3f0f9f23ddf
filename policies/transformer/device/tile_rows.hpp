// Computes the transformer's elementwise stages, norms and softmax over the vocabulary on tiles (kernels/device/tile_threads.hpp).
#pragma once
#include <cstddef>
#include <cstdint>

#include "policies/transformer/elementwise.hpp"
#include "policies/transformer/fixed_rows.hpp"

namespace odrpo::device {

// Each struct holds the arguments of one kernel; run(f, tile, i) computes item i. No item reads what another item of its launch writes.
// Shapes: B prompts of P tokens, S sequences (responses), V = vocabulary; rows and sites as in FixedRows.
/// Item i, row first + i: x = embedding of its token + embedding of its position. Rows behind their response's end use token 0.
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

/// Input of a norm (RMSNorm): x of all rows or, with `sites`, of the sites' rows. Inverses and outputs have one element for each, in order.
struct NormRows {
  FixedRows rows;
  bool sites;
  int width;
  const float *x, *gain;  ///< [rows][width], [width]
};
ODRPO_HD std::size_t norm_row(const NormRows& r, std::size_t n) {
  return static_cast<std::size_t>(r.sites ? row_of_site(r.rows, static_cast<int>(n)) : static_cast<int>(n)) * r.width;
}

/// Item i computes, for n = first + i: inverse[n] = 1 / sqrt(mean(x^2) + eps) and y[n] = gain x inverse.
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

/// Item i: adds the norm's gradient to dx of its row, and recomputes y[i] = gain x inverse.
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

/// The gradient of a norm's gain, in partial sums. Item (part, j) computes columns 8 j .. 8 j + 7 of part[part]: the sum of dy x inverse over
/// that part of the rows, in order.
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

/// Item i: floats 8 i .. 8 i + 7 of `to` += the sum of the same floats of `parts` arrays, `stride` floats apart, in order.
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

/// Item i: d <- d gelu'(x) of eight floats, and y = gelu(x) again.
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

// Softmax over the vocabulary for tiles: probabilities, picks, log-probabilities, the gradient by the logits.

/// ln sum e^(logit / temperature) of one row of logits, and its entropy (nats).
struct RowProbabilities {
  float log_total, entropy;
};
template <class O>
ODRPO_HD RowProbabilities probabilities_of(const O& o, int vocabulary, const float* logits, float inverse_temperature) {
  using F = typename O::F;
  F largest = O::splat(-1e30f);
  for (int a = 0; a < vocabulary; a += 8) largest = O::higher(largest, o.load(logits + a, vocabulary - a, -1e30f));
  const float top = o.largest(largest) * inverse_temperature;
  F total = O::splat(0), moment = O::splat(0);
  for (int a = 0; a < vocabulary; a += 8) {
    const F z = float_math::log_probability<O>(o.load(logits + a, vocabulary - a, -1e30f), inverse_temperature, top);
    const F e = float_math::exp_negative<O>(z);
    total += e;
    moment += e * z;
  }
  const float sum = o.sum(total), l = float_math::log_positive<float_math::ScalarLane>(sum);
  return {top + l, l - o.sum(moment) / sum};
}

/// Item i computes log_total and entropy (RowProbabilities) of row i of the logits.
struct Probabilities {
  int vocabulary;
  float inverse_temperature;
  const float* logits;         ///< [n][vocabulary]
  float *log_total, *entropy;  ///< [n]

  template <class O>
  ODRPO_HD void run(const Probabilities& f, const O& o, std::size_t i) {
    const RowProbabilities c = probabilities_of(o, f.vocabulary, f.logits + i * f.vocabulary, f.inverse_temperature);
    o.store(f.log_total + i, O::splat(c.log_total), 1);
    o.store(f.entropy + i, O::splat(c.entropy), 1);
  }
};

/// Item s: resets sequence s before its first pick.
struct BeginPicks {
  FixedRows rows;
  int end;
  std::uint16_t* token;  ///< [S][response]; this and the next two are the arrays of Pick
  float* log_probability;
  int* length;

  template <class O>
  ODRPO_HD void run(const BeginPicks& f, const O& o, std::size_t i) {
    const int longest = f.rows.response;
    for (int t = 0; t < longest; t += 8) {
      o.store(f.token + i * longest + t, O::splat(static_cast<float>(f.end < 0 ? 0 : f.end)), longest - t);
      o.store(f.log_probability + i * longest + t, O::splat(0), longest - t);
    }
    o.store(f.length + i, O::splat(static_cast<float>(longest)), 1);
  }
};

// A token's probability x after top-p; 0 if it is cut off. (least, last) = probability and index of the least likely token that stays.
template <class O>
ODRPO_HD typename O::F kept_probability(typename O::F x, typename O::F index, float least, float last) {
  using F = typename O::F;
  return x > least ? x : x == least ? (index <= last ? x : F{}) : F{};
}

/// Item s picks token t of sequence s by the random word[s][t], as pick() of tests/policies/transformer/definition.hpp does. Writes log_total and
/// entropy of the site. Nothing is picked for a sequence that has ended.
struct Pick {
  FixedRows rows;
  int vocabulary, t, end;
  float inverse_temperature, top_p;
  const float* logits;         ///< [sites][vocabulary]
  const std::uint32_t* word;   ///< [S][response]
  float *log_total, *entropy;  ///< [sites]
  std::uint16_t* token;        ///< [S][response]
  float* log_probability;           ///< [S][response]
  int* length;                 ///< [S]: length of each response; the greatest length until the end token is picked

  template <class O>
  ODRPO_HD void run(const Pick& f, const O& o, std::size_t i) {
    using F = typename O::F;
    const int s = static_cast<int>(i), v = f.vocabulary, site = site_of(f.rows, s, f.t);
    const float* logits = f.logits + static_cast<std::size_t>(site) * v;
    const RowProbabilities c = probabilities_of(o, v, logits, f.inverse_temperature);
    const bool alone = f.t > 0 || s % f.rows.per_prompt == 0;  // of the sequences that share a site, the first one writes
    o.store(f.log_total + site, O::splat(c.log_total), alone ? 1 : 0);
    o.store(f.entropy + site, O::splat(c.entropy), alone ? 1 : 0);
    const auto index = [&](int a) { return O::real(o.lane() + a); };
    // 0 past the vocabulary, even where NaN logits make log_total NaN
    const auto probability = [&](int a) {
      const F z = o.load(logits + a, v - a, -1e30f) * f.inverse_temperature - c.log_total;
      return index(a) < static_cast<float>(v) ? float_math::exp_negative<O>(O::lower(z, O::splat(0))) : F{};
    };
    // top-p: takes the likeliest tokens, the first of equals, until they hold the share top_p
    float least = -1, last = static_cast<float>(v), held = 0;
    if (f.top_p < 1) {
      least = 2, last = -1;
      bool more = true;
      while (o.most(more ? 1 : 0) > 0) {
        F best = O::splat(-1), at = O::splat(0);
        for (int a = 0; a < v; a += 8) {
          const F x = probability(a), k = index(a);
          const F left = x < least ? x : x == least ? (k > last ? x : O::splat(-1)) : O::splat(-1);
          at = left > best ? k : at;
          best = O::higher(best, left);
        }
        const float x = o.largest(best), k = -o.largest(best == x ? -at : O::splat(-1e9f));
        if (more && x >= 0) held += x, least = x, last = k;
        more = more && x >= 0 && held < f.top_p;
      }
    }
    float total = 0;
    for (int a = 0; a < v; a += 8) o.before(kept_probability<O>(probability(a), index(a), least, last), total);
    const std::size_t at = static_cast<std::size_t>(s) * f.rows.response + f.t;
    const float target = total * ((static_cast<float>(f.word[at] >> 8) + 0.5f) * 0x1p-24f);
    // the first token whose cumulative sum is above the target; if rounding leaves none, the last token that stays
    float sum = 0;
    F first = O::splat(1e9f), final = O::splat(-1);
    for (int a = 0; a < v; a += 8) {
      const F x = kept_probability<O>(probability(a), index(a), least, last), k = index(a), below = o.before(x, sum);
      const F hit = below + x > target ? k : O::splat(1e9f);
      first = O::lower(first, x == 0.0f ? O::splat(1e9f) : hit);
      final = O::higher(final, x == 0.0f ? O::splat(-1) : k);
    }
    const float found = -o.largest(-first), rest = o.largest(final), chosen = found < 1e9f ? found : rest;
    const bool going = f.length[s] > f.t;
    const int known = chosen > 0 ? static_cast<int>(chosen) : 0, w = known < v ? known : v - 1;  // a valid token in every case
    o.store(f.token + at, O::splat(static_cast<float>(w)), going ? 1 : 0);
    o.store(f.log_probability + at, O::splat(logits[w] * f.inverse_temperature - c.log_total), going ? 1 : 0);
    o.store(f.length + s, O::splat(static_cast<float>(f.t + 1)), going && w == f.end ? 1 : 0);
  }
};

/// Item i copies log-probabilities of tokens 8 i .. 8 i + 7 of [S][response] from the sites that chose them; 0 behind a response's end.
struct NoteProbabilities {
  FixedRows rows;
  int vocabulary;
  float inverse_temperature;
  const float *logits, *log_total;
  const std::uint16_t* token;
  const int* length;
  float* log_probability;  ///< [S][response]

  template <class O>
  ODRPO_HD void run(const NoteProbabilities& f, const O& o, std::size_t i) {
    const int n = sequences_of(f.rows) * f.rows.response, from = static_cast<int>(i) * 8;
    const typename O::F x = o.each([&](int l) {
      const int at = from + l < n ? from + l : n - 1, s = at / f.rows.response, t = at % f.rows.response;
      if (t >= f.length[s]) return 0.0f;
      const int site = site_of(f.rows, s, t);
      return f.logits[static_cast<std::size_t>(site) * f.vocabulary + f.token[at]] * f.inverse_temperature - f.log_total[site];
    });
    o.store(f.log_probability + from, x, n - from);
  }
};

/// Item i computes the derivatives of the objective by the logits of site i.
struct LogitGradient {
  FixedRows rows;
  int vocabulary;
  float inverse_temperature;
  const float *logits, *log_total, *entropy;
  const float *sum, *bonus;    ///< [sites]: sums over the site's tokens of coefficients and of entropy weights
  const float* coefficient;    ///< [S][response]; 0 behind a response's end
  const std::uint16_t* token;  ///< [S][response]
  float* d;                    ///< [sites][vocabulary]

  template <class O>
  ODRPO_HD void run(const LogitGradient& f, const O& o, std::size_t i) {
    using F = typename O::F;
    const int site = static_cast<int>(i), v = f.vocabulary, r = f.rows.response, here = site < f.rows.prompts;
    // a prompt's site chose the first tokens of its sequences, every other site one token
    const int after = site - f.rows.prompts, n = sequences_of(f.rows);
    const int s = here ? site * f.rows.per_prompt : after % n, t = here ? 0 : after / n + 1, count = here ? f.rows.per_prompt : 1;
    for (int a = 0; a < v; a += 8) {
      const F l = float_math::log_probability<O>(o.load(f.logits + i * v + a, v - a, -1e30f), f.inverse_temperature, f.log_total[i]);
      F x = float_math::logit_slope<O>(l, f.inverse_temperature, f.entropy[i], f.sum[i], f.bonus[i]);
      for (int k = 0; k < count; ++k) {
        const std::size_t at = static_cast<std::size_t>(s + k) * r + t;
        const int w = f.token[at];
        x = o.lane() + a == w ? x + f.inverse_temperature * f.coefficient[at] : x;
      }
      o.store(f.d + i * v + a, x, v - a);
    }
  }
};

}  // namespace odrpo::device
