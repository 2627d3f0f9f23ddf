// Computes posterior scores: the expected quality of each response given all scores (or all votes) of its group, under a model of the judge
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

// A state c is a kind of prompt (kernels/shared/judge_model.hpp). Prior: P(c) before any score of the prompt's group is seen. Posterior:
// P(c | group), after all of them are seen.

/// Stands for the logarithm of a probability of 0: no other scores of a group make up for a factor as small as e^-700.
inline constexpr double log_never = -700;
inline double log_of(double p) { return p > 0 ? std::max(math::log(p), log_never) : log_never; }

/// P(c) for every state c of a prompt, before its scores are seen.
class StatePrior {
 public:
  explicit StatePrior(std::span<const double> probability) { set(probability); }
  void set(std::span<const double> probability);
  /// Moves the prior towards a batch: P(c) <- keep P(c) + (1 - keep) weights[c] / groups, weights[c] = the sum over its groups of P(c | group).
  void follow(std::span<const double> weights, double keep, int groups = 1);
  std::span<const double> probability() const { return probability_; }
  /// Sets P(c) for prior = "moments" from new moments of the world, where prompts' centres are normal and their spreads log-normal.
  void set_moments(const PromptStates& states, const WorldMoments& moments);

 private:
  std::vector<double> probability_;  ///< [states]
};

/// P(c | group) for every state c, and means under it. Reuses its memory from group to group.
class GroupPosterior {
 public:
  GroupPosterior(std::size_t states, Isa isa) : stages_(&state_stages(isa)), weight_(states), tile_sum_((states + 15) / 16) {}
  /// Sets P(c | group) proportional to P(c) prod over factors of likelihood^count; without factors it is the prior.
  void set(const StatePrior& prior, std::span<const StateFactor> factors);
  std::span<const double> weights() const { return weight_; }
  /// Sets value[i] to the posterior score of the members to which rows[i] belongs: the mean of its `expected` under P(c | group).
  void values(std::span<const StateRows> rows, std::span<double> value);
  /// As values(). Returns the mean over members of Var(quality - mean quality of the group | group), levels^2: how uncertain differences
  /// between qualities are. This plus the variance of the values is E[(1/G) sum (q - mean q)^2 | group], G = members, q = their qualities.
  double values_and_variance(std::span<const StateRows> rows, int members, std::span<double> value);
  /// The mean of row[states] under P(c | group).
  double mean_of(const double* row) const;

 private:
  bool multiply(const StatePrior& prior, std::span<const StateFactor> factors);
  void divide_by(double total);
  const StateStages* stages_;
  std::vector<double> weight_;        ///< [states] P(c | group)
  std::vector<double> tile_sum_;      ///< sums of the weights of 16 neighbouring states
  std::vector<std::uint32_t> tiles_;  ///< the tiles of 16 states over which sums go
  std::vector<double> sums_;          ///< working memory
};

inline constexpr double least_posterior_range = 1e-9;  ///< levels; posterior scores of a group that differ by less count as equal

/// How many members of a group have a score. `score` is its index in the ScoreModel.
struct ScoreCount {
  int score = 0, count = 0;
};

/// Tables for posterior scores: E[quality | own score, all scores of the group] = sum over states c of P(c | group) E[quality | score, c].
/// P(c | group) is proportional to P(c) prod over scores k of P(k | c)^(n_k), n_k = members with score k.
class PosteriorScores {
 public:
  explicit PosteriorScores(const ScoreModel& model, Isa isa = best_isa());
  Isa isa() const { return isa_; }
  std::size_t states() const { return states_; }
  int scores() const { return static_cast<int>(relative_.size() / states_); }
  /// P(score | state) for all states, as a factor for a group in which `count` members have the score.
  StateFactor factor(ScoreCount seen) const { return {row(relative_, seen.score), row(log_likelihood_, seen.score), seen.count}; }
  /// Mean and variance of quality for all states, given a score that a `share` of the group's members has.
  StateRows quality(int score, double share) const { return {row(expected_, score), row(variance_, score), share}; }
  /// [states] E[(x - b)^2 | score, state], with x and b of WorldMoments; only where has_squares(): a model with prior = "moments".
  bool has_squares() const { return !square_.empty(); }
  const double* square(int score) const { return row(square_, score); }
  std::size_t bytes() const {
    return sizeof(double) * (log_likelihood_.size() + relative_.size() + expected_.size() + variance_.size() + square_.size());
  }

 private:
  const double* row(const std::vector<double>& rows, int score) const { return &rows[static_cast<std::size_t>(score) * states_]; }
  std::size_t states_;
  Isa isa_;
  std::vector<double> log_likelihood_;  ///< [scores][states] log P(score | state), at least log_never
  std::vector<double> relative_;        ///< [scores][states] P(score | state) over its maximum over states
  std::vector<double> expected_;        ///< [scores][states] E[quality | score, state]
  std::vector<double> variance_;        ///< [scores][states] Var(quality | score, state)
  std::vector<double> square_;          ///< [scores][states] E[(x - b)^2 | score, state]; empty for a model without moments
};

/// If all values of a group lie within least_posterior_range, makes them equal, so that rounding gives no gradient.
void even_out(std::span<double> value);

/// Computes the posterior scores of one group at a time, from one score per response. Reuses its memory, so that batches do not allocate.
class PosteriorGroup {
 public:
  explicit PosteriorGroup(const PosteriorScores& scores) : posterior_(scores.states(), scores.isa()) {}
  /// Sets value[i] to the posterior score of seen[i], the index of a score in the model; below 0 = no score, value NaN. Applies even_out().
  void values(const PosteriorScores& scores, const StatePrior& prior, std::span<const int> seen, std::span<double> value) {
    estimate(scores, prior, seen, value, false);
  }
  /// As values(). Returns the variance of GroupPosterior::values_and_variance().
  double values_and_variance(const PosteriorScores& scores, const StatePrior& prior, std::span<const int> seen, std::span<double> value) {
    return estimate(scores, prior, seen, value, true);
  }
  /// [states] P(c | group) of the last group.
  std::span<const double> weights() const { return posterior_.weights(); }
  /// The mean of E[(x - b)^2 | score, group] over the last group's members with a score; NaN if none has. For a model with moments.
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

/// What the votes of one response say about it, for each state c of its prompt; arrays are [states].
struct VoteRow {
  std::string votes;             ///< the counts of votes by judge and score, packed into the key of the cache
  std::vector<double> relative;  ///< P(votes | c) over its maximum over states
  std::vector<double> expected;  ///< E[quality | votes, c], levels
  std::vector<double> variance;  ///< Var(quality | votes, c)
  std::vector<double> square;    ///< E[(x - b)^2 | votes, c]; only with prior = "moments"
  /// Memory that the object takes in the cache of PosteriorVotes, with its hash key `votes` twice and the cache's own bookkeeping.
  std::size_t bytes() const {
    return 128 + sizeof(VoteRow) + 2 * votes.size() + (relative.size() + expected.size() + variance.size() + square.size()) * sizeof(double);
  }
};

/// Makes the VoteRow of any votes under a model of single calls. Safe from any thread. Caches up to 64 MiB of them, since responses often
/// have equal votes.
class PosteriorVotes {
 public:
  PosteriorVotes(CallModel model, Isa isa);
  /// The VoteRow of a response: seen[v] = score of call v, or no_score. `judge` = who answers call 0, where judges are distinguished and
  /// take turns. Null if there is no vote.
  std::shared_ptr<const VoteRow> row(std::span<const std::uint8_t> seen, int judge) const;
  const CallModel& model() const { return model_; }
  Isa isa() const { return isa_; }
  /// Memory: the model's tables, and the cache at its largest.
  std::size_t bytes() const { return model_.bytes() + most_kept; }

  static constexpr std::size_t most_kept = std::size_t{64} << 20;

 private:
  struct Sums {
    std::vector<double> one, quality, variance, square;  ///< [states] sums of P(response | state) times 1, quality, …
  };
  Sums sums_over(std::vector<double> weight) const;
  void divide(Sums& sums) const;
  std::shared_ptr<const VoteRow> make_row(std::string votes, std::span<const VoteCount> counts) const;
  CallModel model_;
  const VoteStages& stages_;
  Isa isa_;
  Sums unseen_;  ///< means over all responses of a state, before any vote is seen
  mutable std::mutex mutex_;
  mutable std::unordered_map<std::string, std::shared_ptr<const VoteRow>> kept_;
  mutable std::size_t kept_bytes_ = 0;
};

/// Computes the posterior scores of one group at a time, from all votes of each response. Reuses its memory.
class PosteriorVoteGroup {
 public:
  explicit PosteriorVoteGroup(const PosteriorVotes& votes) : posterior_(votes.model().states(), votes.isa()) {}
  /// Sets value[n] to the posterior scores of n responses with seen[n][votes]: E[quality | own votes, all votes of the group]; NaN without
  /// a vote. P(c | group) is proportional to P(c) prod over responses of P(votes | c). `judge`: who answers call 0 of every response, as in
  /// PosteriorVotes::row(). Returns the variance of GroupPosterior::values_and_variance().
  double values(const PosteriorVotes& votes, const StatePrior& prior, std::span<const std::uint8_t> seen, int judge, std::span<double> value);
  /// [states] P(c | group) of the last group.
  std::span<const double> weights() const { return posterior_.weights(); }
  /// The mean of E[(x - b)^2 | votes, group] over the last group's members with votes; NaN if none has. For a model with moments.
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
