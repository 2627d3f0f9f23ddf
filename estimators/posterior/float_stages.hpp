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
  FloatPower probability;  ///< P(c) 2^100
  const float* centre;     ///< [tiles][16] a quality near those of the state's responses, levels
};

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
/// Sums over states c of the weights w(c) = 2^100 P(c) prod over scores of likelihood^count.
struct FloatSums {
  float total;      ///< of w
  float reference;  ///< a quality near the group's, levels
  float below;      ///< of w (reference - centre)
  float spread;     ///< of w (sum over scores of share (own variance + expected^2) - (sum over scores of share expected)^2), as in StateStages::squares
  float square;     ///< of w (sum over scores of share square)
};

inline constexpr float least_share = 0x1p-20f;  ///< tiles with a smaller share of a group's weights may be left out

struct FloatStages {
  /// Computes w, the product of the prior and the powers. Writes the tiles that hold more than least_share of its sum, and perhaps others, to
  /// tile[] in ascending order, and their w to weight[][16]. Returns their number. `bound` is working memory: [tiles], rounded up to a multiple of 8.
  std::size_t (*weigh)(const FloatPrior& prior, std::span<const FloatPower> powers, float* bound, std::uint32_t* tile, float* weight);
  /// Computes the sums over these tiles, at least one, and expected[k], the sum of w `expected` of factor k. `lanes` is working memory [factors][8].
  FloatSums (*sum)(const FloatPrior& prior, std::span<const FloatFactor> factors, std::span<const std::uint32_t> tiles, const float* weight,
                   const FloatWanted& wanted, float* expected, float* lanes);
  /// to[tiles][16] += scale weight.
  void (*add)(std::span<const std::uint32_t> tiles, const float* weight, float scale, float* to);
};
const FloatStages& float_stages(Isa isa);

}  // namespace odrpo
