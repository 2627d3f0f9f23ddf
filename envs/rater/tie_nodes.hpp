// Nodes of Gauss-Legendre quadrature, for ties that the first drawn score wins.
#pragma once
#include <array>

#include "envs/rater/vote.hpp"

namespace odrpo {

/// A level that is tied with t others wins with probability 1 / (1 + t), the integral of z^t over 0..1.
struct TieNodes {
  static constexpr int most = max_distribution_levels / 2;  ///< at most t = 127 other levels are tied
  int count = 0;
  std::array<double, most> z{}, weight{};
};

/// Returns nodes that are exact for z^t, t = 0..tied.
const TieNodes& tie_nodes(int tied);

}  // namespace odrpo
