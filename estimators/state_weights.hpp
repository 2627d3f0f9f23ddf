// P(state of a prompt): before any score of a group is seen, and after all of them are.
#pragma once
#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "kernels/math.hpp"
#include "kernels/score_model.hpp"

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
  std::span<const double> logarithm() const { return log_; }
  /// P(c) of a model whose world has other moments than it began with: normal centres, log-normal spreads.
  void set_moments(const PromptStates& states, const WorldMoments& moments);

 private:
  std::vector<double> probability_, log_;  ///< [states]
};

/// How likely each state makes something that a group shows `count` times, over the state that makes it likeliest.
struct StateFactor {
  const double* relative;   ///< [states]
  const double* logarithm;  ///< [states] log_of() of the likelihood, up to a constant; null: that of `relative`
  int count;
};

/// Sum of at(0), ..., at(n - 1) as eight sums side by side, always in this order.
template <class At>
double sum_by_eights(std::size_t n, At at) {
  double part[8] = {};
  std::size_t i = 0;
  for (; i + 8 <= n; i += 8)
    for (std::size_t j = 0; j < 8; ++j) part[j] += at(i + j);
  for (; i < n; ++i) part[i % 8] += at(i);
  return ((part[0] + part[4]) + (part[2] + part[6])) + ((part[1] + part[5]) + (part[3] + part[7]));
}

/// Sum over states of weight times row.
inline double mean_of(std::span<const double> weights, const double* row) {
  return sum_by_eights(weights.size(), [&](std::size_t c) { return weights[c] * row[c]; });
}

/// out[states] = P(state | all factors), proportional to P(state) prod over factors of likelihood^count. The prior where there are none.
void state_weights(const StatePrior& prior, std::span<const StateFactor> factors, std::span<double> out);

}  // namespace odrpo
