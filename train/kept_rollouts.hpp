// Declares how a run keeps the rollouts of some steps in its record (`[record] rollouts`).
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "results/store/record.hpp"

namespace odrpo {

struct RewardBatch;
struct RunSpec;

/// Most rollouts that a run may keep, since reading a file takes a run's rollouts as a whole.
inline constexpr double most_kept_rollouts = 500'000;

/// True if the run keeps the rollouts of step t: every k-th step, the first and the last that update the policy.
bool keeps_rollouts(const RunSpec& spec, int t);
/// The number of rollouts that a run keeps until it has taken its first `steps` steps.
std::size_t kept_rollouts(const RunSpec& spec, int steps);
/// Columns of the kept rollouts, without values; none if the run keeps no rollouts.
std::vector<Curve> rollout_values(const RunSpec& spec);

/// A response as a world knows it. `id`: the bandit's action, or a hash of the words. `quality`: true, in levels.
struct KeptResponse {
  double id = 0, length = 0, quality = 0;
};
/// Appends prompt, reward and advantage of response `i` of the batch of step t, [B][G], besides what the world knows of it. The advantage is the one that
/// the update uses, after whitening; 0 for a response that takes no part. `prompts`: of the batch.
void keep_rollout(RunRecord& r, const RunSpec& spec, int t, std::span<const std::uint32_t> prompts, const RewardBatch& batch, std::size_t i,
                  const KeptResponse& response);

/// Keeps the rollouts of the latest step t. `run`: a world's run (train/loop.hpp).
template <class W>
void keep_rollouts(RunRecord& r, const W& run, int t) {
  for (std::size_t i = 0; i < run.step.batch.advantage.size(); ++i)
    keep_rollout(r, *run.problem->spec, t, run.step.prompt, run.step.batch, i, run.response(i));
}

/// True if the rollouts of a record that was loaded from a checkpoint are those of the steps before t.
bool are_kept_until(const RunRecord& r, const RunSpec& spec, int t);

}  // namespace odrpo
