// Bayes' rule over the states of a prompt.
#include "estimators/posterior/state_weights.hpp"

namespace odrpo {
namespace portable {
extern const StateStages state_table;
}
namespace avx2 {
extern const StateStages state_table;
}
const StateStages& state_stages(Isa isa) { return isa == Isa::avx2 ? avx2::state_table : portable::state_table; }

namespace {

constexpr double negligible = -45;       ///< exp(-45) < 3e-20: does not change a sum of weights of which the largest is 1
constexpr double weighs_nothing = 1e-20;  ///< of a total of 1
constexpr std::size_t lanes = 16;         ///< of a tile

}  // namespace

void StatePrior::set(std::span<const double> probability) {
  probability_.assign(probability.begin(), probability.end());
}

void StatePrior::follow(std::span<const double> mean_weights, double keep) {
  for (std::size_t c = 0; c < probability_.size(); ++c) probability_[c] = keep * probability_[c] + (1 - keep) * mean_weights[c];
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
}

// By products, a tenth of the time of exponentials; false where they are so small that doubles may lose them.
bool GroupPosterior::multiply(const StatePrior& prior, std::span<const StateFactor> factors) {
  constexpr double least_total = 1e-200;
  const double total = stages_->multiply(prior.probability().data(), factors, weight_.size(), weight_.data(), tile_sum_.data());
  if (!(total > least_total)) return false;
  divide_by(total);
  return true;
}

/// Brings the weights to a sum of 1, and finds the tiles that weigh something.
void GroupPosterior::divide_by(double total) {
  const double scale = 1 / total, least = weighs_nothing * total;
  tiles_.clear();
  for (std::size_t tile = 0; tile < tile_sum_.size(); ++tile) {
    double* weight = &weight_[tile * lanes];
    const std::size_t n = std::min(lanes, weight_.size() - tile * lanes);
    const bool weighs = tile_sum_[tile] > least;
    for (std::size_t i = 0; i < n; ++i) weight[i] = weighs ? weight[i] * scale : 0;
    if (weighs) tiles_.push_back(static_cast<std::uint32_t>(tile));
  }
}

void GroupPosterior::set(const StatePrior& prior, std::span<const StateFactor> factors) {
  if (multiply(prior, factors)) return;
  std::transform(prior.probability().begin(), prior.probability().end(), weight_.begin(), log_of);
  for (const StateFactor& f : factors)
    for (std::size_t c = 0; c < weight_.size(); ++c)
      weight_[c] += f.count * (f.logarithm != nullptr ? f.logarithm[c] : log_of(f.relative[c]));
  const double highest = *std::max_element(weight_.begin(), weight_.end());
  std::fill(tile_sum_.begin(), tile_sum_.end(), 0.0);
  double total = 0;
  for (std::size_t c = 0; c < weight_.size(); ++c) {
    weight_[c] = weight_[c] - highest > negligible ? math::exp(weight_[c] - highest) : 0;
    tile_sum_[c / lanes] += weight_[c];
    total += weight_[c];
  }
  divide_by(total);
}

void GroupPosterior::values(std::span<const StateRows> rows, std::span<double> value) {
  sums_.resize(rows.size() * lanes);
  stages_->values(weight_.data(), weight_.size(), tiles_, rows, value.data(), sums_.data());
}

double GroupPosterior::values_and_variance(std::span<const StateRows> rows, int members, std::span<double> value) {
  sums_.resize(rows.size() * lanes);
  const double all = stages_->squares(weight_.data(), weight_.size(), tiles_, rows, 1 - 1.0 / members, value.data(), sums_.data());
  double mean = 0, own = 0;
  for (std::size_t k = 0; k < rows.size(); ++k) mean += rows[k].share * value[k];
  for (std::size_t k = 0; k < rows.size(); ++k) own += rows[k].share * (value[k] - mean) * (value[k] - mean);
  return std::max(all - own, 0.0);
}

double GroupPosterior::mean_of(const double* row) const {
  const StateRows rows{row, row, 1};
  double mean = 0, sums[lanes];
  stages_->values(weight_.data(), weight_.size(), tiles_, {&rows, 1}, &mean, sums);
  return mean;
}

}  // namespace odrpo
