// Declares the rewards of a dump as estimators read them: one number for each completion, and the scale on which its levels are.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "estimators/estimator.hpp"
#include "results/scores/rollouts/rollouts.hpp"

namespace odrpo {

/// What the levels of rewards are.
struct ScaleChoice {
  std::vector<double> stated;  ///< increasing; empty = those of the dump
  double round = 0;            ///< levels are multiples of it; 0 = rewards as they are
  int bins = 0;                ///< so many levels of equal width; 0 = rewards as they are
};

/// The rewards of the rows of a dump.
struct RolloutRewards {
  std::vector<double> reward;   ///< [rows] weighted sum of the columns; NaN = missing
  std::vector<double> rounded;  ///< [rows] as `round` or `bins` make them; empty: rewards as they are
  std::vector<double> scale;    ///< [K] values of the levels, increasing; empty: none
  std::string no_scale;         ///< why there is none
  std::vector<double> weights;  ///< [columns]
  double least = 0, most = 0;   ///< of the rewards that are there

  /// The rewards that an estimator reads: forms of levels those of the scale.
  std::span<const double> read_by(const EstimatorConfig& config) const;
  /// Those on the scale.
  std::span<const double> on_scale() const { return rounded.empty() ? reward : rounded; }
};

/// Sums the columns with these weights [columns] and finds the scale. An irregular set of rewards (no grid of at most most_levels) is a scale only if
/// each of its values occurs four times on average. Failure bad_input, with the place, for a reward off a stated scale or beyond most_level_value; limits if no reward is there.
RolloutRewards rewards_of(const Rollouts& rollouts, std::span<const double> weights, const ScaleChoice& choice);

/// Failure bad_input, with the place, for a row with a reward whose length is missing or below `least`; limits if the dump has no lengths. `what`: needs them.
void need_lengths(const Rollouts& rollouts, std::span<const double> reward, double least, std::string_view what);

/// "FILE:LINE" of a row.
std::string place_text(const Rollouts& rollouts, std::size_t row);

}  // namespace odrpo
