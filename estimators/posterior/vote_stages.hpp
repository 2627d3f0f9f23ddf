// How likely all votes of a response are: sums over kinds of responses, traits and states, compiled once per instruction set.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/isa.hpp"
#include "kernels/shared/judge_model.hpp"

namespace odrpo {

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
