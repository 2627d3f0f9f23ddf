// Declares how the advantages that a trainer logged are explained: which estimator, whose convention, which whitening, which weights of rewards.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "estimators/compat.hpp"
#include "results/scores/rollouts/rollouts.hpp"
#include "train/rollouts/rewards.hpp"

namespace odrpo {

/// An estimator under a convention, and what follows it.
struct LoggedConvention {
  EstimatorConfig config;
  Whitening whitening{};   ///< over a step's rows
  bool by_system = false;  ///< the whitening is the system's own (whiten = "compat")
};

/// How the advantages of a dump compare with a convention. A group fits if all its advantages are within the tolerance of
/// docs/rollouts.md: 1e-6 of the largest of the group (at least 1), and what the rounding of the rewards to floats makes.
struct LoggedFit {
  LoggedConvention convention;
  std::int64_t groups = 0, fitting = 0;  ///< groups with a logged advantage for every reward
  double largest = 0;                    ///< largest |logged - computed| in groups that fit; of all groups if none does
  std::vector<std::size_t> others{};     ///< up to most_listed indices into Rollouts::groups of groups that do not fit
  static constexpr std::size_t most_listed = 1000;
};

struct LoggedComparison {
  std::vector<LoggedFit> fits;   ///< the best, and all that fit as many groups: they cannot be told apart here. Empty: nothing to compare
  std::vector<double> weights;   ///< [columns] of the rewards under which they fit
  std::vector<double> exact;     ///< [columns] as solved, before they were rounded; empty: weights were given, or there is one column
  bool found = false;            ///< the weights come from the logged advantages
  std::vector<std::string> notes;
};

/// Compares the dump's advantages with every word under every convention that has it, with and without whitening. Where the dump has several rewards
/// and no weights are given, weights are solved for first, up to a factor. `weights`: [columns], or empty.
LoggedComparison explain_logged(const Rollouts& rollouts, const ScaleChoice& scale);

/// The weights for which the centred sums of the rewards are, in each group, proportional to the logged advantages: the direction that leaves the
/// least sum of squares. The first weight that is not 0 is 1. Empty if no group shows them. Columns that never vary within a group get NaN.
std::vector<double> solve_weights(const Rollouts& rollouts);

/// The weights with few digits that differ from these by less than 1e-3 of the largest: 0.49998 is 0.5.
std::vector<double> rounded_weights(std::span<const double> weights);

/// Fits of conventions to the advantages under these rewards; `fits` as in LoggedComparison.
std::vector<LoggedFit> fitting_conventions(const Rollouts& rollouts, const RolloutRewards& rewards);

/// Whitens the advantages of the groups of one step in place, over the rows with a reward. advantage, reward, length: [rows of the step].
void whiten_step(const Whitening& whitening, std::span<const double> reward, std::span<const double> length, std::span<double> advantage);

}  // namespace odrpo
