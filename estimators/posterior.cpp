// Posterior scores of groups.
#include "estimators/posterior.hpp"

#include <algorithm>
#include <limits>

#include "kernels/math.hpp"

namespace odrpo {
namespace {

constexpr double log_never = -700;  ///< of a score that a state does not give: far below what all other scores of a group can make up for
constexpr double negligible = -45;  ///< exp(-45) < 3e-20: does not change a sum of weights of which the largest is 1

/// Sum of at(0), ..., at(n - 1) as eight sums side by side, always in this order.
template <class At>
double sum_of(std::size_t n, At at) {
  double part[8] = {};
  std::size_t i = 0;
  for (; i + 8 <= n; i += 8)
    for (std::size_t j = 0; j < 8; ++j) part[j] += at(i + j);
  for (; i < n; ++i) part[i % 8] += at(i);
  return ((part[0] + part[4]) + (part[2] + part[6])) + ((part[1] + part[5]) + (part[3] + part[7]));
}

double log_of(double p) { return p > 0 ? std::max(math::log(p), log_never) : log_never; }

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

PosteriorScores::PosteriorScores(const ScoreModel& model) : states_(model.states()) {
  const std::size_t scores = static_cast<std::size_t>(model.scores);
  log_likelihood_.resize(scores * states_);
  relative_.assign(scores * states_, 1.0);
  expected_.resize(scores * states_);
  square_.resize(model.square.empty() ? 0 : scores * states_);
  for (std::size_t k = 0; k < scores; ++k) {
    double most = 0;
    for (std::size_t c = 0; c < states_; ++c) most = std::max(most, model.likelihood[c * scores + k]);
    for (std::size_t c = 0; c < states_; ++c) {
      const std::size_t from = c * scores + k, to = k * states_ + c;
      log_likelihood_[to] = log_of(model.likelihood[from]);
      if (most > 0) relative_[to] = model.likelihood[from] / most;
      expected_[to] = model.expected[from];
      if (!square_.empty()) square_[to] = model.square[from];
    }
  }
}

// By products, a tenth of the time of exponentials; false where they are so small that doubles may lose them.
bool PosteriorScores::multiply(const StatePrior& prior, std::span<const ScoreCount> seen, std::span<double> out) const {
  constexpr int most_members = 32;
  constexpr double least_total = 1e-200;
  int members = 0;
  for (const ScoreCount& s : seen) members += s.count;
  if (members > most_members) return false;
  std::copy(prior.probability().begin(), prior.probability().end(), out.begin());
  for (const ScoreCount& s : seen) {
    const double* row = &relative_[static_cast<std::size_t>(s.score) * states_];
    for (int n = 0; n < s.count; ++n)
      for (std::size_t c = 0; c < out.size(); ++c) out[c] *= row[c];
  }
  const double total = sum_of(out.size(), [&](std::size_t c) { return out[c]; });
  if (!(total > least_total)) return false;
  const double scale = 1 / total;
  for (double& w : out) w *= scale;
  return true;
}

void PosteriorScores::weights(const StatePrior& prior, std::span<const ScoreCount> seen, std::span<double> out) const {
  if (multiply(prior, seen, out)) return;
  std::copy(prior.logarithm().begin(), prior.logarithm().end(), out.begin());
  for (const ScoreCount& s : seen) {
    const double* row = &log_likelihood_[static_cast<std::size_t>(s.score) * states_];
    for (std::size_t c = 0; c < out.size(); ++c) out[c] += s.count * row[c];
  }
  const double highest = *std::max_element(out.begin(), out.end());
  double total = 0;
  for (double& w : out) {
    w = w - highest > negligible ? math::exp(w - highest) : 0;
    total += w;
  }
  for (double& w : out) w /= total;
}

double PosteriorScores::mean_of(const std::vector<double>& rows, std::span<const double> weights, int score) const {
  const double* row = &rows[static_cast<std::size_t>(score) * states_];
  return sum_of(weights.size(), [&](std::size_t c) { return weights[c] * row[c]; });
}

void PosteriorGroup::values(const PosteriorScores& scores, const StatePrior& prior, std::span<const int> seen, std::span<double> value) {
  count_.clear();
  const auto place = [&](int score) {
    return std::find_if(count_.begin(), count_.end(), [&](const ScoreCount& c) { return c.score == score; });
  };
  for (const int score : seen) {
    if (score < 0) continue;
    if (const auto known = place(score); known != count_.end()) ++known->count;
    else count_.push_back({score, 1});
  }
  // ascending: the sums of a group do not depend on the order of its members
  std::sort(count_.begin(), count_.end(), [](const ScoreCount& a, const ScoreCount& b) { return a.score < b.score; });
  scores.weights(prior, count_, weight_);
  value_.clear();
  for (const ScoreCount& c : count_) value_.push_back(scores.value(weight_, c.score));
  if (!value_.empty()) {
    const auto [low, high] = std::minmax_element(value_.begin(), value_.end());
    if (*high - *low < least_posterior_range) std::fill(value_.begin(), value_.end(), double{*low});
  }
  for (std::size_t i = 0; i < seen.size(); ++i)
    value[i] = seen[i] < 0 ? std::numeric_limits<double>::quiet_NaN() : value_[static_cast<std::size_t>(place(seen[i]) - count_.begin())];
}

}  // namespace odrpo
