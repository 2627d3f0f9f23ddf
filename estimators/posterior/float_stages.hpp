// Declares the inner loops of posterior scores of a batch, in float: sums over the states (kinds) of a prompt, 16 at a time. They are compiled
// once per instruction set.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/isa.hpp"

namespace odrpo {

inline constexpr std::size_t tile_states = 16;  ///< states of a tile

/// A power of P(score | state) / its maximum over states.
struct FloatPower {
  const float* tiles;    ///< [tiles][16]
  const float* highest;  ///< [tiles] the largest of a tile; zeros up to a multiple of 8
};
/// The prior of a batch's groups.
struct FloatPrior {
  std::size_t tiles;
  FloatPower probability;  ///< P(c) prior_scale
  const float* centre;     ///< [tiles][16] a quality near those of the state's responses, levels
};
inline constexpr float prior_scale = 0x1p100f;  ///< so that P(c) of unlikely states, and weights of unlikely groups, are normal floats

/// Tables of a score, [tiles][tables][16]: `expected` = E[quality | score, state] - centre[state]; `second` = (1 - 1/G) Var(quality | score, state) +
/// expected^2, G = members of a group none of whose scores is missing; the variance; and with `squares` E[(x - b)^2 | score, state] (WorldMoments).
enum FloatTable : std::size_t { table_expected, table_second, table_variance, table_square, float_tables };

/// A score that a `share` of a group's members have.
struct FloatFactor {
  const float* tiles;
  float share;
};

/// Which sums are computed. `variance`: spread, of groups with `gaps` with own = 1 - 1/G + more_own. `squares`: square.
struct FloatWanted {
  bool variance, gaps, squares;
  float more_own;
};
/// Sums over states c of the weights w(c) = prior_scale P(c) L(c), L(c) = prod over scores of likelihood^count.
struct FloatSums {
  float total;   ///< of w
  float centre;  ///< of w centre
  float spread;  ///< of w (sum over scores of share (own variance + expected^2) - (sum over scores of share expected)^2), as in StateStages::squares
  float square;  ///< of w (sum over scores of share square)
};

/// The tiles of a group that are computed, in ascending order.
struct FloatTiles {
  std::span<const std::uint32_t> heavy;  ///< those over which the sums go
  std::span<const std::uint32_t> light;  ///< others with an L that counts
};
/// Working memory: FloatTiles point to it.
struct FloatMemory {
  std::uint32_t *heavy, *light;  ///< [tiles + 8]
  float* bound;                  ///< [tiles], rounded up to a multiple of 8
  float* likelihood;             ///< [tiles][16] L of the heavy tiles
};

/// The sums leave out tiles whose weights are all below this share of their sum / 16: at most `tiles` times this share of the weights.
inline constexpr float least_share = 0x1p-24f;

struct FloatStages {
  /// Sets probability[tiles][16] to prior_scale P(c) and highest[t] to the largest of tile t, from P(c) of so many states.
  void (*set_prior)(std::span<const double> prior, float* probability, float* highest);
  /// Finds the tiles that may have more than least_share of the weights, and those in which L may exceed least_ratio times E = sum of P(c) L(c).
  /// Computes L of the former.
  FloatTiles (*weigh)(const FloatPrior& prior, std::span<const FloatPower> powers, float least_ratio, const FloatMemory& memory);
  /// Computes the sums over the heavy tiles, at least one, and expected[k], the sum of w `expected` of factor k. `lanes` is working memory
  /// [factors][8].
  FloatSums (*sum)(const FloatPrior& prior, std::span<const FloatFactor> factors, std::span<const std::uint32_t> heavy, const float* likelihood,
                   const FloatWanted& wanted, float* expected, float* lanes);
  /// to[tiles][16] += scale L.
  void (*add)(std::span<const FloatPower> powers, const FloatTiles& tiles, const float* likelihood, float scale, float* to);
  /// weights[c] += P(c) ratio[c].
  void (*add_weights)(std::span<const double> prior, const float* ratio, double* weights);
};
const FloatStages& float_stages(Isa isa);

}  // namespace odrpo
