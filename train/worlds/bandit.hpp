// The bandit as a world of the training loop: tabular and linear policies, everything about the truth exact.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/spec.hpp"
#include "envs/bandit/channel.hpp"
#include "envs/bandit/rate.hpp"
#include "envs/bandit/world.hpp"
#include "estimators/batch.hpp"
#include "kernels/random_batch.hpp"
#include "policies/softmax/policy.hpp"
#include "train/checkpoint/checkpoint.hpp"
#include "train/curves.hpp"
#include "train/final_values.hpp"
#include "train/loop.hpp"
#include "train/run_cache.hpp"
#include "train/schedule/cost.hpp"
#include "train/worlds/gradient_quality.hpp"
#include "train/worlds/posterior_batch.hpp"

namespace odrpo {

/// Everything a run decides or is given; const while it trains.
struct BanditProblem {
  const RunSpec* spec;
  Isa isa;
  std::shared_ptr<const BanditWorld> world;
  std::shared_ptr<const LinearFit> fit;  ///< of the true quality, for a tilted linear policy; null otherwise
  std::shared_ptr<const RatedWorld> rated;
  const RandomStages* random;
  const RateStages* rate;
  const EstimatorStages* estimator;
  std::shared_ptr<const BatchEstimator> advantages;  ///< shares its tables with the other runs of this estimator
  PosteriorTables posterior;                         ///< of posterior estimators; empty otherwise
  Whitening whitening;                               ///< of a batch's advantages
  int action_blocks;                                 ///< blocks of 4 random words that hold one word for every rollout of a prompt
  MadeBy by() const { return {isa}; }
};
/// Looks the world and the rater's rows up in the cache, or makes them. Nothing when `stop` was set meanwhile.
std::optional<BanditProblem> make_bandit_problem(const RunSpec& spec, RunCache& cache, Isa isa, const std::atomic<bool>& stop,
                                                 bool look_up = true);
std::optional<BanditProblem> make_bandit_problem(RunSpec&&, RunCache&, Isa, const std::atomic<bool>&, bool = true) = delete;

/// A run in the bandit; what the loop asks of it is in train/loop.hpp.
struct BanditRun {
  using Problem = BanditProblem;
  static constexpr bool measures_after_end = true;

  const Problem* problem;
  SoftmaxPolicy policy;
  StepState step;
  std::vector<std::uint32_t> word;       ///< [B][blocks][4] random words
  std::vector<std::uint32_t> vote_word;  ///< scratch of literal votes
  std::vector<std::uint16_t> action;     ///< [B][G]
  double calls_so_far = 0;               ///< of a judge that may stop early: expected calls of the steps, repeated answers apart
  CallsByJudge by_judge{};               ///< of the steps, where the bill needs them; else empty
  std::vector<double> turn_calls{};      ///< [B][turns] of the latest batch, where calls may end early and are counted by judge
  GradientQuality gradient{};            ///< of the latest recorded batch
  bool finite = true;                    ///< was the policy's value finite when it was last recorded

  explicit BanditRun(const Problem& problem);

  void choose_prompts(int t);
  void sample_rollouts(int t);
  bool score_rollouts(int t, const std::atomic<bool>& stop);
  void estimate_advantages();
  void measure_gradient(int t);
  void update_policy(int t, bool measure);

  std::string begin(const std::atomic<bool>&) { return {}; }
  bool evaluate(int, const std::atomic<bool>&) { return true; }
  bool ends_slowly() const { return false; }
  void record_policy(RunRecord& r);
  void record_batch(RunRecord& r);
  double batch_truth() const;
  const char* not_finite() const { return finite ? nullptr : "parameters are"; }
  Headroom headroom(const RunRecord&) const { return {problem->world->uniform, problem->world->best}; }
  double judge_calls() const;
  void add_final_values(RunRecord&) const {}
  static bool is_of_policy(CurveId id) { return id == CurveId::quality || id == CurveId::kl || id == CurveId::entropy; }
  template <class A>
  void keep(A& archive) {
    policy.keep(archive);
    archive(calls_so_far);
    if (!by_judge.empty()) archive(std::span<double>(by_judge));
  }
  void restored(int t) { policy.restored(first_update(t)); }

  /// The policy's update that step t begins with.
  int first_update(int t) const { return t * problem->spec->learn.epochs; }
  /// Responses and scores of the batch's prompts for step t; `draws` says which random words they take. Scores drawn by literal calls:
  /// returns how many were made.
  void draw_actions(int t, const Draws& draws);
  double draw_scores(int t, const Draws& draws);
  /// Counts the calls of each judge about the batch's responses.
  void count_by_judge();
  /// Expected calls about the batch's responses, by the rows of their distribution.
  double expected_calls() const;
  /// How the batch's rollouts enter the gradient of epoch e.
  RolloutTerms rollout_terms(int epoch) const;
};

/// The estimated gradient of one batch's prompts against the exact gradient of their expected true quality, over `record.gradient` redraws
/// of responses and scores by the policy that sampled the batch: call it between estimate_advantages and update_policy. The batch is as
/// before afterwards. NaN where undefined (one of the two is zero; SNR with fewer than 2 redraws). Cosine: of the mean estimated gradient
/// and the exact one; SNR: |mean g|^2 / trace of the covariance of g, both unbiased.
GradientQuality gradient_quality(BanditRun& run, int t);

/// Expected calls of the judge over a run in the bandit that makes all N calls about each response.
double bandit_judge_calls(const RunSpec& spec);
Cost bandit_cost(const RunSpec& spec);
/// Bytes of a run's world, and rough seconds to make it: all runs of one seed and env share it.
double bandit_world_bytes(const RunSpec& spec);
double bandit_world_seconds(const RunSpec& spec);
/// Rough seconds to find the rows of a rater's distribution in a world, once they are made.
double rating_seconds(const RunSpec& spec);

}  // namespace odrpo
