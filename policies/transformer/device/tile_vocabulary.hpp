// Softmax over the vocabulary for tiles: chances, picks, log-probabilities, the gradient by the logits.
#pragma once
#include <cstddef>
#include <cstdint>

#include "policies/transformer/elementwise.hpp"
#include "policies/transformer/fixed_rows.hpp"

namespace odrpo::device {

/// What one row of logits says: ln of its total under the temperature, and its entropy.
struct RowChances {
  float log_total, entropy;
};
template <class O>
ODRPO_HD RowChances chances_of(const O& o, int vocabulary, const float* logits, float inverse_temperature) {
  using F = typename O::F;
  F largest = O::splat(-1e30f);
  for (int a = 0; a < vocabulary; a += 8) largest = O::higher(largest, o.load(logits + a, vocabulary - a, -1e30f));
  const float top = o.largest(largest) * inverse_temperature;
  F total = O::splat(0), moment = O::splat(0);
  for (int a = 0; a < vocabulary; a += 8) {
    const F z = float_math::log_chance<O>(o.load(logits + a, vocabulary - a, -1e30f), inverse_temperature, top);
    const F e = float_math::exp_negative<O>(z);
    total += e;
    moment += e * z;
  }
  const float sum = o.sum(total), l = float_math::log_positive<float_math::ScalarLane>(sum);
  return {top + l, l - o.sum(moment) / sum};
}

/// Item i: log_total and entropy of row i.
struct Chances {
  int vocabulary;
  float inverse_temperature;
  const float* logits;         ///< [n][vocabulary]
  float *log_total, *entropy;  ///< [n]

  template <class O>
  ODRPO_HD void run(const Chances& f, const O& o, std::size_t i) {
    const RowChances c = chances_of(o, f.vocabulary, f.logits + i * f.vocabulary, f.inverse_temperature);
    o.store(f.log_total + i, O::splat(c.log_total), 1);
    o.store(f.entropy + i, O::splat(c.entropy), 1);
  }
};

/// Item s: nothing is chosen yet in sequence s.
struct BeginPicks {
  FixedRows rows;
  int end;
  std::uint16_t* token;  ///< [S][response], as Pick's, and what follows
  float* log_chance;
  int* length;

  template <class O>
  ODRPO_HD void run(const BeginPicks& f, const O& o, std::size_t i) {
    const int longest = f.rows.response;
    for (int t = 0; t < longest; t += 8) {
      o.store(f.token + i * longest + t, O::splat(static_cast<float>(f.end < 0 ? 0 : f.end)), longest - t);
      o.store(f.log_chance + i * longest + t, O::splat(0), longest - t);
    }
    o.store(f.length + i, O::splat(static_cast<float>(longest)), 1);
  }
};

// Chances as a pick sees them: those that top-p leaves, (least, last) being the unlikeliest that stays; else 0.
template <class O>
ODRPO_HD typename O::F kept_chance(typename O::F x, typename O::F index, float least, float last) {
  using F = typename O::F;
  return x > least ? x : x == least ? (index <= last ? x : F{}) : F{};
}

/// Item s: chances of the site that chooses token t of sequence s, and the pick: definition::pick for word[s][t]. A sequence that has ended
/// picks nothing.
struct Pick {
  FixedRows rows;
  int vocabulary, t, end;
  float inverse_temperature, top_p;
  const float* logits;         ///< [sites][vocabulary]
  const std::uint32_t* word;   ///< [S][response]
  float *log_total, *entropy;  ///< [sites]
  std::uint16_t* token;        ///< [S][response]
  float* log_chance;           ///< [S][response]
  int* length;                 ///< [S]: the longest until its end is picked

  template <class O>
  ODRPO_HD void run(const Pick& f, const O& o, std::size_t i) {
    using F = typename O::F;
    const int s = static_cast<int>(i), v = f.vocabulary, site = site_of(f.rows, s, f.t);
    const float* logits = f.logits + static_cast<std::size_t>(site) * v;
    const RowChances c = chances_of(o, v, logits, f.inverse_temperature);
    const bool alone = f.t > 0 || s % f.rows.per_prompt == 0;  // of sequences that share a site the first one writes
    o.store(f.log_total + site, O::splat(c.log_total), alone ? 1 : 0);
    o.store(f.entropy + site, O::splat(c.entropy), alone ? 1 : 0);
    const auto index = [&](int a) { return O::real(o.lane() + a); };
    // 0 behind the last token even where logits are NaN, whose ln of the total says nothing
    const auto chance = [&](int a) {
      const F z = o.load(logits + a, v - a, -1e30f) * f.inverse_temperature - c.log_total;
      return index(a) < static_cast<float>(v) ? float_math::exp_negative<O>(O::lower(z, O::splat(0))) : F{};
    };
    // top-p: the likeliest tokens, of equals the first, until they hold the share
    float least = -1, last = static_cast<float>(v), held = 0;
    if (f.top_p < 1) {
      least = 2, last = -1;
      bool more = true;
      while (o.most(more ? 1 : 0) > 0) {
        F best = O::splat(-1), at = O::splat(0);
        for (int a = 0; a < v; a += 8) {
          const F x = chance(a), k = index(a);
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
    for (int a = 0; a < v; a += 8) o.before(kept_chance<O>(chance(a), index(a), least, last), total);
    const std::size_t at = static_cast<std::size_t>(s) * f.rows.response + f.t;
    const float target = total * ((static_cast<float>(f.word[at] >> 8) + 0.5f) * 0x1p-24f);
    // the first token whose cumulative sum is above the target; rounding may leave none, then the last one that stays
    float sum = 0;
    F first = O::splat(1e9f), final = O::splat(-1);
    for (int a = 0; a < v; a += 8) {
      const F x = kept_chance<O>(chance(a), index(a), least, last), k = index(a), below = o.before(x, sum);
      const F hit = below + x > target ? k : O::splat(1e9f);
      first = O::lower(first, x == 0.0f ? O::splat(1e9f) : hit);
      final = O::higher(final, x == 0.0f ? O::splat(-1) : k);
    }
    const float found = -o.largest(-first), rest = o.largest(final), chosen = found < 1e9f ? found : rest;
    const bool going = f.length[s] > f.t;
    const int known = chosen > 0 ? static_cast<int>(chosen) : 0, w = known < v ? known : v - 1;  // whatever was found, a token
    o.store(f.token + at, O::splat(static_cast<float>(w)), going ? 1 : 0);
    o.store(f.log_chance + at, O::splat(logits[w] * f.inverse_temperature - c.log_total), going ? 1 : 0);
    o.store(f.length + s, O::splat(static_cast<float>(f.t + 1)), going && w == f.end ? 1 : 0);
  }
};

/// Item i: log-probabilities of tokens 8 i .. 8 i + 7 of [S][response], from the sites that chose them; 0 behind an end.
struct NoteChances {
  FixedRows rows;
  int vocabulary;
  float inverse_temperature;
  const float *logits, *log_total;
  const std::uint16_t* token;
  const int* length;
  float* log_chance;  ///< [S][response]

  template <class O>
  ODRPO_HD void run(const NoteChances& f, const O& o, std::size_t i) {
    const int n = sequences_of(f.rows) * f.rows.response, from = static_cast<int>(i) * 8;
    const typename O::F x = o.each([&](int l) {
      const int at = from + l < n ? from + l : n - 1, s = at / f.rows.response, t = at % f.rows.response;
      if (t >= f.length[s]) return 0.0f;
      const int site = site_of(f.rows, s, t);
      return f.logits[static_cast<std::size_t>(site) * f.vocabulary + f.token[at]] * f.inverse_temperature - f.log_total[site];
    });
    o.store(f.log_chance + from, x, n - from);
  }
};

/// Item i: derivatives of the objective by the logits of site i.
struct LogitGradient {
  FixedRows rows;
  int vocabulary;
  float inverse_temperature;
  const float *logits, *log_total, *entropy;
  const float *sum, *bonus;    ///< [sites]: of the site's tokens, their coefficients' sum and their entropy weights'
  const float* coefficient;    ///< [S][response]; 0 behind an end
  const std::uint16_t* token;  ///< [S][response]
  float* d;                    ///< [sites][vocabulary]

  template <class O>
  ODRPO_HD void run(const LogitGradient& f, const O& o, std::size_t i) {
    using F = typename O::F;
    const int site = static_cast<int>(i), v = f.vocabulary, r = f.rows.response, here = site < f.rows.prompts;
    // a prompt's site chose its sequences' first tokens, any other one token
    const int after = site - f.rows.prompts, n = sequences_of(f.rows);
    const int s = here ? site * f.rows.per_prompt : after % n, t = here ? 0 : after / n + 1, count = here ? f.rows.per_prompt : 1;
    for (int a = 0; a < v; a += 8) {
      const F l = float_math::log_chance<O>(o.load(f.logits + i * v + a, v - a, -1e30f), f.inverse_temperature, f.log_total[i]);
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
