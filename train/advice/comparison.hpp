// Choices beside the best of them, on the same seeds.
#pragma once
#include <cstddef>
#include <vector>

#include "results/statistics.hpp"

namespace odrpo {

/// Gains of one choice, [policy][seed], in points (percent) of the headroom.
using Gains = std::vector<std::vector<double>>;
/// [seed] mean over policies.
std::vector<double> mean_over_policies(const Gains& gains);

inline constexpr double advice_level = 0.05;  ///< of each family of tests

/// Each choice against the one with the best mean, seed by seed.
///
/// The best one is chosen on the same seeds. Its comparison with the truly best choice errs no more often than one of all n - 1 with that
/// choice fixed, each at the level / (n - 1) (multiple comparisons with the best, Hsu 1984): so the truly best choice is found worse with
/// a probability of at most the level, while no choice has been found worse yet.
struct BesideBest {
  std::size_t best = 0;
  std::vector<MeanInterval> less;  ///< gain less the best's; NaN of the best
  std::vector<double> p, p_holm;   ///< two-sided, of a paired t test, and with Holm's correction; NaN of the best
};
/// gain[choice][seed], at least one choice.
BesideBest beside_best(const std::vector<std::vector<double>>& gain);

/// n = 0, all NaN.
MeanInterval no_interval();

}  // namespace odrpo
