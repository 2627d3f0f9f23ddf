// Bayes' rule over tiles of states, and what a group's members are worth under it.
#include "estimators/posterior/lanes_of_16.hpp"
#include "estimators/posterior/state_stages.hpp"

namespace odrpo::ODRPO_ISA {

constexpr std::size_t lanes = width * parts;

// 16 numbers from p + at, zeros behind the last of n
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

}  // namespace odrpo::ODRPO_ISA
