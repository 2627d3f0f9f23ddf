// Trains one run of the toy language model: RunSpec in, RunRecord out; the counterpart of the bandit's steps (train_step.hpp).
#pragma once
#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "envs/held_out.hpp"
#include "envs/rate_texts.hpp"
#include "policies/transformer_policy.hpp"
#include "suites/batch.hpp"
#include "suites/collapse.hpp"
#include "suites/finish.hpp"
#include "suites/keeper.hpp"
#include "suites/shared.hpp"

namespace odrpo {

/// Everything a run is given; const while it trains.
struct LmProblem {
  const RunSpec* spec;
  Isa isa;
  ToyLm world;
  std::vector<ToyPrompt> prompts;            ///< [P] trained on, then [evaluated_prompts] that are only evaluated: none is one of the P
  std::vector<std::uint16_t> prompt_tokens;  ///< [prompts][8]
  std::shared_ptr<const WarmStart> start;
  const RandomStages* random;
  const EstimatorStages* estimator;
  std::shared_ptr<const BatchEstimator> advantages;
  Whitening whitening;
};

/// Prompts beyond the P trained on, one response each, on which quality and the three evaluations are measured.
inline constexpr int evaluated_prompts = 256;

/// Everything of a run that changes.
struct LmState {
  TransformerPolicy policy;
  PromptOrder order;
  RewardBatch batch;
  TextRater rater;
  std::vector<std::uint32_t> prompt = {};        ///< [B]
  std::vector<std::uint16_t> prompt_token = {};  ///< [B][8]
  std::vector<std::uint32_t> rating_word = {};   ///< [B][G]
  std::vector<Verdict> verdict = {};             ///< [B][G] the truth
  double judge_calls = 0;                        ///< expected, so far
  TransformerReport report = {};                 ///< of the last update
  double clipped = 0, updates = 0;               ///< sums since the last record
  double seconds[stage_count] = {};              ///< sums since the last record
};

/// A run between two steps. A new member of it or of LmState that later steps read belongs into keep() of lm_keep.cpp.
struct LmRun {
  LmState state;
  RunRecord record;
  FinalReward final_reward;
  CollapseWatch watch;
  int t = 0;            ///< the step to come; the record may already tell of the policy that takes it
  int last_record = 0;  ///< step of the latest record
};

/// Makes the problem; the supervised steps are the long part, unless the keeper has what they lead to. Nothing when `stop` was set
/// meanwhile.
std::optional<LmProblem> make_lm_problem(const RunSpec& spec, Shared& shared, Isa isa, const std::atomic<bool>& stop,
                                         const Keeper& keeper = {});
std::optional<LmProblem> make_lm_problem(RunSpec&&, Shared&, Isa, const std::atomic<bool>&, const Keeper& = {}) = delete;
LmState make_lm_state(const LmProblem& problem);
LmRun begin_lm_run(const LmProblem& problem);
/// Can a run that was read from a checkpoint have come to step run.t of this problem? Of its record, the lengths.
bool fits(const LmProblem& problem, const LmRun& run);

/// Step t = 0, 1, …; with `look` the KL to the reference is measured even where it has no weight. Once `stop` is set before it has begun to
/// learn it returns false, and what later steps read, and `seconds`, are as before.
bool lm_step(const LmProblem& problem, LmState& s, int t, bool look, const std::atomic<bool>& stop);

/// A policy's config with everything reset that the supervised steps do not use: runs whose worlds, seeds and these are equal share them.
PolicyConfig warm_policy(PolicyConfig policy);

/// How many different prompts a vocabulary can make.
double count_prompts(const ToyLmConfig& config);

/// What the policy writes on the prompts it was not trained on: tokens [evaluated_prompts][L], behind a response's end the end word. Empty
/// when a probability is not finite: the policy has diverged.
std::vector<Token> write_evaluated(const LmProblem& problem, const NetWeights& weights);

/// Rough cost of a run without its supervised steps, and theirs, which all runs of one seed, world and model share.
Cost estimate_lm_cost(const RunSpec& spec);
double warm_start_seconds(const RunSpec& spec);
/// What they leave in memory for the runs that share them.
double warm_start_bytes(const RunSpec& spec);

/// train() of train.hpp for env toy-lm.
RunRecord train_lm(const RunSpec& spec, Shared& shared, const std::atomic<bool>& stop, const Keeper& keeper = {});

}  // namespace odrpo
