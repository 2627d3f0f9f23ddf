// Applies Bayes' rule to tiles of 16 states, and computes posterior scores and the likelihood of a response's votes.
#include <cstddef>

#include "estimators/posterior/state_stages.hpp"
#include "kernels/portable.hpp"

namespace odrpo::ODRPO_ISA {

// Arithmetic with 16 doubles at a time. Each of the 16 has its own sum, so that every vector width gives the same bits.

typedef double f64x4 __attribute__((vector_size(32)));
typedef double f64x4_loose __attribute__((vector_size(32), aligned(8), may_alias));
constexpr std::size_t width = 4, parts = 4;

ODRPO_HD f64x4 load(const double* p) { return *reinterpret_cast<const f64x4_loose*>(p); }
ODRPO_HD f64x4 splat(double x) { return f64x4{x, x, x, x}; }

/// A tile: 16 doubles.
struct Tile {
  f64x4 part[parts];
};
ODRPO_HD Tile filled(double x) {
  const f64x4 v = splat(x);
  return {{v, v, v, v}};
}
ODRPO_HD Tile loaded(const double* p) { return {{load(p), load(p + width), load(p + 2 * width), load(p + 3 * width)}}; }
ODRPO_HD void store(double* p, const Tile& t) {
  for (std::size_t i = 0; i < parts; ++i) *reinterpret_cast<f64x4_loose*>(p + i * width) = t.part[i];
}
ODRPO_HD void multiply(Tile& to, const Tile& by) {
  for (std::size_t i = 0; i < parts; ++i) to.part[i] *= by.part[i];
}
ODRPO_HD void add(Tile& to, const Tile& more) {
  for (std::size_t i = 0; i < parts; ++i) to.part[i] += more.part[i];
}
/// to += x p, for 16 numbers p[0], …, p[15].
ODRPO_HD void add_product(Tile& to, double x, const double* p) {
  const f64x4 v = splat(x);
  for (std::size_t i = 0; i < parts; ++i) to.part[i] += load(p + i * width) * v;
}
// to *= power^n, n >= 1, by repeated squaring
ODRPO_HD void multiply_power(Tile& to, Tile power, int n) {
  for (;;) {
    if (n % 2 == 1) multiply(to, power);
    n /= 2;
    if (n == 0) return;
    multiply(power, power);
  }
}

/// The sum of a tile's 16 numbers.
ODRPO_HD double sum_of(const Tile& t) {
  const f64x4 all = (t.part[0] + t.part[2]) + (t.part[1] + t.part[3]);
  return (all[0] + all[2]) + (all[1] + all[3]);
}

constexpr std::size_t lanes = width * parts;

// Loads p[at], …, p[at + 15]; numbers from p[n] on become 0
ODRPO_HD Tile tile_at(const double* p, std::size_t at, std::size_t n) {
  if (at + lanes <= n) return loaded(p + at);
  double some[lanes] = {};
  for (std::size_t i = at; i < n; ++i) some[i - at] = p[i];
  return loaded(some);
}

static double multiply(const double* prior, std::span<const StateFactor> factors, std::size_t states, double* out, double* tile_sum) {
  Tile sum = filled(0);
  for (std::size_t at = 0; at < states; at += lanes) {
    Tile weight = tile_at(prior, at, states);
    for (const StateFactor& f : factors) multiply_power(weight, tile_at(f.relative, at, states), f.count);
    add(sum, weight);
    tile_sum[at / lanes] = sum_of(weight);
    if (at + lanes <= states) {
      store(out + at, weight);
      continue;
    }
    double some[lanes];
    store(some, weight);
    for (std::size_t i = at; i < states; ++i) out[i] = some[i - at];
  }
  return sum_of(sum);
}

template <bool squared>
static double sums_of(const double* weight, std::size_t states, std::span<const std::uint32_t> tiles, std::span<const StateRows> rows, double own,
                      double* value, double* sums) {
  for (std::size_t k = 0; k < rows.size(); ++k) store(sums + k * lanes, filled(0));
  Tile total = filled(0);
  const f64x4 one_less = splat(own);
  for (const std::uint32_t tile : tiles) {
    const std::size_t at = tile * lanes;
    const Tile w = tile_at(weight, at, states);
    Tile mean = filled(0), square = filled(0);
    for (std::size_t k = 0; k < rows.size(); ++k) {
      const Tile expected = tile_at(rows[k].expected, at, states);
      Tile sum = loaded(sums + k * lanes);
      for (std::size_t i = 0; i < parts; ++i) sum.part[i] += w.part[i] * expected.part[i];
      store(sums + k * lanes, sum);
      if constexpr (squared) {
        const Tile variance = tile_at(rows[k].variance, at, states);
        const f64x4 share = splat(rows[k].share);
        for (std::size_t i = 0; i < parts; ++i) {
          mean.part[i] += share * expected.part[i];
          square.part[i] += share * (one_less * variance.part[i] + expected.part[i] * expected.part[i]);
        }
      }
    }
    if constexpr (squared)
      for (std::size_t i = 0; i < parts; ++i) total.part[i] += w.part[i] * (square.part[i] - mean.part[i] * mean.part[i]);
  }
  for (std::size_t k = 0; k < rows.size(); ++k) value[k] = sum_of(loaded(sums + k * lanes));
  return sum_of(total);
}

static void values(const double* weight, std::size_t states, std::span<const std::uint32_t> tiles, std::span<const StateRows> rows, double* value,
                   double* sums) {
  sums_of<false>(weight, states, tiles, rows, 0, value, sums);
}

extern const StateStages state_table;
const StateStages state_table = {multiply, values, sums_of<true>};

// Likelihoods of votes for 16 responses at a time, and their sums over responses for 16 states at a time. Each of the 16 has its own sum,
// so that every vector width gives the same bits.

static void likelihood(const CallModel& m, std::span<const VoteCount> votes, double* out) {
  const std::size_t of_score = static_cast<std::size_t>(m.classes) * static_cast<std::size_t>(m.traits) * m.width;
  for (std::size_t r = 0; r < m.width; r += CallModel::lanes) {
    Tile total = filled(0);
    for (int t = 0; t < m.traits; ++t) {
      Tile of_trait = filled(m.trait[static_cast<std::size_t>(t)]);
      for (std::size_t v = 0, end = 0; v < votes.size(); v = end) {
        Tile of_judge = filled(0);
        for (int u = 0; u < m.classes; ++u) {
          Tile of_class = filled(1.0 / m.classes);
          for (end = v; end < votes.size() && votes[end].judge == votes[v].judge; ++end) {
            const std::size_t score = static_cast<std::size_t>(votes[end].judge * m.scores + votes[end].score);
            const double* call = &m.call[score * of_score + static_cast<std::size_t>(u * m.traits + t) * m.width + r];
            multiply_power(of_class, loaded(call), votes[end].count);
          }
          add(of_judge, of_class);
        }
        multiply(of_trait, of_judge);
      }
      add(total, of_trait);
    }
    store(out + r, total);
  }
}

static void spread_tiles(const CallModel& m, std::span<const std::uint32_t> responses, std::span<const double* const> of,
                         std::span<double* const> to) {
  for (std::size_t at = 0; at < m.states(); at += CallModel::lanes) {
    const double* share = &m.share[at * m.responses()];
    for (std::size_t n = 0; n < of.size(); ++n) {
      Tile sum = filled(0);
      for (const std::uint32_t r : responses) add_product(sum, of[n][r], share + r * CallModel::lanes);
      double out[CallModel::lanes];
      store(out, sum);
      for (std::size_t i = 0; i < CallModel::lanes && at + i < m.states(); ++i) to[n][at + i] = out[i];
    }
  }
}

static void spread(const CallModel& m, std::span<const std::uint32_t> responses, std::span<const double* const> of,
                   std::span<double* const> to) {
  if (m.of_world()) return spread_tiles(m, responses, of, to);
  for (double* out : to)
    for (std::size_t c = 0; c < m.states(); ++c) out[c] = 0;
  for (const CallModel::Run& run : m.runs)
    for (std::size_t n = 0; n < of.size(); ++n) {
      const double x = of[n][run.response];
      if (x == 0) continue;
      const double* share = &m.share[run.offset];
      for (std::size_t i = 0; i < run.count; ++i) to[n][run.first + i] += share[i] * x;
    }
}

extern const VoteStages vote_table;
const VoteStages vote_table = {likelihood, spread};

}  // namespace odrpo::ODRPO_ISA
