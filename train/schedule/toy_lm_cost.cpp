// What a run of the toy language model costs.
#include <algorithm>

#include "config/spec.hpp"
#include "policies/transformer/pass.hpp"
#include "train/schedule/cost.hpp"
#include "train/worlds/toy_lm.hpp"
#include "train/worlds/toy_lm_start.hpp"

namespace odrpo {
namespace {

// Rough seconds that one token of a batch costs on one 2.6 GHz core: forward and backward, and the forward pass of the reference.
double token_seconds(const RunSpec& spec, bool reference) {
  const double wide = spec.policy.transformer.size == TransformerSize::large ? 3.5 : 1.0;
  return wide * (reference ? 12.8e-6 : 9.6e-6);
}
constexpr double demonstrated_share = 0.6;  // of the cap on a response, by demonstrations and by a policy that has learned to end it
// of a policy after its supervised steps: 400 of 64 demonstrations are enough
double used_share(const RunSpec& spec) {
  const TransformerLearning& learning = spec.policy.learning;
  return 1 - (1 - demonstrated_share) * std::min(1.0, static_cast<double>(learning.warm_steps) * learning.warm_batch / (400 * 64));
}

}  // namespace

double evaluation_seconds(const RunSpec& spec) {
  const ToyLmConfig& world = spec.env.toy_lm;
  return world.evaluated_prompts * double{1} * world.response_tokens * used_share(spec) * token_seconds(spec, false) / 2;  // forward alone
}

Cost toy_lm_cost(const RunSpec& spec) {
  const LearnConfig& learn = spec.learn;
  const double rollouts = static_cast<double>(learn.batch) * learn.rollouts, cap = spec.env.toy_lm.response_tokens;
  const double records = record_count(spec);
  const double recorded = recorded_bytes(spec) + 2 * sizeof(double) * spec.env.toy_lm.evaluated_prompts;  // quality and length of each
  Cost c;
  c.cpu_seconds = learn.steps * rollouts * cap * used_share(spec) * token_seconds(spec, learn.kl > 0) * learn.epochs +
                  records * evaluation_seconds(spec);
  const TextLawCost laws = text_law_cost(spec.rater, spec.votes);
  c.cpu_seconds += std::min(laws.rows, learn.steps * rollouts) * laws.seconds + learn.steps * rollouts * laws.calls_seconds;
  c.cpu_seconds += posterior_seconds(spec) + stored_seconds(recorded);
  // what the supervised steps leave before the training's weighs nothing any more; words and verdicts of a batch; prompts
  const TransformerShape shape = transformer_of(spec);
  const PolicyConfig& policy = spec.policy;
  TransformerConfig whole = policy.transformer;
  whole.lora_rank = 0;
  const int evaluated = spec.env.toy_lm.evaluated_prompts;
  const double trained = policy_bytes(policy.transformer, shape, learn.batch, learn.rollouts) +
                         pass_bytes(shape, std::min(evaluated, evaluation_block), 1, false) + rollouts * (4 * cap + sizeof(Verdict) + 32),
               started = policy.learning.warm_steps > 0 ? policy_bytes(whole, shape, policy.learning.warm_batch, 1) : 0;
  c.memory_bytes = std::max(trained, started) +
                   (double{1} * spec.env.prompts() + evaluated) * (sizeof(ToyPrompt) + 2.0 * toy_prompt_tokens) + 2 * cap * evaluated * 3 +
                   laws.bytes + 4.0 * 3 * weight_table(shape).count + 3 * recorded +
                   watch_bytes(spec.record, learn.steps);  // a checkpoint's copies too
  c.recorded_bytes = recorded;
  c.disk_bytes = 1000 + stored_bytes(recorded);
  const bool again = spec.rater.parse_policy == ParsePolicy::resample;
  c.judge_calls = learn.steps * rollouts * spec.votes * (again ? 1 + failure_chance(spec.rater) : 1);
  return c;
}

double warm_start_bytes(const RunSpec& spec) { return 4.0 * static_cast<double>(weight_table(transformer_of(spec)).count); }

double warm_start_seconds(const RunSpec& spec) {
  const TransformerLearning& learning = spec.policy.learning;
  return static_cast<double>(learning.warm_steps) * learning.warm_batch * spec.env.toy_lm.response_tokens * demonstrated_share *
         token_seconds(spec, false);
}

}  // namespace odrpo
