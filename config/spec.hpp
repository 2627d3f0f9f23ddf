// Defines RunSpec, all settings of one run, which never change afterwards. Defines also the sections [learn] and [record].
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/catalogue/env_config.hpp"
#include "envs/rater/rater.hpp"
#include "estimators/estimator.hpp"
#include "kernels/shared/words.hpp"
#include "policies/policy.hpp"
#include "results/store/record.hpp"

namespace odrpo {

/// The values over which advantages are whitened (batch normalisation).
enum class Whiten { none, response, token, scale, compat };
inline constexpr Word<Whiten> whiten_words[] = {
    {Whiten::none, "none", "advantages as the estimator gives them"},
    {Whiten::response, "response", "(A - mean) / (std + whiten_eps) over all responses of the batch"},
    {Whiten::token, "token", "the same over all tokens of the batch: a response counts as often as it has tokens (bandit: one)"},
    {Whiten::scale, "scale", "A / (std + whiten_eps) over all responses of the batch: its mean stays"},
    {Whiten::compat, "compat", "what the estimator's `compat` does after it"},
};

/// What happens to a group whose rewards are all equal (under corpo: and at least r_min).
enum class DeadGroups { keep, drop, resample };
inline constexpr Word<DeadGroups> dead_group_words[] = {
    {DeadGroups::keep, "keep", "its zeros take part in whitening, in the mean over rollouts and in the KL penalty"},
    {DeadGroups::drop, "drop", "it is left out of all three"},
    {DeadGroups::resample, "resample", "other prompts are drawn in its place until the batch is full (DAPO's dynamic sampling); on the CPU"},
};

/// Config of [learn]: the training loop. The optimiser's keys are in the same section.
struct LearnConfig {
  int steps = 1000;
  int batch = 64;     ///< B, prompts per step, all different; at most the world's prompts
  int rollouts = 8;   ///< G, responses per prompt
  double kl = 0.001;  ///< weight of the KL penalty to the reference policy (gradient of k3)
  Whiten whiten = Whiten::response;
  int whiten_ddof = 0;    ///< whiten = "response", "token" or "scale": std divides by n - ddof
  double whiten_eps = 0;  ///< whiten = "response", "token" or "scale": added to the std
  DeadGroups dead_groups = DeadGroups::keep;
  int max_batches = 10;   ///< dead_groups = "resample": most batches of prompts that one step draws
  int epochs = 1;         ///< updates on each batch of rollouts
  double ratio_clip = 0;  ///< PPO's clip of the ratio pi / pi_old; 0 = no clip
  OptimizerConfig optimizer;
};
inline constexpr OnlyIf whitening_only = word_is("whiten", whiten_words, {Whiten::response, Whiten::token, Whiten::scale});
inline constexpr OnlyIf resample_only = word_is("dead_groups", dead_group_words, {DeadGroups::resample});
inline constexpr OnlyIf epochs_only = above("epochs", 1, "with epochs = 1 the ratio is always 1");
template <class V>
void describe(V& v, LearnConfig& c) {
  v.integer("steps", c.steps, 1, 10'000'000, "training steps");
  v.integer("batch", c.batch, 1, 65536, "prompts per step");
  v.integer("rollouts", c.rollouts, 2, 255, "responses per prompt");
  v.number("kl", c.kl, 0.0, 1e3, "weight of the KL penalty to the reference: the uniform policy, of toy-lm that after the supervised steps");
  v.word("whiten", c.whiten, std::span<const Word<Whiten>>(whiten_words), "unit of batch normalisation");
  v.integer("whiten_ddof", c.whiten_ddof, 0, 1, "std divides by n - ddof", whitening_only);
  v.number("whiten_eps", c.whiten_eps, 0.0, 1.0, "added to the std", whitening_only);
  v.word("dead_groups", c.dead_groups, std::span<const Word<DeadGroups>>(dead_group_words), "groups whose rewards are all equal (under corpo: and at least r_min)");
  v.integer("max_batches", c.max_batches, 1, 100, "batches of prompts that a step draws at most; then the run fails", resample_only);
  v.integer("epochs", c.epochs, 1, 64, "updates on each batch of rollouts");
  v.number("ratio_clip", c.ratio_clip, 0.0, 10.0, "PPO's clip of the ratio pi / pi_old; 0 = none", epochs_only);
  describe(v, c.optimizer);
}

/// Config of [record]: what is kept of a run besides its final values.
struct RecordConfig {
  int every = 10;            ///< record every n-th step, plus the first and the last
  int gradient = 0;  ///< redraws of the batch's responses at recorded steps, for the gradient's cosine with the exact one and SNR; 0 = off
  int rollouts = 0;          ///< keep the rollouts of every k-th step, plus the first and the last; 0 = of none. No run depends on it: it is not in its key
  int levels = 0;            ///< 1: also record the curves of levels (train/level_curves.hpp)
  int logits = 0;            ///< 1: also keep how far the start's likeliest responses moved (BanditRun::add_final_values)
  double collapse_fall = 1;  ///< a collapse: the observed reward falls by so many levels below its peak …
  int collapse_steps = 20;   ///< … for so many steps without a break
};
template <class V>
void describe(V& v, RecordConfig& c) {
  v.integer("every", c.every, 1, 10'000'000, "record every n-th step, plus first and last");
  v.integer("gradient", c.gradient, 0, 4096, "redraws per recorded step for the exact-gradient cosine and SNR; 0 = off");
  v.integer("rollouts", c.rollouts, 0, 10'000'000, "keep the rollouts of every k-th step, plus first and last, for `export --what rollouts`; 0 = of none");
  v.integer("levels", c.levels, 0, 1, "1 = also record which share of quality and of scores reaches each level, and each level's share of the advantages");
  v.integer("logits", c.logits, 0, 1, "bandit: 1 = also keep how far the logit of the response moved that the policy liked best before training, and whether the entropy collapsed");
  v.number("collapse_fall", c.collapse_fall, 0.01, 1e3, "a collapse: the batches' mean reward falls so many levels below its peak");
  v.integer("collapse_steps", c.collapse_steps, 1, 10'000'000, "and stays there so many steps on end; the peak is a mean over as many");
}

/// All settings of one run. The names are those of the suite, such as "gm-upper"; the configs are complete.
struct RunSpec {
  std::string env_name, rater_name, policy_name, estimator_name;
  EnvConfig env;
  RaterConfig rater;
  PolicyConfig policy;
  EstimatorConfig estimator;
  std::optional<RaterConfig> model;  ///< the judge that a posterior or corrected estimator believes in; none = the run's rater
  std::optional<RaterConfig> judge;  ///< who gave the scores of a world of rollouts (BanditConfig::groups)
  LearnConfig learn;
  RecordConfig record;
  int votes = 1;
  int seed = 0;               ///< index 0..seeds-1, the N of sN in the id
  std::uint64_t run_key = 0;  ///< the run's 64-bit random key: a hash of suite.seed and the seed index alone
  std::vector<Axis> axes;     ///< extra grid axes of this run, in suite order: key -> value
  std::string id;             ///< env/rater/policy/estimator/nN[/key=value…]/sS
};

}  // namespace odrpo
