// Posterior scores: what a group's scores say of each response's true quality, under a model of the judge (docs/posterior.md).
#pragma once
#include <span>
#include <vector>

#include "kernels/score_model.hpp"

namespace odrpo {

inline constexpr double least_posterior_range = 1e-9;  ///< of a group's values, levels; a smaller one is none

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

/// How often a group has a score: its number in the model.
struct ScoreCount {
  int score = 0, count = 0;
};

/// Values of scores by their group: E[quality | own score, all scores of the group] =
/// sum over states c of P(c | group) E[quality | score, c], P(c | group) proportional to P(c) prod_k P(k | c)^(n_k).
class PosteriorScores {
 public:
  explicit PosteriorScores(const ScoreModel& model);
  std::size_t states() const { return states_; }
  /// P(c | group): [states]. The prior where nothing was seen.
  void weights(const StatePrior& prior, std::span<const ScoreCount> seen, std::span<double> out) const;
  /// E[quality | score, group], levels, from weights() of the group.
  double value(std::span<const double> weights, int score) const { return mean_of(expected_, weights, score); }
  /// E[(x - b)^2 | score, group] likewise, of a model with moments.
  double square(std::span<const double> weights, int score) const { return mean_of(square_, weights, score); }
  std::size_t bytes() const { return sizeof(double) * (log_likelihood_.size() + relative_.size() + expected_.size() + square_.size()); }

 private:
  bool multiply(const StatePrior& prior, std::span<const ScoreCount> seen, std::span<double> out) const;
  double mean_of(const std::vector<double>& rows, std::span<const double> weights, int score) const;
  std::size_t states_;
  std::vector<double> log_likelihood_;  ///< [scores][states], at least log_never
  std::vector<double> relative_;        ///< [scores][states] P(score | state) over that of the state that makes it likeliest
  std::vector<double> expected_;        ///< [scores][states]
  std::vector<double> square_;          ///< [scores][states]; empty of a model without moments
};

/// Posterior scores of one group at a time. Keeps its memory, so that batches do not allocate.
class PosteriorGroup {
 public:
  explicit PosteriorGroup(const PosteriorScores& scores) : weight_(scores.states()) {}
  /// value[n] of the scores seen[n] (their numbers in the model; below 0 = there is none, whose value is NaN). Values of a group that
  /// differ by less than 1e-9 are made equal: the group teaches nothing then.
  void values(const PosteriorScores& scores, const StatePrior& prior, std::span<const int> seen, std::span<double> value);
  /// P(c | group) of the last group.
  std::span<const double> weights() const { return weight_; }
  /// The scores of the last group, ascending, without missing ones.
  std::span<const ScoreCount> counts() const { return count_; }

 private:
  std::vector<ScoreCount> count_;
  std::vector<double> value_, weight_;
};

}  // namespace odrpo
