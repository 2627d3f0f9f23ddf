// Products of powers over tiles of responses, and their sums over states. Every element has its own sum, so that all widths give the same
// bits.
#include "estimators/vote_stages.hpp"
#include "kernels/portable.hpp"

namespace odrpo::ODRPO_ISA {

typedef double f64x4 __attribute__((vector_size(32)));
typedef double f64x4_loose __attribute__((vector_size(32), aligned(8), may_alias));
constexpr std::size_t width = 4, parts = CallModel::lanes / width;

ODRPO_HD f64x4 load(const double* p) { return *reinterpret_cast<const f64x4_loose*>(p); }
ODRPO_HD f64x4 splat(double x) { return f64x4{x, x, x, x}; }

/// A tile of 16 numbers.
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
// to *= power^n, n >= 1
ODRPO_HD void multiply_power(Tile& to, Tile power, int n) {
  for (;;) {
    if (n % 2 == 1) multiply(to, power);
    n /= 2;
    if (n == 0) return;
    multiply(power, power);
  }
}

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

static void spread_tiles(const CallModel& m, const double* first, const double* second, double* to, double* second_to) {
  const double* share = m.share.data();
  for (std::size_t at = 0; at < m.states(); at += CallModel::lanes) {
    Tile sum = filled(0), second_sum = filled(0);
    for (std::size_t r = 0; r < m.responses(); ++r, share += CallModel::lanes) {
      const f64x4 x = splat(first[r]), y = splat(second[r]);
      for (std::size_t i = 0; i < parts; ++i) {
        const f64x4 p = load(share + i * width);
        sum.part[i] += p * x;
        second_sum.part[i] += p * y;
      }
    }
    double out[CallModel::lanes], second_out[CallModel::lanes];
    store(out, sum);
    store(second_out, second_sum);
    for (std::size_t i = 0; i < CallModel::lanes && at + i < m.states(); ++i) to[at + i] = out[i], second_to[at + i] = second_out[i];
  }
}

static void spread(const CallModel& m, const double* first, const double* second, double* to, double* second_to) {
  if (m.of_world()) return spread_tiles(m, first, second, to, second_to);
  for (std::size_t c = 0; c < m.states(); ++c) to[c] = second_to[c] = 0;
  for (const CallModel::Run& run : m.runs) {
    const double x = first[run.response], y = second[run.response];
    if (x == 0 && y == 0) continue;
    const double* share = &m.share[run.offset];
    for (std::size_t i = 0; i < run.count; ++i) {
      to[run.first + i] += share[i] * x;
      second_to[run.first + i] += share[i] * y;
    }
  }
}

extern const VoteStages vote_table;
const VoteStages vote_table = {likelihood, spread};

}  // namespace odrpo::ODRPO_ISA
