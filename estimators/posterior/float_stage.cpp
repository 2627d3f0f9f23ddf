// Sums posterior weights of a group over the states of a prompt, in float, 16 states at a time.
#include <type_traits>

#include "estimators/posterior/float_stages.hpp"
#include "kernels/simd.hpp"

namespace odrpo::ODRPO_ISA {

constexpr std::size_t half = 8;  // states of a vector. A sum has 8 lanes; the second half of a tile is added after the first
constexpr std::size_t most_known = 6;  // loops over so many powers or scores are unrolled

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

// `known`: the number of powers; 0 = any number
template <std::size_t known>
ODRPO_HD Tile weights(const FloatPrior& prior, std::span<const FloatPower> powers, std::size_t tile) {
  Tile w = tile_of(prior.probability.tiles + tile * tile_states);
  for (std::size_t k = 0; k < (known > 0 ? known : powers.size()); ++k) {
    const Tile power = tile_of(powers[k].tiles + tile * tile_states);
    w.first *= power.first, w.second *= power.second;
  }
  return w;
}

template <std::size_t known>
static std::size_t weigh_some(const FloatPrior& prior, std::span<const FloatPower> powers, float* bound, std::uint32_t* tile, float* weight) {
  // bound of the largest w of each tile
  f32x8 most = splat(0);
  i32x8 place = {}, at = {0, 1, 2, 3, 4, 5, 6, 7};
  for (std::size_t t = 0; t < prior.tiles; t += half, at += 8) {
    f32x8 b = load(prior.probability.highest + t);
    for (std::size_t k = 0; k < (known > 0 ? known : powers.size()); ++k) b *= load(powers[k].highest + t);
    store(bound + t, b);
    place = b > most ? at : place;
    most = max(most, b);
  }
  std::size_t best = 0;
  float highest = 0;
  for (int l = 0; l < 8; ++l)
    if (most[l] > highest) highest = most[l], best = static_cast<std::size_t>(place[l]);
  // the sum of one tile is at most that of all
  const Tile largest = weights<known>(prior, powers, best);
  const f32x8 least = splat(add_halves(largest.first + largest.second) * (least_share / tile_states));
  std::size_t n = 0;
  for (std::size_t t = 0; t < prior.tiles; t += half)
    for (unsigned likely = lanes_true(load(bound + t) > least); likely != 0; likely &= likely - 1) {
      const std::size_t some = t + static_cast<std::size_t>(__builtin_ctz(likely));
      const Tile w = weights<known>(prior, powers, some);
      store(weight + n * tile_states, w.first), store(weight + n * tile_states + half, w.second);
      tile[n] = static_cast<std::uint32_t>(some);
      n += lanes_true(max(w.first, w.second) > least) != 0;
    }
  return n;
}

static std::size_t weigh(const FloatPrior& prior, std::span<const FloatPower> powers, float* bound, std::uint32_t* tile, float* weight) {
  return with_known(powers.size(), [&](auto known) { return weigh_some<known>(prior, powers, bound, tile, weight); });
}

// The sums of a known number of scores stay in registers; those of any number (known = 0) are in `lanes`.
template <std::size_t known, bool variance, bool gaps, bool squares>
static FloatSums sums_of(const FloatPrior& prior, std::span<const FloatFactor> factors, std::span<const std::uint32_t> tiles, const float* weight,
                         float more_own, float* expected, float* lanes) {
  constexpr std::size_t stride = (squares ? float_tables : table_square) * tile_states;
  const std::size_t scores = known > 0 ? known : factors.size();
  std::size_t likely = 0;  // a state in the middle of a tile, heavy enough to be near the group's quality
  for (std::size_t t = 1; t < tiles.size(); ++t)
    if (weight[t * tile_states + half] > weight[likely * tile_states + half]) likely = t;
  const float reference = prior.centre[tiles[likely] * tile_states + half];
  f32x8 sum[known > 0 ? known : 1];
  for (std::size_t k = 0; k < scores; ++k) {
    if constexpr (known > 0) sum[k] = splat(0);
    else store(lanes + k * half, splat(0));
  }
  f32x8 total = splat(0), below = splat(0), spread = splat(0), square = splat(0);
  for (const std::uint32_t tile : tiles) {
    const Tile w = tile_of(weight), centre = tile_of(prior.centre + tile * tile_states);
    weight += tile_states;
    total += w.first, total += w.second;
    below += w.first * (splat(reference) - centre.first), below += w.second * (splat(reference) - centre.second);
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
  return {add_halves(total), reference, add_halves(below), add_halves(spread), add_halves(square)};
}

static FloatSums sum(const FloatPrior& prior, std::span<const FloatFactor> factors, std::span<const std::uint32_t> tiles, const float* weight,
                     const FloatWanted& wanted, float* expected, float* lanes) {
  return with_known(factors.size(), [&](auto known) {
    const auto some = [&](auto sums) { return sums(prior, factors, tiles, weight, wanted.more_own, expected, lanes); };
    if (!wanted.variance) return wanted.squares ? some(sums_of<known, false, false, true>) : some(sums_of<known, false, false, false>);
    if (wanted.gaps) return wanted.squares ? some(sums_of<known, true, true, true>) : some(sums_of<known, true, true, false>);
    return wanted.squares ? some(sums_of<known, true, false, true>) : some(sums_of<known, true, false, false>);
  });
}

static void add(std::span<const std::uint32_t> tiles, const float* weight, float scale, float* to) {
  const f32x8 factor = splat(scale);
  for (const std::uint32_t tile : tiles) {
    float* sum = to + tile * tile_states;
    const Tile w = tile_of(weight);
    weight += tile_states;
    store(sum, load(sum) + w.first * factor);
    store(sum + half, load(sum + half) + w.second * factor);
  }
}

extern const FloatStages float_table;
const FloatStages float_table = {weigh, sum, add};

}  // namespace odrpo::ODRPO_ISA
