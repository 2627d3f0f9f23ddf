// Declares the toy language model as a world of the training loop. A transformer writes texts; a judge of texts scores them.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/spec.hpp"
#include "envs/toy_lm/held_out.hpp"
#include "envs/toy_lm/rate_texts.hpp"
#include "kernels/random_batch.hpp"
#include "policies/transformer/policy.hpp"
#include "train/checkpoint/checkpoint.hpp"
#include "train/curves.hpp"
#include "train/final_values.hpp"
#include "train/loop.hpp"
#include "train/run_cache.hpp"
#include "train/schedule/cost.hpp"
#include "train/worlds/posterior_batch.hpp"

namespace odrpo {

struct RunSteps;

/// Where a run's transformer is trained. Everything else of the run is computed on the CPU.
struct TransformerPlace {
  std::string name;  ///< name of the device and of what its bits depend on; empty = the CPU
  MakeTrainer make;
  Team* team = &alone();  ///< the threads that evaluate it on the CPU
};
/// The CPU's cores that the team has.
TransformerPlace on_cpu(Isa isa, Team& team = alone());

/// What a run of the toy language model is made from; const while it trains.
struct ToyLmProblem {
  const RunSpec* spec;
  Isa isa;
  ToyLm world;
  std::vector<ToyPrompt> prompts;            ///< [P] to train on, then [E] held out, only evaluated; no held-out prompt is among the P
  std::vector<std::uint16_t> prompt_tokens;  ///< [prompts][8] tokens of `prompts`
  std::shared_ptr<const WarmStart> start;
  const RandomStages* random;
  const EstimatorStages* estimator;
  std::shared_ptr<const BatchEstimator> advantages;
  PosteriorTables posterior;  ///< tables of a posterior estimator; empty for any other
  std::shared_ptr<OutsideProgram> outside{};  ///< of an estimator that is another program
  std::shared_ptr<OutsideLibrary> library{};  ///< of an estimator that is a library
  Whitening whitening;
  TransformerPlace place;     ///< where the transformer is trained
  MadeBy by() const { return {isa, place.name}; }
};
/// Makes a run's problem; returns nothing if `stop` was set meanwhile. The supervised steps take most of the time, unless the cache or the
/// store has their weights.
std::optional<ToyLmProblem> make_toy_lm_problem(const RunSpec& spec, RunCache& cache, Isa isa, const std::atomic<bool>& stop,
                                                const CheckpointStore& store = {}, RunSteps* counted = nullptr);
std::optional<ToyLmProblem> make_toy_lm_problem(RunSpec&&, RunCache&, Isa, const std::atomic<bool>&, const CheckpointStore& = {},
                                                RunSteps* = nullptr) = delete;
/// Gathers what the run's transformer is made from: sizes of a batch, schedule, initial weights.
TransformerTraining transformer_training(const ToyLmProblem& problem);

/// Returns rough seconds of one core to evaluate the policy once on the held-out prompts.
double evaluation_seconds(const RunSpec& spec);

/// A run of the toy language model. The training loop (train/loop.hpp) says what its members do. B: prompts of a batch; G: rollouts of a
/// prompt. A new member that later steps read belongs into keep().
struct ToyLmRun {
  using Problem = ToyLmProblem;
  static constexpr bool measures_after_end = false;  // the last record has the batch of the last step

  const Problem* problem;
  TransformerTrainer policy;
  StepState step;
  TextRater rater;
  std::vector<std::uint16_t> prompt_token;  ///< [B][8]
  std::vector<std::uint32_t> rating_word;   ///< [B][G, rounded up to 4] random words for scores
  TokenRollouts drawn;                           ///< the latest responses; only of a run that resamples
  std::vector<Verdict> verdict;             ///< [B][G] the truth about each response
  double judge_calls_so_far = 0;            ///< expected calls of the steps so far
  CallsByJudge by_judge{};                  ///< expected calls of each judge so far, if the bill depends on who answers; else empty
  TransformerReport report = {};            ///< what the last update reported
  std::vector<Token> first, latest;         ///< responses to held-out prompts: before training, at the latest record; empty = not finite
  std::vector<Token> opponent{};            ///< with best_of > 1: the responses that the win rate compares with; else empty

  explicit ToyLmRun(const Problem& problem);

  void choose_prompts(int t);
  bool draw_prompts(int t);
  template <class F>
  void each_by_prompt(F f) {
    f(step.prompt, drawn.token, drawn.length, verdict, step.batch.score, step.batch.reward, step.batch.first_judge);
  }
  void read_batch(int t);
  void copy_prompt_tokens();  ///< of the batch's prompts
  void sample_rollouts(int t);
  bool score_rollouts(int t, const std::atomic<bool>& stop);  ///< checks `stop`, since a judge's distributions can take long to make
  /// Scores the batch's response number `at` in step t. It is response number `rollout` to its prompt. `word`: its random word.
  void score_text(const Text& text, std::size_t at, std::uint32_t word, std::uint32_t t, std::uint32_t rollout);
  void estimate_advantages();
  void measure_gradient(int) {}
  void update_policy(int t, bool measure);  ///< `measure`: compute the KL to the reference even where its weight is 0

  std::string begin(const std::atomic<bool>& stop);
  bool evaluate(int t, const std::atomic<bool>& stop);
  bool ends_slowly() const { return evaluation_seconds(*problem->spec) > 0.3; }
  void record_policy(RunRecord& r);
  std::vector<double> levels_reached() const;
  void record_batch(RunRecord& r);
  double batch_truth() const;
  KeptResponse response(std::size_t i) const;
  const char* not_finite() const;
  Headroom headroom(const RunRecord& r) const;
  double judge_calls() const { return judge_calls_so_far; }
  void add_final_values(RunRecord& r) const;
  static bool is_of_policy(CurveId id);
  template <class A>
  void keep(A& archive) {
    TransformerState state = policy.state();
    archive(state.trained, state.m, state.v);
    archive(judge_calls_so_far);
    if (!by_judge.empty()) archive(std::span<double>(by_judge));
  }
  void restored(int t) { policy.restored(t * problem->spec->learn.epochs); }
};

/// Most held-out prompts that the policy answers at a time. More would take more memory.
inline constexpr int evaluation_block = 256;
/// Returns what the policy writes on the E held-out prompts: tokens [E][L], L = longest response. End words fill up shorter responses.
/// Returns an empty vector if a probability is not finite, since the policy has diverged; returns nothing if `stop` is set. With `sample` > 0: sample of
/// this number at temperature 1 instead of eval_temperature.
std::optional<std::vector<Token>> write_evaluated(const ToyLmProblem& problem, const NetWeights& weights, const std::atomic<bool>& stop, int sample = 0);

/// Returns the rough cost of a run without its supervised steps.
Cost toy_lm_cost(const RunSpec& spec);
/// Return rough seconds of the supervised steps, and bytes of their final weights, which runs share.
double warm_start_seconds(const RunSpec& spec);
double warm_start_bytes(const RunSpec& spec);

}  // namespace odrpo
