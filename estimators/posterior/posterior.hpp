// Posterior scores: what a group's scores say of each response's true quality, under a model of the judge (docs/posterior.md).
#pragma once
#include <span>
#include <vector>

#include "estimators/posterior/state_weights.hpp"
#include "kernels/isa.hpp"
#include "kernels/shared/judge_model.hpp"

namespace odrpo {

inline constexpr double least_posterior_range = 1e-9;  ///< of a group's values, levels; a smaller one is none

/// How often a group has a score: its number in the model.
struct ScoreCount {
  int score = 0, count = 0;
};

/// Values of scores by their group: E[quality | own score, all scores of the group] =
/// sum over states c of P(c | group) E[quality | score, c], P(c | group) proportional to P(c) prod_k P(k | c)^(n_k).
class PosteriorScores {
 public:
  explicit PosteriorScores(const ScoreModel& model, Isa isa = best_isa());
  Isa isa() const { return isa_; }
  std::size_t states() const { return states_; }
  /// How likely the states make a score that stands `count` times in a group.
  StateFactor factor(ScoreCount seen) const { return {row(relative_, seen.score), row(log_likelihood_, seen.score), seen.count}; }
  /// What a score that so large a share of a group has says of quality.
  StateRows quality(int score, double share) const { return {row(expected_, score), row(variance_, score), share}; }
  /// [states] E[(x - b)^2 | score, state] of a model with moments.
  const double* square(int score) const { return row(square_, score); }
  std::size_t bytes() const {
    return sizeof(double) * (log_likelihood_.size() + relative_.size() + expected_.size() + variance_.size() + square_.size());
  }

 private:
  const double* row(const std::vector<double>& rows, int score) const { return &rows[static_cast<std::size_t>(score) * states_]; }
  std::size_t states_;
  Isa isa_;
  std::vector<double> log_likelihood_;  ///< [scores][states], at least log_never
  std::vector<double> relative_;        ///< [scores][states] P(score | state) over that of the state that makes it likeliest
  std::vector<double> expected_;        ///< [scores][states]
  std::vector<double> variance_;        ///< [scores][states]
  std::vector<double> square_;          ///< [scores][states]; empty of a model without moments
};

/// Makes the values of a group equal that differ by less than least_posterior_range: the group teaches nothing then.
void even_out(std::span<double> value);

/// Posterior scores of one group at a time. Keeps its memory, so that batches do not allocate.
class PosteriorGroup {
 public:
  explicit PosteriorGroup(const PosteriorScores& scores) : posterior_(scores.states(), scores.isa()) {}
  /// value[n] of the scores seen[n] (their numbers in the model; below 0 = there is none, whose value is NaN). Values of a group that
  /// differ by less than 1e-9 are made equal: the group teaches nothing then.
  void values(const PosteriorScores& scores, const StatePrior& prior, std::span<const int> seen, std::span<double> value) {
    estimate(scores, prior, seen, value, false);
  }
  /// The same. Returns GroupPosterior::values_and_variance().
  double values_and_variance(const PosteriorScores& scores, const StatePrior& prior, std::span<const int> seen, std::span<double> value) {
    return estimate(scores, prior, seen, value, true);
  }
  /// P(c | group) of the last group.
  std::span<const double> weights() const { return posterior_.weights(); }
  /// Mean over its members that have a score of E[(x - b)^2 | score, group]; NaN when there is none. Of a model with moments.
  double mean_square(const PosteriorScores& scores) const;

 private:
  double estimate(const PosteriorScores& scores, const StatePrior& prior, std::span<const int> seen, std::span<double> value, bool variance);
  std::vector<ScoreCount> count_;
  std::vector<StateFactor> factor_;
  std::vector<StateRows> rows_;
  std::vector<double> value_;
  GroupPosterior posterior_;
};

}  // namespace odrpo
