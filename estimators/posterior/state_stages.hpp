// Sums over the states of a prompt for one group, and how likely all votes of a response are: compiled once per instruction set.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/isa.hpp"
#include "kernels/shared/judge_model.hpp"

namespace odrpo {

/// How likely each state makes something that a group shows `count` times, over the state that makes it likeliest.
struct StateFactor {
  const double* relative;   ///< [states]
  const double* logarithm;  ///< [states] log_of() of the likelihood, up to a constant; null: that of `relative`
  int count;
};

/// What members of a group that show the same say of their quality in each state.
struct StateRows {
  const double* expected;  ///< [states] E[quality | state], levels
  const double* variance;  ///< [states] Var(quality | state)
  double share;            ///< of the group
};

struct StateStages {
  /// out[states] = prior[states] times the product over factors of relative^count, tile_sum[tiles] the sum of each 16. Returns its sum.
  double (*multiply)(const double* prior, std::span<const StateFactor> factors, std::size_t states, double* out, double* tile_sum);
  /// value[rows] = sum over states of weight times expected. Tiles of 16 states that are not listed weigh nothing. `sums`: memory, [rows][16].
  void (*values)(const double* weight, std::size_t states, std::span<const std::uint32_t> tiles, std::span<const StateRows> rows, double* value,
                 double* sums);
  /// The same; returns E[(1/G) sum over members of (quality - mean quality)^2] = sum over states of weight times
  /// sum of share (own variance + expected^2) - (sum of share expected)^2. `own` = 1 - 1/G.
  double (*squares)(const double* weight, std::size_t states, std::span<const std::uint32_t> tiles, std::span<const StateRows> rows, double own,
                    double* value, double* sums);
};
const StateStages& state_stages(Isa isa);

// How likely all votes of a response are: sums over kinds of responses, traits and states, compiled once per instruction set.

/// How many calls of a judge gave a score: its number in the model.
struct VoteCount {
  int judge, score, count;
};

struct VoteStages {
  /// out[width] = P(votes | response) = sum over traits of P(trait) prod over judges of mean over classes of prod_k P(k)^(n_k). `votes`:
  /// those of a judge together.
  void (*likelihood)(const CallModel& model, std::span<const VoteCount> votes, double* out);
  /// to[n][states] = sum over the listed responses of P(response | state) of[n][response], in their order; those that are not listed have
  /// weights of 0.
  void (*spread)(const CallModel& model, std::span<const std::uint32_t> responses, std::span<const double* const> of,
                 std::span<double* const> to);
};
const VoteStages& vote_stages(Isa isa);

}  // namespace odrpo
