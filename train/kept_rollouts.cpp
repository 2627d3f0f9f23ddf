// Keeps the rollouts of some steps in the record of a run.
#include "train/kept_rollouts.hpp"

#include "config/spec.hpp"
#include "train/prompt_batch.hpp"

namespace odrpo {
namespace {

std::size_t batch_rollouts(const RunSpec& spec) { return static_cast<std::size_t>(spec.learn.batch) * static_cast<std::size_t>(spec.learn.rollouts); }

bool has_column(const RunSpec& spec, int column) { return column != rollout_length || spec.env.kind == WorldKind::toy_lm; }

}  // namespace

bool keeps_rollouts(const RunSpec& spec, int t) {
  const int k = spec.record.rollouts;
  return k > 0 && t < spec.learn.steps && (t % k == 0 || t + 1 == spec.learn.steps);
}

std::size_t kept_rollouts(const RunSpec& spec, int steps) {
  const int k = spec.record.rollouts;
  if (k == 0 || steps == 0) return 0;
  const bool last = steps == spec.learn.steps && (steps - 1) % k != 0;
  return (static_cast<std::size_t>((steps - 1) / k) + 1 + last) * batch_rollouts(spec);
}

std::vector<Curve> rollout_values(const RunSpec& spec) {
  std::vector<Curve> columns;
  for (int c = 0; c < rollout_column_count && spec.record.rollouts > 0; ++c)
    if (has_column(spec, c)) columns.push_back({rollout_columns[c], {}});
  return columns;
}

void keep_rollout(RunRecord& r, const RunSpec& spec, int t, std::span<const std::uint32_t> prompts, const RewardBatch& batch, std::size_t i,
                  const KeptResponse& response) {
  double values[rollout_column_count];
  values[rollout_step] = t;
  values[rollout_prompt] = prompts[i / static_cast<std::size_t>(spec.learn.rollouts)];
  values[rollout_response] = response.id;
  values[rollout_reward] = reward_of(batch, i);
  values[rollout_advantage] = batch.mask.empty() || batch.mask[i] != 0 ? static_cast<double>(batch.advantage[i]) : 0;
  values[rollout_length] = response.length;
  values[rollout_quality] = response.quality;
  auto column = r.rollouts.begin();
  for (int c = 0; c < rollout_column_count; ++c)
    if (has_column(spec, c)) (column++)->values.push_back(values[c]);
}

bool are_kept_until(const RunRecord& r, const RunSpec& spec, int t) {
  const std::size_t count = kept_rollouts(spec, t);
  for (const Curve& column : r.rollouts)
    if (column.values.size() != count) return false;
  for (std::size_t i = 0; i < count; i += batch_rollouts(spec))
    if (r.rollouts[rollout_step].values[i] != static_cast<double>(i / batch_rollouts(spec)) * spec.record.rollouts) return false;
  return true;
}

}  // namespace odrpo
