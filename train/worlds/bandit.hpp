// Declares the bandit as a world of the training loop. Policies are tabular or linear; all true values are exact.
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

/// What a run in the bandit is made from; const while it trains.
struct BanditProblem {
  const RunSpec* spec;
  Isa isa;
  std::shared_ptr<const BanditWorld> world;
  std::shared_ptr<const LinearFit> fit;  ///< linear fit of the true quality, for a linear policy with `tilt`; null otherwise
  std::shared_ptr<const RatedWorld> rated;
  const RandomStages* random;
  const RateStages* rate;
  const EstimatorStages* estimator;
  std::shared_ptr<const BatchEstimator> advantages;  ///< shares its tables with the other runs of this estimator
  PosteriorTables posterior;                         ///< tables of a posterior estimator; empty for any other
  std::shared_ptr<OutsideProgram> outside{};         ///< of an estimator that is another program
  std::shared_ptr<OutsideLibrary> library{};         ///< of an estimator that is a library
  Whitening whitening;                               ///< of a batch's advantages
  int action_blocks;                                 ///< counter blocks of the random generator for a prompt: 4 words each, one word a rollout
  MadeBy by() const { return {isa}; }
};
/// Makes the problem of a run, with the world and the rater's distributions from the cache if it has them. Returns nothing if `stop` was
/// set meanwhile. `look_up` false: the run uses no table of advantages by histogram.
std::optional<BanditProblem> make_bandit_problem(const RunSpec& spec, RunCache& cache, Isa isa, const std::atomic<bool>& stop,
                                                 bool look_up = true);
std::optional<BanditProblem> make_bandit_problem(RunSpec&&, RunCache&, Isa, const std::atomic<bool>&, bool = true) = delete;

/// A run in the bandit. The training loop (train/loop.hpp) says what its members do. B: prompts of a batch; G: rollouts of a prompt.
struct BanditRun {
  using Problem = BanditProblem;
  static constexpr bool measures_after_end = true;

  const Problem* problem;
  SoftmaxPolicy policy;
  StepState step;
  std::vector<std::uint32_t> word;       ///< [B][action_blocks][4] random words
  std::vector<std::uint32_t> vote_word;  ///< scratch: random words of votes that are drawn one by one
  std::vector<std::uint16_t> action;     ///< [B][G] the responses
  double calls_so_far = 0;               ///< calls so far, if a response's calls may end early: expected, or as drawn; without repeated requests
  CallsByJudge by_judge{};               ///< calls of each judge so far, if the bill depends on who answers (bills_by_judge()); else empty
  std::vector<double> turn_calls{};      ///< [B][turns] calls of the latest batch, by a judge's turn in the panel's order; if calls may end early
  GradientQuality gradient{};            ///< of the latest recorded batch
  std::vector<float> logits{};           ///< [prompts][width] at the last record, with `[record] logits`; else empty
  bool finite = true;                    ///< was the policy's quality finite at the latest record

  explicit BanditRun(const Problem& problem);

  void choose_prompts(int t);
  bool draw_prompts(int t);
  template <class F>
  void each_by_prompt(F f) {
    f(step.prompt, action, step.batch.score, step.batch.reward, step.batch.first_judge);
  }
  void read_batch(int t) { policy.forward(first_update(t), step.prompt.data()); }
  void sample_rollouts(int t);
  bool score_rollouts(int t, const std::atomic<bool>& stop);
  void estimate_advantages();
  void measure_gradient(int t);
  void update_policy(int t, bool measure);

  std::string begin(const std::atomic<bool>&) { return begin_outside(*problem->spec, step.batch), ""; }
  bool evaluate(int, const std::atomic<bool>&) { return true; }
  bool ends_slowly() const { return false; }
  void record_policy(RunRecord& r);
  std::vector<double> levels_reached();
  void record_batch(RunRecord& r);
  double batch_truth() const;
  KeptResponse response(std::size_t i) const;
  const char* not_finite() const { return finite ? nullptr : "parameters are"; }
  Headroom headroom(const RunRecord&) const { return {problem->world->uniform, problem->world->best}; }
  double judge_calls() const;
  /// With `[record] logits`, compares the policy with that before training: logit_shift, logit_spread, entropy_collapse (results/table/table_spec.hpp).
  void add_final_values(RunRecord& r) const;
  static bool is_of_policy(CurveId id) { return id == CurveId::quality || id == CurveId::kl || id == CurveId::entropy; }
  template <class A>
  void keep(A& archive) {
    policy.keep(archive);
    archive(calls_so_far);
    if (!by_judge.empty()) archive(std::span<double>(by_judge));
    if (!logits.empty()) archive(std::span<float>(logits));
  }
  void restored(int t) { policy.restored(first_update(t)); }

  /// Returns the number of the first policy update of step t.
  int first_update(int t) const { return t * problem->spec->learn.epochs; }
  /// draw_actions() draws the responses of step t's batch, draw_scores() their scores; `draws` says which random words they use.
  /// draw_scores() returns the number of votes that it drew one by one. Where it draws scores from the distribution of the aggregate it
  /// returns 0.
  void draw_actions(int t, const Draws& draws);
  double draw_scores(int t, const Draws& draws);
  /// Adds the calls about the batch's responses to by_judge.
  void count_by_judge();
  /// Returns the expected calls about the batch's responses, from the table of the rater's distributions.
  double expected_calls() const;
  /// Returns how rollouts enter the gradient of update number `epoch` = 0, 1, … on this batch: KL weight, mask, ratio clip.
  RolloutTerms rollout_terms(int epoch) const;
};

/// Compares the estimated gradient for one batch's prompts with the exact gradient of their expected true quality. Redraws responses and
/// scores `record.gradient` times, by the policy that sampled the batch; g is the estimated gradient of a redraw. Cosine: between mean g
/// and the exact gradient. SNR: |mean g|^2 / trace of the covariance of g, each unbiased. NaN where undefined (one of the two gradients is
/// zero; SNR with fewer than 2 redraws). Call it between estimate_advantages() and update_policy(); it leaves the batch as it was.
GradientQuality gradient_quality(BanditRun& run, int t);

/// Returns the expected calls of the judge over a run in the bandit that makes all N calls about each response.
double bandit_judge_calls(const RunSpec& spec);
Cost bandit_cost(const RunSpec& spec);
/// Return the bytes of a run's world, and rough seconds to make it. All runs of one seed and env share the world.
double bandit_world_bytes(const RunSpec& spec);
double bandit_world_seconds(const RunSpec& spec);
/// Returns rough seconds to look up a rater's distribution for every response of a world, when the distributions are made.
double rating_seconds(const RunSpec& spec);

}  // namespace odrpo
