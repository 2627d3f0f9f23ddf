// Posterior scores of groups.
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
  // ascending: the sums of a group do not depend on the order of its members
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

}  // namespace odrpo
