// Declares what the training step of every world needs: the order of prompts, and a batch's rewards with their advantages.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "config/catalogue/catalogue.hpp"
#include "estimators/batch.hpp"
#include "estimators/outside/library.hpp"
#include "estimators/outside/program.hpp"
#include "estimators/running_median.hpp"
#include "kernels/random_batch.hpp"
#include "train/worlds/posterior_batch.hpp"

namespace odrpo {

struct RunSpec;

/// Chooses the prompts of each batch. Each epoch shuffles all prompts by the run's random key and the epoch's number, and uses each at most
/// once. The last prompts of an epoch, if they do not fill a batch, are left out.
class PromptOrder {
 public:
  PromptOrder(int prompts, int batch);
  /// Writes the prompts of step t's batch to prompt[batch]. `key`: the run's random key. Steps of one epoch, one after another, share one shuffle.
  void choose(const RandomStages& random, std::uint64_t key, int t, std::uint32_t* prompt);

  // Of steps that draw several batches (dead_groups = "resample"): the shuffles of all epochs, one after another, are one sequence.

  /// Begins a step: nothing is drawn yet, and the sequence goes on where the last finished step left it.
  void begin_drawing();
  /// Writes the next prompts of the sequence that this step has not drawn to prompt[batch]. False if so many are not left.
  bool draw(const RandomStages& random, std::uint64_t key, std::uint32_t* prompt);
  /// Ends a step: what it drew is used up.
  void end_drawing() { used = next_; }
  std::int64_t used = 0;  ///< prompts of the sequence that finished steps drew or passed over

 private:
  void shuffle_for(const RandomStages& random, std::uint64_t key, int epoch);
  int batch_, per_epoch_, epoch_ = -1;
  std::int64_t next_ = 0;  // of the sequence, in the present step
  std::size_t drawn_ = 0;  // in the present step
  std::vector<std::uint8_t> is_drawn_;  // [prompts]
  std::vector<std::uint32_t> order_, word_;
};

/// The whitening of advantages that the run's config asks for.
Whitening whitening_of(const RunSpec& spec);

/// The program or the library that computes the advantages of a run, and what it is told of a batch besides the rewards.
struct OutsideCall {
  std::shared_ptr<OutsideProgram> program{};  ///< null: none does
  std::shared_ptr<OutsideLibrary> library{};
  int step = 0;
  std::vector<double> score{}, answer{};  ///< [B][G] scratch, also of forms that read the whole batch
};

/// Rewards and advantages of a batch of B prompts with G rollouts each, [B][G]. With kind.members = N > 1, each of a response's N votes is
/// a member of its prompt's group, which then has G N scores. A response's advantage is then the mean over its votes that are not missing.
struct RewardBatch {
  RewardKind kind;
  BatchEstimator estimator;
  std::optional<RunningMedian> median{};      ///< the running median, of estimators that read one
  std::optional<PosteriorBatch> posterior{};  ///< computes posterior scores; only for posterior estimators
  std::vector<std::uint8_t> score{};          ///< observed integer scores [B][G], or all votes [B][G][N]; empty when rewards are real
  std::vector<float> reward{};                ///< observed real-valued rewards; empty when rewards are integer scores
  std::vector<std::uint8_t> mask{};           ///< 1 = takes part in the update; empty when all do
  std::vector<float> raw{}, advantage{};      ///< advantages before whitening; advantages that the update uses
  std::vector<double> value{};                ///< [B][G] posterior scores; empty when there are none, or a table gives the advantages
  std::vector<double> floor{};                ///< [B] floor_squared() (estimators/estimator.hpp) of each group's divisor
  std::vector<float> of_vote{};               ///< [B][G][N] advantages of votes; empty when votes are no members of a group
  OutsideCall outside{};                      ///< of an estimator that is another program
  double drawn_groups = 0, drawn_dead = 0;    ///< groups that the latest step drew, and how many of them are dead; 0 if it draws no more than a batch
  std::vector<int> first_judge{};             ///< [B] judge who answers the first call about a prompt's responses; empty if not needed

  const std::uint8_t* mask_or_null() const { return mask.empty() ? nullptr : mask.data(); }
};
/// Makes a batch's memory. `estimator`: made for the run's levels and rollouts. `posterior`: tables of a posterior estimator; else empty.
RewardBatch make_rewards(const RunSpec& spec, const BatchEstimator& estimator, const PosteriorTables& posterior);

/// Call before the first step: opens the run in the program of its estimator, if it has one. Failure `runs_failed` where that goes wrong.
void begin_outside(const RunSpec& spec, RewardBatch& b);
/// Call before each batch: makes what earlier batches showed take effect, in the running median and in the prior of posterior scores.
void begin_batch(RewardBatch& b);
/// Computes advantages from the rewards, fills the mask of responses that take part, and whitens. `prompts`: of the batch. `tokens`: length of each
/// response; empty = one token each, as in the bandit. Failure `runs_failed` where another program computes them, and does not.
void estimate_advantages(const RunSpec& spec, const EstimatorStages& stages, const Whitening& whitening, RewardBatch& b,
                         std::span<const std::uint32_t> prompts, std::span<const int> tokens = {});
/// Call after each batch: updates the running median by its rewards, for later batches.
void end_batch(RewardBatch& b);

/// Returns f(rewards) for the vector that holds the batch's rewards: real ones or integer scores.
template <class F>
auto with_rewards(const RewardBatch& b, F f) {
  return b.kind.real ? f(b.reward) : f(b.score);
}

/// Sum and number of a batch's rewards that are not missing. Where all votes are kept, a response's reward is the mean of its votes.
struct SeenSum {
  double sum = 0, count = 0;
  double mean() const { return sum / count; }  // NaN when there are none
};
SeenSum sum_seen(const RewardBatch& b);
/// The observed reward of response i; where all votes are kept, the mean of its votes. NaN = missing.
double reward_of(const RewardBatch& b, std::size_t i);

/// The groups of the batch that are not dead.
std::vector<std::size_t> teaching_groups(const RunSpec& spec, const RewardBatch& b);
/// Ends a run whose step t finds too few groups that teach: Failure `runs_failed`. `most`: it has drawn max_batches batches; else there are no
/// more prompts.
[[noreturn]] void refuse_to_fill(const RunSpec& spec, const RewardBatch& batch, int t, bool most);

/// Returns the shares of groups and levels that give no gradient (DeadShares), of a step that draws several batches the share of all groups drawn. Each vote that a response keeps counts as a score of the group.
DeadShares dead_shares(const RunSpec& spec, const RewardBatch& b);

}  // namespace odrpo
