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
/// docs/rollouts.md: 1e-6 of the largest of the group (at least 1), and what the rounding of the rewards to floats makes. A group of equal rewards shows little,
/// and is counted apart.
struct LoggedFit {
  LoggedConvention convention;
  std::int64_t groups = 0, fitting = 0;        ///< groups with a logged advantage for every reward, but for those below
  std::int64_t equal = 0, equal_fitting = 0;   ///< of these, groups of two or more rewards that are equal
  std::int64_t all_fitting() const { return fitting + equal_fitting; }
  double largest = 0;                    ///< largest |logged - computed| in groups that fit; of all groups if none does
  std::vector<std::size_t> others{};     ///< up to most_listed indices into Rollouts::groups of groups that do not fit
  static constexpr std::size_t most_listed = 1000;
};

struct LoggedComparison {
  std::vector<LoggedFit> fits;   ///< the best, and all that fit as many groups: they cannot be told apart here. Empty: nothing to compare
  std::vector<double> weights;   ///< [columns] of the rewards under which they fit
  std::vector<double> exact;     ///< [columns] as solved up to a factor, before they were rounded; empty: weights were given, or there is one column
  bool found = false;            ///< the weights come from the logged advantages
  std::vector<std::string> notes;
};

/// Compares the dump's advantages with every word under every convention that has it, with and without whitening. Where the dump has several rewards
/// and no weights are given, weights are solved for first, up to a factor. `weights`: [columns], or empty.
LoggedComparison explain_logged(const Rollouts& rollouts, const ScaleChoice& scale);

/// Weights of rewards, up to a factor.
struct SolvedWeights {
  std::vector<double> weights;          ///< [columns] the first that is not 0 is 1; NaN: the column never varies within a group; empty: no group shows them
  std::vector<std::size_t> dependent{}; ///< columns that others give within every group: left out, with weight 0
  bool open = false;                    ///< other weights leave as little
};

/// The weights for which the centred sums of the rewards are, in each group, proportional to the logged advantages: the direction that leaves the
/// least sum of squares.
SolvedWeights solve_weights(const Rollouts& rollouts);

/// Factors of these weights with which the most consistent conventions explain the logged advantages, the nearest to 1 first: of those that divide by D + eps,
/// what the ratio of centred reward and advantage shows beside D; of those that divide by nothing the ratio of advantages. (An eps and a factor that both are 100 times smaller
/// give the same advantages.)
std::vector<double> factors_of_weights(const Rollouts& rollouts, std::span<const double> weights);

/// The estimators that a dump's rewards allow, each under every convention that has it. `levels`: also forms of levels.
std::vector<EstimatorConfig> comparable_estimators(const Rollouts& rollouts, const RolloutRewards& rewards, bool levels);

/// Some steps spread over the training, of about 1000 groups, that have advantages: [first group, end).
std::vector<std::pair<std::size_t, std::size_t>> some_logged_steps(const Rollouts& rollouts);

/// The weights with few digits that differ from these by less than 1e-3 of the largest: 0.49998 is 0.5.
std::vector<double> rounded_weights(std::span<const double> weights);

/// Fits of conventions to the advantages under these rewards; `fits` as in LoggedComparison.
std::vector<LoggedFit> fitting_conventions(const Rollouts& rollouts, const RolloutRewards& rewards);

/// Whitens the advantages of the groups of one step in place, over the rows with a reward. advantage, reward, length: [rows of the step].
void whiten_step(const Whitening& whitening, std::span<const double> reward, std::span<const double> length, std::span<double> advantage);

}  // namespace odrpo
