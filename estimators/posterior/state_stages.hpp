// Declares the inner loops of posterior scores: sums over the states (kinds) of a prompt, and likelihoods of a response's votes. They are
// compiled once per instruction set.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/isa.hpp"
#include "kernels/shared/judge_model.hpp"

namespace odrpo {

/// One factor likelihood^count of the posterior of a group: the likelihood of a score, or of a response's votes, in each state.
struct StateFactor {
  const double* relative;   ///< [states] likelihood over its maximum over states
  const double* logarithm;  ///< [states] log_of() of the likelihood, up to a constant; null: take log_of() of `relative`
  int count;
};

/// Mean and variance of the quality, in each state, of the members of a group that have one and the same score (or votes).
struct StateRows {
  const double* expected;  ///< [states] E[quality | state, score], levels
  const double* variance;  ///< [states] Var(quality | state, score)
  double share;            ///< which share of the group's members these are
};

struct StateStages {
  /// Sets out[states] to prior times the product over factors of relative^count, tile_sum[t] to the sum of the t-th 16. Returns the whole sum.
  double (*multiply)(const double* prior, std::span<const StateFactor> factors, std::size_t states, double* out, double* tile_sum);
  /// Sets value[rows] to the sum over states of weight times the row's `expected`. Leaves out tiles of 16 states that `tiles` does not
  /// list. `sums` is working memory [rows][16].
  void (*values)(const double* weight, std::size_t states, std::span<const std::uint32_t> tiles, std::span<const StateRows> rows, double* value,
                 double* sums);
  /// As `values`. Returns E[(1/G) sum over members of (quality - mean quality)^2]. That is the sum over states of weight times
  /// (sum over rows of share (own variance + expected^2) - (sum over rows of share expected)^2), with `own` = 1 - 1/G.
  double (*squares)(const double* weight, std::size_t states, std::span<const std::uint32_t> tiles, std::span<const StateRows> rows, double own,
                    double* value, double* sums);
};
const StateStages& state_stages(Isa isa);

// P(all votes of a response), by sums over kinds of responses, their traits, and states of the prompt.

/// How many calls of a judge gave a score. `score` is its index in the CallModel.
struct VoteCount {
  int judge, score, count;
};

struct VoteStages {
  /// out[width] = P(votes | response) = sum over traits of P(trait) prod over judges of mean over error classes of prod over scores k of
  /// P(k)^(n_k). n_k = number of the judge's calls with score k. All counts of a judge are neighbours in `votes`.
  void (*likelihood)(const CallModel& model, std::span<const VoteCount> votes, double* out);
  /// to[n][states] = sum over the listed responses, in their order, of P(response | state) of[n][response]. All other responses have
  /// of[n][response] = 0.
  void (*spread)(const CallModel& model, std::span<const std::uint32_t> responses, std::span<const double* const> of,
                 std::span<double* const> to);
};
const VoteStages& vote_stages(Isa isa);

}  // namespace odrpo
