// Defines the configs of policies (a softmax per prompt in the bandit, a transformer in the toy language model) and of their optimiser.
#pragma once
#include <span>

#include "kernels/shared/field_rules.hpp"
#include "kernels/shared/words.hpp"
#include "policies/transformer/transformer.hpp"

namespace odrpo {

enum class PolicyKind { tabular, linear, transformer };
inline constexpr Word<PolicyKind> policy_words[] = {
    {PolicyKind::tabular, "tabular", "one logit per prompt and action"},
    {PolicyKind::linear, "linear", "logits = X theta, features shared by all prompts"},
    {PolicyKind::transformer, "transformer", "decoder-only language model, for env toy-lm alone"},
};

/// Settings of a transformer's training that are not in [learn]: the loss over its tokens, and the supervised steps before training.
struct TransformerLearning {
  TokenMean mean = TokenMean::token_mean;
  double entropy = 0;     ///< weight of the entropy bonus per token
  int warm_steps = 400;   ///< supervised steps on demonstrations; 0 = start from random weights
  int warm_batch = 64;    ///< demonstrations per supervised step
  double warm_lr = 3e-3;  ///< learning rate of the supervised steps: cosine to zero after a warm-up over 5 % of them
  bool operator==(const TransformerLearning&) const = default;
};
inline constexpr OnlyIf supervised_only = above("warm_steps", 0);
template <class V>
void describe(V& v, TransformerLearning& c) {
  v.word("loss", c.mean, std::span<const Word<TokenMean>>(token_mean_words), "how token losses are averaged", training_only);
  v.number("entropy", c.entropy, 0.0, 1e3, "weight of an entropy bonus per token", training_only);
  v.integer("warm_steps", c.warm_steps, 0, 1'000'000, "supervised steps on demonstrations before training; 0 = none");
  v.integer("warm_batch", c.warm_batch, 1, 4096, "demonstrations per supervised step", supervised_only);
  v.number("warm_lr", c.warm_lr, 1e-12, 1e3, "learning rate of the supervised steps", supervised_only);
}

/// Config of [policy.NAME]. In the bandit the reference of the KL penalty is always the uniform policy, even if training starts elsewhere.
/// The reference of a transformer is its own state after the supervised steps.
struct PolicyConfig {
  PolicyKind kind = PolicyKind::tabular;
  double tilt = 0;                ///< tabular and linear: logits at the start = tilt x true quality (policies/softmax/policy.hpp)
  TransformerConfig transformer;  ///< only for kind transformer; so is `learning`
  TransformerLearning learning;
  bool operator==(const PolicyConfig&) const = default;
};
template <class V>
void describe(V& v, PolicyConfig& c) {
  if (c.kind != PolicyKind::transformer)
    return v.number(
        "tilt", c.tilt, 0.0, 1e3,
        "bandit: the policy starts at pi ~ exp(tilt x true quality in levels); linear at the least-squares fit of it; 0 = uniform");
  describe(v, c.transformer);
  describe(v, c.learning);
}

enum class OptimizerKind { adam, adamw, sgd };
inline constexpr Word<OptimizerKind> optimizer_words[] = {
    {OptimizerKind::adam, "adam", "Adam"},
    {OptimizerKind::adamw, "adamw", "Adam with decoupled weight decay"},
    {OptimizerKind::sgd, "sgd", "plain gradient descent"},
};
enum class ScheduleKind { constant, linear, cosine };
inline constexpr Word<ScheduleKind> schedule_words[] = {
    {ScheduleKind::constant, "constant", "lr after the warm-up"},
    {ScheduleKind::linear, "linear", "straight to zero after the warm-up"},
    {ScheduleKind::cosine, "cosine", "half a cosine to zero after the warm-up"},
};

/// The keys of [learn] that choose the optimiser and its learning rate.
struct OptimizerConfig {
  OptimizerKind kind = OptimizerKind::adam;
  double lr = 0.05;  ///< learning rate after the warm-up; 0 = the policy stays as it is
  ScheduleKind schedule = ScheduleKind::cosine;
  double warmup = 0.08;  ///< share of the steps in which the rate rises linearly to lr
  double beta1 = 0.9, beta2 = 0.999, eps = 1e-8;
  double weight_decay = 0.0;  ///< decoupled weight decay, for adamw only
  double clip = 0.0;          ///< largest l2 norm of the whole gradient; 0 = no clip
};
inline constexpr OnlyIf adam_only = word_is("optimizer", optimizer_words, {OptimizerKind::adam, OptimizerKind::adamw});
inline constexpr OnlyIf adamw_only = in_every_run(word_is("optimizer", optimizer_words, {OptimizerKind::adamw}));
template <class V>
void describe(V& v, OptimizerConfig& c) {
  v.word("optimizer", c.kind, std::span<const Word<OptimizerKind>>(optimizer_words), "update rule");
  v.number("lr", c.lr, 0.0, 1e6, "learning rate after the warm-up; 0 = the policy stays as it is");
  v.word("schedule", c.schedule, std::span<const Word<ScheduleKind>>(schedule_words), "learning rate over the run");
  v.number("warmup", c.warmup, 0.0, 1.0, "share of the steps with a linear warm-up");
  v.number("beta1", c.beta1, 0.0, 0.999999, "Adam's decay of the first moment", adam_only);
  v.number("beta2", c.beta2, 0.0, 0.99999999, "Adam's decay of the second moment", adam_only);
  v.number("adam_eps", c.eps, 1e-12, 1.0, "Adam's epsilon, added to sqrt(v)", adam_only);
  v.number("weight_decay", c.weight_decay, 0.0, 1.0, "decoupled weight decay of adamw; 0 for the others", adamw_only);
  v.number("clip", c.clip, 0.0, 1e9, "largest norm of the whole gradient; 0 = no clip");
}

}  // namespace odrpo
