// What every world's training step shares: the order in which prompts are drawn, and a batch's rewards with what the estimator makes of
// them.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "config/catalogue/catalogue.hpp"
#include "estimators/batch.hpp"
#include "estimators/running_median.hpp"
#include "kernels/random_batch.hpp"
#include "train/worlds/posterior_batch.hpp"

namespace odrpo {

struct RunSpec;

/// Deals the prompts of epochs: each epoch shuffles all of them by (key, epoch) and deals every one at most once; the rest that does not
/// fill a batch is dropped.
class PromptOrder {
 public:
  PromptOrder(int prompts, int batch);
  /// The batch of step t to prompt[batch]; steps of one epoch next to each other cost one shuffle.
  void choose(const RandomStages& random, std::uint64_t key, int t, std::uint32_t* prompt);

 private:
  int batch_, per_epoch_, epoch_ = -1;
  std::vector<std::uint32_t> order_, word_;
};

/// How the advantages of a run are whitened.
Whitening whitening_of(const RunSpec& spec);

/// A batch's rewards and advantages, [B][G]. Where the votes of a response are members of its prompt's group (kind.members = N > 1), the
/// group has G N scores, and a response's advantage is the mean over those of its votes that are there.
struct RewardBatch {
  RewardKind kind;
  BatchEstimator estimator;
  std::optional<RunningMedian> median{};      ///< of the rule `running`
  std::optional<PosteriorBatch> posterior{};  ///< of posterior estimators
  std::vector<std::uint8_t> score{};          ///< seen, [B][G] or, where votes stay apart, [B][G][N]; empty when rewards are real-valued
  std::vector<float> reward{};                ///< seen; empty when they are integer scores
  std::vector<std::uint8_t> mask{};           ///< 1 = takes part in the update; empty when all do
  std::vector<float> raw{}, advantage{};      ///< as the estimator gives them, and as the update uses them
  std::vector<double> value{};                ///< [B][G] posterior scores; empty when there are none, or their advantages are looked up
  std::vector<double> floor{};                ///< [B] floor_squared() of their groups
  std::vector<float> of_vote{};               ///< [B][G][N] the estimator's; empty when votes are no members of a group
  std::vector<int> first_judge{};             ///< [B] who answers the first call about a prompt's responses; empty unless an estimator asks

  const std::uint8_t* mask_or_null() const { return mask.empty() ? nullptr : mask.data(); }
};
/// `estimator` made for the run's levels and rollouts; `posterior`: of a posterior estimator, else empty.
RewardBatch make_rewards(const RunSpec& spec, const BatchEstimator& estimator, const PosteriorTables& posterior);

/// Takes over what earlier batches decide: the running median, the prior of posterior scores.
void begin_batch(RewardBatch& b);
/// Advantages of the rewards, the mask of those that take part, whitening. `tokens` of each response; empty = one, as the bandit's.
void estimate_advantages(const RunSpec& spec, const EstimatorStages& stages, const Whitening& whitening, RewardBatch& b,
                         std::span<const int> tokens = {});
/// Remembers the rewards for later batches.
void end_batch(RewardBatch& b);

/// Calls with the batch's rewards: integer scores or real ones.
template <class F>
auto with_rewards(const RewardBatch& b, F f) {
  return b.kind.real ? f(b.reward) : f(b.score);
}

/// The rewards of a batch that are there; that of a response whose votes stay apart is their mean.
struct SeenSum {
  double sum = 0, count = 0;
  double mean() const { return sum / count; }  // NaN when there are none
};
SeenSum sum_seen(const RewardBatch& b);

/// Shares of the batch's groups and levels that teach nothing, over all scores of a group.
DeadShares dead_shares(const RunSpec& spec, const RewardBatch& b);

}  // namespace odrpo
