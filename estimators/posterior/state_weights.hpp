// P(state of a prompt): before any score of a group is seen, and after all of them are.
#pragma once
#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "estimators/posterior/state_stages.hpp"
#include "kernels/math.hpp"
#include "kernels/shared/judge_model.hpp"

namespace odrpo {

/// Of what a state does not give: far below what all other scores of a group can make up for.
inline constexpr double log_never = -700;
inline double log_of(double p) { return p > 0 ? std::max(math::log(p), log_never) : log_never; }

/// P(state of a prompt), before its scores are seen.
class StatePrior {
 public:
  explicit StatePrior(std::span<const double> probability) { set(probability); }
  void set(std::span<const double> probability);
  /// It moves towards what batches show: P(c) <- keep P(c) + (1 - keep) mean over groups of P(c | group).
  void follow(std::span<const double> mean_weights, double keep);
  std::span<const double> probability() const { return probability_; }
  /// P(c) of a model whose world has other moments than it began with: normal centres, log-normal spreads.
  void set_moments(const PromptStates& states, const WorldMoments& moments);

 private:
  std::vector<double> probability_;  ///< [states]
};

/// P(state | everything that a group shows), and means over it. Keeps its memory.
class GroupPosterior {
 public:
  GroupPosterior(std::size_t states, Isa isa) : stages_(&state_stages(isa)), weight_(states), tile_sum_((states + 15) / 16) {}
  /// Proportional to P(state) prod over factors of likelihood^count. The prior where there are none.
  void set(const StatePrior& prior, std::span<const StateFactor> factors);
  std::span<const double> weights() const { return weight_; }
  /// value[rows] = E[quality | row, group].
  void values(std::span<const StateRows> rows, std::span<double> value);
  /// The same. Returns the mean over members of Var(quality - mean quality of the group | group), levels^2: what their values leave open of
  /// how far they lie apart. With their own variance it is E[(1/G) sum (q - mean q)^2 | group], G = members.
  double values_and_variance(std::span<const StateRows> rows, int members, std::span<double> value);
  /// Sum over states of weight times row.
  double mean_of(const double* row) const;

 private:
  bool multiply(const StatePrior& prior, std::span<const StateFactor> factors);
  void divide_by(double total);
  const StateStages* stages_;
  std::vector<double> weight_;        ///< [states]
  std::vector<double> tile_sum_;      ///< of 16 weights
  std::vector<std::uint32_t> tiles_;  ///< of 16 states, those that weigh something
  std::vector<double> sums_;          ///< memory
};

}  // namespace odrpo
