// Supervised steps on demonstrations; their weights in the cache and in the store.
#include "train/toy_lm_start.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "envs/toy_lm/demonstrations.hpp"
#include "kernels/clock.hpp"
#include "policies/transformer/policy.hpp"
#include "spec/canonical_fields.hpp"
#include "spec/only_if.hpp"
#include "train/checkpoint.hpp"

namespace odrpo {
namespace {

constexpr double warm_up_share = 0.05;
constexpr int start_format = 1;
constexpr double worth_storing = 1;  // seconds that the steps take

// Responses of one batch, flat: [count][L] tokens and their lengths, the end word included.
void add_response(std::span<const Token> response, int width, Rollouts& to) {
  const std::size_t at = to.token.size();
  to.token.resize(at + static_cast<std::size_t>(width), 0);
  std::copy(response.begin(), response.end(), to.token.begin() + static_cast<std::ptrdiff_t>(at));
  to.length.push_back(static_cast<int>(response.size()));
}

// The supervised steps: demonstrations of hash-chosen prompts, a new one every time.
std::shared_ptr<const WarmStart> train_warm_start(const RunSpec& spec, const ToyLm& world, std::span<const ToyPrompt> prompts, Isa isa,
                                                  const std::atomic<bool>& stop) {
  auto start = std::make_shared<WarmStart>();
  const TransformerLearning& learning = spec.policy.learning;
  if (learning.warm_steps == 0) return start;
  TransformerConfig config = spec.policy.transformer;
  config.lora_rank = 0;  // adapters start after it
  OptimizerConfig optimizer;
  optimizer.lr = learning.warm_lr;
  optimizer.schedule = ScheduleKind::cosine;
  optimizer.warmup = warm_up_share;
  optimizer.clip = 1.0;
  const TransformerShape shape = transformer_of(spec, world);
  TransformerPolicy policy(config, shape, learning.warm_batch, 1, optimizer, learning.warm_steps, spec.run_key, isa);
  const std::uint32_t trained = static_cast<std::uint32_t>(spec.env.prompts());
  for (int t = 0; t < learning.warm_steps; ++t) {
    if (stop.load(std::memory_order_relaxed)) return nullptr;
    Rollouts demonstrations;
    std::vector<std::uint16_t> prompt_token;
    for (int i = 0; i < learning.warm_batch; ++i) {
      const auto at = static_cast<std::uint32_t>(t) * static_cast<std::uint32_t>(learning.warm_batch) + static_cast<std::uint32_t>(i);
      const ToyPrompt& prompt = prompts[at % trained];
      prompt_token.insert(prompt_token.end(), prompt.words.begin(), prompt.words.end());
      add_response(demonstration(world, prompt, spec.env.demonstrations, at / trained), shape.response, demonstrations);
    }
    policy.imitate(t, prompt_token.data(), learning.warm_batch, demonstrations);
  }
  const auto& flat = policy.weights().flat;
  start->weights.assign(flat.data(), flat.data() + policy.weights().table.count);
  return start;
}

// The weights that `key` names, `count` of them, as an earlier call stored them; else makes and stores them, if that took long enough.
std::shared_ptr<const WarmStart> stored_warm_start(const CheckpointStore& store, const std::string& key, Isa isa, std::size_t count,
                                                   const RunCache::Make<const WarmStart>& make) {
  if (!store) return make();
  const std::string name = fmt::format("toy-lm start {}: {}, by {}", start_format, key, made_by(store, {isa}));
  const std::string bytes = store.load(CheckpointKind::start, name);
  if (!bytes.empty()) {
    auto start = std::make_shared<WarmStart>();
    Loading from(bytes);
    std::string whose;
    from(whose, start->weights);
    if (from.finished() && whose == name && start->weights.size() == count) return start;
  }
  const double began = now_seconds();
  const std::shared_ptr<const WarmStart> start = make();
  if (start && now_seconds() - began >= std::min(worth_storing, store.seconds))
    store_archive(store, CheckpointKind::start, name, [&](Saving& to) { to(name, start->weights); });
  return start;
}

}  // namespace

TransformerShape transformer_of(const RunSpec& spec, const ToyLm& world) {
  return transformer_shape(spec.policy.transformer, world.vocabulary.size, toy_prompt_tokens, world.config.response_tokens,
                           world.vocabulary.end());
}
TransformerShape transformer_of(const RunSpec& spec) {
  const Vocabulary words = make_vocabulary(spec.env.toy_lm.vocabulary);
  return transformer_shape(spec.policy.transformer, words.size, toy_prompt_tokens, spec.env.toy_lm.response_tokens, words.end());
}

PolicyConfig warm_policy(PolicyConfig policy) {
  settle(policy, {.env = WorldKind::toy_lm, .supervised = true});
  return policy;
}

EnvConfig warm_env(EnvConfig env) {
  env.toy_lm.difficulty = ToyLmConfig{}.difficulty;
  env.toy_lm.evaluated_prompts = ToyLmConfig{}.evaluated_prompts;
  return env;
}

std::shared_ptr<const WarmStart> warm_start(const RunSpec& spec, const ToyLm& world, std::span<const ToyPrompt> prompts, Isa isa,
                                            RunCache& cache, const CheckpointStore& store, const std::atomic<bool>& stop) {
  const std::string key = std::to_string(spec.run_key) + canonical_fields(warm_env(spec.env)) + canonical_fields(warm_policy(spec.policy));
  const auto make = [&] { return train_warm_start(spec, world, prompts, isa, stop); };
  return cache.warm_start(key, [&] {
    if (spec.policy.learning.warm_steps == 0) return make();
    return stored_warm_start(store, key, isa, weight_table(transformer_of(spec, world)).count, make);
  });
}

}  // namespace odrpo
