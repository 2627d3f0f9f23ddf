// Sums posterior weights of a group over the states of a prompt, in float, 16 states at a time.
#include <type_traits>

#include "estimators/posterior/float_stages.hpp"
#include "kernels/simd.hpp"

namespace odrpo::ODRPO_ISA {

constexpr std::size_t half = 8;  // states of a vector. A sum has 8 lanes; the second half of a tile is added after the first
constexpr std::size_t most_known = 6;  // loops over so many powers or scores are unrolled
constexpr float least_normal = 0x1p-126f;
typedef float f32x4 __attribute__((vector_size(16)));
typedef double f64x4_loose __attribute__((vector_size(32), aligned(8), may_alias));

/// A tile: 16 floats.
struct Tile {
  f32x8 first, second;
};
ODRPO_HD Tile tile_of(const float* p) { return {load(p), load(p + half)}; }

/// Returns f(number) with the number as a constant, if it is at most most_known; else f(0).
template <std::size_t n = 1, class F>
static inline auto with_known(std::size_t number, F f) {
  if constexpr (n > most_known) return f(std::integral_constant<std::size_t, 0>{});
  else return number == n ? f(std::integral_constant<std::size_t, n>{}) : with_known<n + 1>(number, f);
}

static void set_prior(std::span<const double> prior, float* probability, float* highest) {
  const double scale = static_cast<double>(prior_scale);
  const auto scaled = [&](std::size_t c) { return __builtin_convertvector(*reinterpret_cast<const f64x4_loose*>(&prior[c]) * scale, f32x4); };
  const std::size_t whole = prior.size() / half * half;
  for (std::size_t c = 0; c < whole; c += half)
    store(probability + c, __builtin_shufflevector(scaled(c), scaled(c + half / 2), 0, 1, 2, 3, 4, 5, 6, 7));
  for (std::size_t c = whole; c < prior.size(); ++c) probability[c] = static_cast<float>(prior[c] * scale);
  for (std::size_t t = 0; t * tile_states < prior.size(); ++t) {
    float* p = probability + t * tile_states;
    Tile of = tile_of(p);
    of = {of.first < least_normal ? splat(0) : of.first, of.second < least_normal ? splat(0) : of.second};
    store(p, of.first), store(p + half, of.second);
    highest[t] = max_halves(max(of.first, of.second));
  }
}

// `known`: the number of powers, at least one; 0 = any number
template <std::size_t known>
ODRPO_HD Tile likelihoods(std::span<const FloatPower> powers, std::size_t tile) {
  Tile l = tile_of(powers[0].tiles + tile * tile_states);
  for (std::size_t k = 1; k < (known > 0 ? known : powers.size()); ++k) {
    const Tile power = tile_of(powers[k].tiles + tile * tile_states);
    l.first *= power.first, l.second *= power.second;
  }
  return l;
}
ODRPO_HD Tile weights(const FloatPrior& prior, std::size_t tile, const Tile& likelihood) {
  const Tile p = tile_of(prior.probability.tiles + tile * tile_states);
  return {likelihood.first * p.first, likelihood.second * p.second};
}

/// For each set of lanes, their numbers in ascending order, a byte each.
struct LaneNumbers {
  std::uint8_t of[256][8] = {};
  constexpr LaneNumbers() {
    for (unsigned lanes = 0; lanes < 256; ++lanes)
      for (unsigned l = 0, n = 0; l < 8; ++l)
        if (lanes >> l & 1) of[lanes][n++] = static_cast<std::uint8_t>(l);
  }
};
static constexpr LaneNumbers lane_numbers;
/// Appends the numbers of lanes whose mask is set, plus `from`, to list[0..n).
ODRPO_HD void append(i32x8 mask, i32x8 from, std::uint32_t* list, std::size_t& n) {
  const unsigned lanes = lanes_true(mask);
  store(reinterpret_cast<std::int32_t*>(list + n), load_bytes(lane_numbers.of[lanes]) + from);
  n += static_cast<std::size_t>(__builtin_popcount(lanes));
}

template <std::size_t known>
static FloatTiles weigh_some(const FloatPrior& prior, std::span<const FloatPower> powers, float least_ratio, const FloatMemory& memory) {
  const FloatMemory to = memory;
  FloatPower power[known > 0 ? known : 1];  // in registers
  for (std::size_t k = 0; k < known; ++k) power[k] = powers[k];
  const std::span<const FloatPower> of = known > 0 ? std::span<const FloatPower>(power) : powers;
  // bounds of the largest L of each tile, and of the largest weight
  f32x8 most = splat(0);
  i32x8 place = {}, at = {0, 1, 2, 3, 4, 5, 6, 7};
  for (std::size_t t = 0; t < prior.tiles; t += half, at += 8) {
    f32x8 b = load(of[0].highest + t);
    for (std::size_t k = 1; k < (known > 0 ? known : of.size()); ++k) b *= load(of[k].highest + t);
    store(to.bound + t, b);
    b *= load(prior.probability.highest + t);
    place = b > most ? at : place;
    most = max(most, b);
  }
  std::size_t best = 0;
  float highest = 0;
  for (int l = 0; l < 8; ++l)
    if (most[l] > highest) highest = most[l], best = static_cast<std::size_t>(place[l]);
  // the sum of one tile is at most that of all
  const Tile largest = weights(prior, best, likelihoods<known>(of, best));
  const float sum = add_halves(largest.first + largest.second);
  const f32x8 least_weight = splat(sum * (least_share / tile_states)), least_likelihood = splat(least_ratio * (sum / prior_scale));
  std::size_t heavy = 0, light = 0;
  i32x8 from = {};
  for (std::size_t t = 0; t < prior.tiles; t += half, from += 8) {
    const f32x8 b = load(to.bound + t);
    const i32x8 weighs = b * load(prior.probability.highest + t) > least_weight;
    append(weighs, from, to.heavy, heavy);
    append((b > least_likelihood) & ~weighs, from, to.light, light);
  }
  for (std::size_t i = 0; i < heavy; ++i) {
    const Tile l = likelihoods<known>(of, to.heavy[i]);
    store(to.likelihood + i * tile_states, l.first), store(to.likelihood + i * tile_states + half, l.second);
  }
  return {{to.heavy, heavy}, {to.light, light}};
}

static FloatTiles weigh(const FloatPrior& prior, std::span<const FloatPower> powers, float least_ratio, const FloatMemory& memory) {
  return with_known(powers.size(), [&](auto known) { return weigh_some<known>(prior, powers, least_ratio, memory); });
}

// The sums of a known number of scores stay in registers; those of any number (known = 0) are in `lanes`.
template <std::size_t known, bool variance, bool gaps, bool squares>
static FloatSums sums_of(const FloatPrior& prior, std::span<const FloatFactor> factors, std::span<const std::uint32_t> heavy, const float* likelihood,
                         float more_own, float* expected, float* lanes) {
  constexpr std::size_t stride = (squares ? float_tables : table_square) * tile_states;
  const std::size_t scores = known > 0 ? known : factors.size();
  f32x8 sum[known > 0 ? known : 1];
  for (std::size_t k = 0; k < scores; ++k) {
    if constexpr (known > 0) sum[k] = splat(0);
    else store(lanes + k * half, splat(0));
  }
  f32x8 total = splat(0), centre = splat(0), spread = splat(0), square = splat(0);
  for (const std::uint32_t tile : heavy) {
    const Tile w = weights(prior, tile, tile_of(likelihood)), near = tile_of(prior.centre + tile * tile_states);
    likelihood += tile_states;
    total += w.first, total += w.second;
    centre += w.first * near.first, centre += w.second * near.second;
    Tile mean{}, second{}, squared{};
    for (std::size_t k = 0; k < scores; ++k) {
      const float* tables = factors[k].tiles + tile * stride;
      const f32x8 share = splat(factors[k].share);
      const auto add_share = [&](Tile& to, f32x8 part, const Tile& of) { to.first += part * of.first, to.second += part * of.second; };
      const Tile e = tile_of(tables + table_expected * tile_states);
      f32x8 of_score = known > 0 ? sum[known > 0 ? k : 0] : load(lanes + k * half);
      of_score += w.first * e.first, of_score += w.second * e.second;
      if constexpr (known > 0) sum[k] = of_score;
      else store(lanes + k * half, of_score);
      if constexpr (variance) add_share(mean, share, e), add_share(second, share, tile_of(tables + table_second * tile_states));
      if constexpr (variance && gaps) add_share(second, splat(more_own * factors[k].share), tile_of(tables + table_variance * tile_states));
      if constexpr (squares) add_share(squared, share, tile_of(tables + table_square * tile_states));
    }
    if constexpr (variance) {
      spread += w.first * (second.first - mean.first * mean.first);
      spread += w.second * (second.second - mean.second * mean.second);
    }
    if constexpr (squares) square += w.first * squared.first, square += w.second * squared.second;
  }
  for (std::size_t k = 0; k < scores; ++k) expected[k] = add_halves(known > 0 ? sum[known > 0 ? k : 0] : load(lanes + k * half));
  return {add_halves(total), add_halves(centre), add_halves(spread), add_halves(square)};
}

static FloatSums sum(const FloatPrior& prior, std::span<const FloatFactor> factors, std::span<const std::uint32_t> heavy, const float* likelihood,
                     const FloatWanted& wanted, float* expected, float* lanes) {
  return with_known(factors.size(), [&](auto known) {
    const auto some = [&](auto sums) { return sums(prior, factors, heavy, likelihood, wanted.more_own, expected, lanes); };
    if (!wanted.variance) return wanted.squares ? some(sums_of<known, false, false, true>) : some(sums_of<known, false, false, false>);
    if (wanted.gaps) return wanted.squares ? some(sums_of<known, true, true, true>) : some(sums_of<known, true, true, false>);
    return wanted.squares ? some(sums_of<known, true, false, true>) : some(sums_of<known, true, false, false>);
  });
}

ODRPO_HD void add_product(float* to, const Tile& l, f32x8 scale) {
  store(to, load(to) + l.first * scale);
  store(to + half, load(to + half) + l.second * scale);
}

template <std::size_t known>
static void add_some(std::span<const FloatPower> powers, const FloatTiles& tiles, const float* likelihood, float scale, float* to) {
  FloatPower power[known > 0 ? known : 1];  // in registers
  for (std::size_t k = 0; k < known; ++k) power[k] = powers[k];
  const std::span<const FloatPower> of = known > 0 ? std::span<const FloatPower>(power) : powers;
  const f32x8 factor = splat(scale);
  for (const std::uint32_t tile : tiles.heavy) {
    add_product(to + tile * tile_states, tile_of(likelihood), factor);
    likelihood += tile_states;
  }
  for (const std::uint32_t tile : tiles.light) add_product(to + tile * tile_states, likelihoods<known>(of, tile), factor);
}

static void add(std::span<const FloatPower> powers, const FloatTiles& tiles, const float* likelihood, float scale, float* to) {
  with_known(powers.size(), [&](auto known) { add_some<known>(powers, tiles, likelihood, scale, to); });
}

static void add_weights(std::span<const double> prior, const float* ratio, double* weights) {
  for (std::size_t c = 0; c < prior.size(); ++c) weights[c] += prior[c] * static_cast<double>(ratio[c]);
}

extern const FloatStages float_table;
const FloatStages float_table = {set_prior, weigh, sum, add, add_weights};

}  // namespace odrpo::ODRPO_ISA
