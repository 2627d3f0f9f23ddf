// Computes posterior scores of groups by Bayes' rule over the states (kinds) of a prompt.
#include "estimators/posterior/posterior.hpp"

#include <algorithm>
#include <limits>

namespace odrpo {

PosteriorScores::PosteriorScores(const ScoreModel& model, Isa isa) : states_(model.states()), isa_(isa) {
  const std::size_t scores = static_cast<std::size_t>(model.scores);
  log_likelihood_.resize(scores * states_);
  relative_.assign(scores * states_, 1.0);
  expected_.resize(scores * states_);
  variance_.resize(scores * states_);
  square_.resize(model.square.empty() ? 0 : scores * states_);
  for (std::size_t k = 0; k < scores; ++k) {
    double most = 0;
    for (std::size_t c = 0; c < states_; ++c) most = std::max(most, model.likelihood[c * scores + k]);
    for (std::size_t c = 0; c < states_; ++c) {
      const std::size_t from = c * scores + k, to = k * states_ + c;
      log_likelihood_[to] = log_of(model.likelihood[from]);
      if (most > 0) relative_[to] = model.likelihood[from] / most;
      expected_[to] = model.expected[from];
      variance_[to] = model.variance[from];
      if (!square_.empty()) square_[to] = model.square[from];
    }
  }
}

void even_out(std::span<double> value) {
  if (value.empty()) return;
  const auto [low, high] = std::minmax_element(value.begin(), value.end());
  if (*high - *low < least_posterior_range) std::fill(value.begin(), value.end(), double{*low});
}

double PosteriorGroup::mean_square(const PosteriorScores& scores) const {
  double sum = 0;
  int members = 0;
  for (const ScoreCount& seen : count_) {
    sum += seen.count * posterior_.mean_of(scores.square(seen.score));
    members += seen.count;
  }
  return members > 0 ? sum / members : std::numeric_limits<double>::quiet_NaN();
}

double PosteriorGroup::estimate(const PosteriorScores& scores, const StatePrior& prior, std::span<const int> seen, std::span<double> value,
                                bool variance) {
  count_.clear();
  int members = 0;
  const auto place = [&](int score) {
    return std::find_if(count_.begin(), count_.end(), [&](const ScoreCount& c) { return c.score == score; });
  };
  for (const int score : seen) {
    if (score < 0) continue;
    ++members;
    if (const auto known = place(score); known != count_.end()) ++known->count;
    else count_.push_back({score, 1});
  }
  // sorted, so that rounding does not depend on the order of a group's members
  std::sort(count_.begin(), count_.end(), [](const ScoreCount& a, const ScoreCount& b) { return a.score < b.score; });
  factor_.clear();
  rows_.clear();
  for (const ScoreCount& c : count_) {
    factor_.push_back(scores.factor(c));
    rows_.push_back(scores.quality(c.score, static_cast<double>(c.count) / members));
  }
  posterior_.set(prior, factor_);
  value_.resize(rows_.size());
  double open = 0;
  if (variance && members > 0) open = posterior_.values_and_variance(rows_, members, value_);
  else posterior_.values(rows_, value_);
  even_out(value_);
  for (std::size_t i = 0; i < seen.size(); ++i)
    value[i] = seen[i] < 0 ? std::numeric_limits<double>::quiet_NaN() : value_[static_cast<std::size_t>(place(seen[i]) - count_.begin())];
  return open;
}

// Bayes' rule: the prior and the posterior of a prompt's state.

namespace portable {
extern const StateStages state_table;
}
namespace avx2 {
extern const StateStages state_table;
}
const StateStages& state_stages(Isa isa) { return isa == Isa::portable ? portable::state_table : avx2::state_table; }

namespace {

constexpr double weighs_nothing = 1e-20;  ///< sums leave out a tile with a smaller share of all weights
constexpr std::size_t lanes = 16;         ///< states of a tile

}  // namespace

void StatePrior::set(std::span<const double> probability) {
  probability_.assign(probability.begin(), probability.end());
}

void StatePrior::follow(std::span<const double> weights, double keep, int groups) {
  const double share = (1 - keep) / groups;
  for (std::size_t c = 0; c < probability_.size(); ++c) probability_[c] = keep * probability_[c] + share * weights[c];
}

void StatePrior::set_moments(const PromptStates& states, const WorldMoments& moments) {
  // E[spread^2] = exp(2 m + 2 t^2) if log spread ~ N(m, t^2); m is `middle` here
  const double sd = math::sqrt(moments.variance), t = states.log_spread_sd, middle = 0.5 * math::log(moments.square) - t * t;
  double total = 0;
  for (std::size_t c = 0; c < probability_.size(); ++c) {
    const double b = (states.centre[c] - moments.mean) / sd, s = (states.log_spread[c] - middle) / t;
    total += probability_[c] = math::exp(std::max(-0.5 * (b * b + s * s), log_never));
  }
  for (double& p : probability_) p /= total;
}

// Computes the weights by products, in a tenth of the time that exponentials of sums of logarithms take. Returns false if products are so
// small that doubles lose digits.
bool GroupPosterior::multiply(const StatePrior& prior, std::span<const StateFactor> factors) {
  constexpr double least_total = 1e-200;
  const double total = stages_->multiply(prior.probability().data(), factors, weight_.size(), weight_.data(), tile_sum_.data());
  if (!(total > least_total)) return false;
  divide_by(total);
  return true;
}

/// Divides the weights by their sum `total`, and lists the tiles whose weights are not negligible in sums. The others keep their weights: by a prior
/// that follows, other scores of a later group may make up for them.
void GroupPosterior::divide_by(double total) {
  const double scale = 1 / total, least = weighs_nothing * total;
  tiles_.clear();
  for (std::size_t tile = 0; tile < tile_sum_.size(); ++tile) {
    double* weight = &weight_[tile * lanes];
    const std::size_t n = std::min(lanes, weight_.size() - tile * lanes);
    for (std::size_t i = 0; i < n; ++i) weight[i] *= scale;
    if (tile_sum_[tile] > least) tiles_.push_back(static_cast<std::uint32_t>(tile));
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
    weight_[c] = math::exp(std::max(weight_[c] - highest, log_never));
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
