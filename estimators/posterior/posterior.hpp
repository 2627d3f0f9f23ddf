// Posterior scores: what a group's scores, or all votes of its responses, say of each response's true quality under a model of the judge
// (docs/posterior.md).
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "estimators/posterior/state_stages.hpp"
#include "kernels/isa.hpp"
#include "kernels/math.hpp"
#include "kernels/shared/judge_model.hpp"

namespace odrpo {

// P(state of a prompt): before any score of a group is seen, and after all of them are.

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

// Posterior scores from all votes of each response of a group, under a model of single calls (docs/posterior.md).

/// What the votes of one response say, for each state c of its prompt; [states].
struct VoteRow {
  std::string votes;             ///< which votes: equal for equal counts
  std::vector<double> relative;  ///< P(votes | c) over that of the state that makes them likeliest
  std::vector<double> expected;  ///< E[quality | votes, c], levels
  std::vector<double> variance;  ///< Var(quality | votes, c)
  std::vector<double> square;    ///< E[(x - b)^2 | votes, c]; only with prior = "moments"
  /// With its name once more, and its place among those that are kept.
  std::size_t bytes() const {
    return 128 + sizeof(VoteRow) + 2 * votes.size() + (relative.size() + expected.size() + variance.size() + square.size()) * sizeof(double);
  }
};

/// The rows of a model. Safe from any thread: rows are kept, 64 MiB of them at most, since responses often have the same votes.
class PosteriorVotes {
 public:
  PosteriorVotes(CallModel model, Isa isa);
  /// The row of a response's votes: seen[v] = score of call v, or no_score; `judge` = who answers call 0 where judges are told apart and
  /// take turns. Null where there is no vote.
  std::shared_ptr<const VoteRow> row(std::span<const std::uint8_t> seen, int judge) const;
  const CallModel& model() const { return model_; }
  Isa isa() const { return isa_; }
  /// The model and the rows that may be kept.
  std::size_t bytes() const { return model_.bytes() + most_kept; }

  static constexpr std::size_t most_kept = std::size_t{64} << 20;

 private:
  struct Sums {
    std::vector<double> one, quality, variance, square;  ///< [states]
  };
  Sums sums_over(std::vector<double> weight) const;
  void divide(Sums& sums) const;
  std::shared_ptr<const VoteRow> make_row(std::string votes, std::span<const VoteCount> counts) const;
  CallModel model_;
  const VoteStages& stages_;
  Isa isa_;
  Sums unseen_;  ///< of the responses, before any vote is seen
  mutable std::mutex mutex_;
  mutable std::unordered_map<std::string, std::shared_ptr<const VoteRow>> kept_;
  mutable std::size_t kept_bytes_ = 0;
};

/// Posterior scores of one group at a time. Keeps its memory, so that batches do not allocate.
class PosteriorVoteGroup {
 public:
  explicit PosteriorVoteGroup(const PosteriorVotes& votes) : posterior_(votes.model().states(), votes.isa()) {}
  /// value[n] of the responses with the votes seen[n][votes]: E[quality | own votes, all votes of the group]; NaN where there is none.
  /// P(c | group) is proportional to P(c) prod over responses of P(votes | c). `judge`: of all responses, as in PosteriorVotes::row.
  /// Returns GroupPosterior::values_and_variance().
  double values(const PosteriorVotes& votes, const StatePrior& prior, std::span<const std::uint8_t> seen, int judge, std::span<double> value);
  /// P(c | group) of the last group.
  std::span<const double> weights() const { return posterior_.weights(); }
  /// Mean over its members that have votes of E[(x - b)^2 | votes, group]; NaN when there is none. Of a model with moments.
  double mean_square() const;

 private:
  std::vector<std::shared_ptr<const VoteRow>> row_;  ///< [n]
  std::vector<const VoteRow*> sorted_;
  std::vector<StateFactor> factor_;
  std::vector<StateRows> rows_;
  std::vector<double> value_;
  GroupPosterior posterior_;
};

}  // namespace odrpo
