// Bayes' rule over the states of a prompt.
#include "estimators/state_weights.hpp"

namespace odrpo {
namespace {

constexpr double negligible = -45;  ///< exp(-45) < 3e-20: does not change a sum of weights of which the largest is 1

// By products, a tenth of the time of exponentials; false where they are so small that doubles may lose them.
bool multiply(const StatePrior& prior, std::span<const StateFactor> factors, std::span<double> out) {
  constexpr int most_members = 32;
  constexpr double least_total = 1e-200;
  int members = 0;
  for (const StateFactor& f : factors) members += f.count;
  if (members > most_members) return false;
  std::copy(prior.probability().begin(), prior.probability().end(), out.begin());
  for (const StateFactor& f : factors)
    for (int n = 0; n < f.count; ++n)
      for (std::size_t c = 0; c < out.size(); ++c) out[c] *= f.relative[c];
  const double total = sum_by_eights(out.size(), [&](std::size_t c) { return out[c]; });
  if (!(total > least_total)) return false;
  const double scale = 1 / total;
  for (double& w : out) w *= scale;
  return true;
}

}  // namespace

void StatePrior::set(std::span<const double> probability) {
  probability_.assign(probability.begin(), probability.end());
  log_.resize(probability_.size());
  std::transform(probability_.begin(), probability_.end(), log_.begin(), log_of);
}

void StatePrior::follow(std::span<const double> mean_weights, double keep) {
  for (std::size_t c = 0; c < probability_.size(); ++c) {
    probability_[c] = keep * probability_[c] + (1 - keep) * mean_weights[c];
    log_[c] = log_of(probability_[c]);
  }
}

void StatePrior::set_moments(const PromptStates& states, const WorldMoments& moments) {
  // E[spread^2] = exp(2 m + 2 t^2) of log spread ~ N(m, t^2)
  const double sd = math::sqrt(moments.variance), t = states.log_spread_sd, middle = 0.5 * math::log(moments.square) - t * t;
  double total = 0;
  for (std::size_t c = 0; c < probability_.size(); ++c) {
    const double b = (states.centre[c] - moments.mean) / sd, s = (states.log_spread[c] - middle) / t;
    total += probability_[c] = math::exp(std::max(-0.5 * (b * b + s * s), log_never));
  }
  for (double& p : probability_) p /= total;
  std::transform(probability_.begin(), probability_.end(), log_.begin(), log_of);
}

void state_weights(const StatePrior& prior, std::span<const StateFactor> factors, std::span<double> out) {
  if (multiply(prior, factors, out)) return;
  std::copy(prior.logarithm().begin(), prior.logarithm().end(), out.begin());
  for (const StateFactor& f : factors)
    for (std::size_t c = 0; c < out.size(); ++c) out[c] += f.count * (f.logarithm != nullptr ? f.logarithm[c] : log_of(f.relative[c]));
  const double highest = *std::max_element(out.begin(), out.end());
  double total = 0;
  for (double& w : out) {
    w = w - highest > negligible ? math::exp(w - highest) : 0;
    total += w;
  }
  for (double& w : out) w /= total;
}

}  // namespace odrpo
