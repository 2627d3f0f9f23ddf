// Choices beside the best of them, on the same seeds.
#pragma once
#include <cstddef>
#include <vector>

#include "results/stats/statistics.hpp"

namespace odrpo {

/// Gains of one choice, [policy][seed], in points (percent) of the headroom.
using Gains = std::vector<std::vector<double>>;
/// [seed] mean over policies.
std::vector<double> mean_over_policies(const Gains& gains);

inline constexpr double advice_level = 0.05;  ///< of each family of tests

/// Gains of a choice at learning rates that it may have, [rates][seed], means over policies: the first at its own rates, the others at those
/// near them (Contender::near_lr).
using GainsAtRates = std::vector<std::vector<double>>;

/// Each choice against one of them, seed by seed.
///
/// A p below a level says that one of the two, at its own learning rates, beats the other at every rate that this may have, by more than a finer
/// grid of rates could add to the other (`finer`, points, of each choice): where two equal choices were tuned to different rates, a test of the
/// two rates would find the rates (ChosenComparison). The interval is the test's, at
/// the alpha of Holm's correction: it excludes 0 exactly where p_holm is below advice_level.
struct Beside {
  std::size_t other = 0;           ///< the one that all are compared with
  std::vector<MeanInterval> more;  ///< gain more than the other's; NaN of the other itself
  std::vector<double> p, p_holm;   ///< two-sided, and with Holm's correction; NaN of the other itself
};
/// At least one choice.
Beside beside(const std::vector<GainsAtRates>& gain, const std::vector<double>& finer, std::size_t other);

/// The same with the choice that has the best mean.
///
/// The best one is chosen on the same seeds. Its comparison with the truly best choice errs no more often than one of all n - 1 with that
/// choice fixed, each at the level / (n - 1) (multiple comparisons with the best, Hsu 1984): so the truly best choice is found worse with
/// a probability of at most the level, while no choice has been found worse yet.
Beside beside_best(const std::vector<GainsAtRates>& gain, const std::vector<double>& finer);

/// How far a difference of gains under a fitted judge lies from that under the judge it was fitted to: the sd has a part that is a share of the
/// difference, and one in points.
struct FitError {
  double share = 0, points = 0;
};
/// The interval of a difference with that error: to the squares of its sides are added those of 1.96 sds. A side that would reach 0 where the
/// given one does not stays as it is: whether the two differ is told by the test.
MeanInterval with_fit_error(const MeanInterval& difference, const FitError& error);

/// n = 0, all NaN.
MeanInterval no_interval();

}  // namespace odrpo
