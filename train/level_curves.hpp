// Declares the curves of levels being learned ([record] levels): what share of quality and of scores reaches each level, and what each adds to the advantages.
#pragma once
#include <span>
#include <string_view>
#include <vector>

#include "results/store/record.hpp"

namespace odrpo {

struct EstimatorConfig;
struct RewardBatch;
struct RunSpec;

/// The curves of a level k = 2..K are called by one of these and k: "quality_at_least_7". Values are shares.
struct LevelCurveKind {
  std::string_view name, meaning;
  bool of_policy;  ///< recorded with the policy, before the batch
};
inline constexpr LevelCurveKind level_curve_kinds[] = {
    {"quality_at_least_", "P(true quality >= k - 1/2) of the policy's responses. bandit: exact mean over all prompts; toy-lm: share of the held-out responses", true},
    {"reward_at_least_", "share of the batch's scores, those that are missing left out, that are k or more", false},
    {"advantage_share_",
     "share of level k in the sum over levels and rollouts of |A^(k)|, A^(k) = what the level adds to an advantage; undefined for estimators that are no sum over levels, and where no level adds anything",
     false},
};

/// True if runs record levels.
bool records_levels(const RunSpec& spec);
/// Their curves without values: kind by kind, level by level. They follow the curves of CurveId in a record.
std::vector<Curve> level_curves(const RunSpec& spec);
/// True if a record's level curves have `policy` and `batch` values.
bool have_length(const RunRecord& record, const RunSpec& spec, std::size_t policy, std::size_t batch);
/// Appends the shares [K - 1] of the policy's quality that reach the levels 2..K.
void add_quality_levels(RunRecord& record, const RunSpec& spec, std::span<const double> reached);
/// Appends a batch's values.
void add_batch_levels(RunRecord& record, const RunSpec& spec, const RewardBatch& batch);

/// Sums over the members of a group of |A^(k)|, [K - 1] for k = 2..K, from scores 1..K and advantages A before whitening. For reward - centre forms A is
/// s (R(r) - mean R) and A^(k) = s (R_k - R_(k-1)) (1[r >= k] - mu_k) (Paper, Section 3); forms of levels as break_down() has it. False for other estimators.
bool add_level_sums(const EstimatorConfig& config, std::span<const double> scores, std::span<const double> advantages, std::span<double> sums);

}  // namespace odrpo
