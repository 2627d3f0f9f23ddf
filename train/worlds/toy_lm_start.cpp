// Trains supervised steps on demonstrations. The cache keeps their final weights; the store keeps what is done so far.
#include "train/worlds/toy_lm_start.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "config/check/key_effect.hpp"
#include "config/write/canonical.hpp"
#include "envs/toy_lm/demonstrations.hpp"
#include "kernels/shared/clock.hpp"
#include "policies/transformer/policy.hpp"
#include "train/checkpoint/checkpoint.hpp"
#include "train/schedule/run_steps.hpp"

namespace odrpo {
namespace {

constexpr double warm_up_share = 0.05;
constexpr int start_format = 2;
constexpr double worth_storing = 1;  // the final weights are stored if the steps took so many seconds

// Appends a response to a batch: its tokens to [count][width], and its length, the end word included.
void add_response(std::span<const Token> response, int width, TokenRollouts& to) {
  const std::size_t at = to.token.size();
  to.token.resize(at + static_cast<std::size_t>(width), 0);
  std::copy(response.begin(), response.end(), to.token.begin() + static_cast<std::ptrdiff_t>(at));
  to.length.push_back(static_cast<int>(response.size()));
}

// The supervised steps that the store has under `name`: their number, weights and Adam's moments. After the last step it has no moments.
struct StoredStart {
  int done = 0;
  std::vector<float> weights, m, v;

  // Loads them. Returns false when there are none that fit so many steps and weights.
  bool load(const CheckpointStore& store, const std::string& name, int steps, std::size_t count) {
    const std::string bytes = store.load(CheckpointKind::start, name);
    Loading from(bytes);
    std::string whose;
    from(whose, done, weights, m, v);
    const std::size_t moments = done < steps ? count : 0;
    return from.finished() && whose == name && done > 0 && done <= steps && weights.size() == count && m.size() == moments &&
           v.size() == moments;
  }
};

// Trains the supervised steps, from where an earlier call left them. Prompts are used in turn; each pass over them has new demonstrations.
std::shared_ptr<const WarmStart> train_warm_start(const RunSpec& spec, const ToyLm& world, std::span<const ToyPrompt> prompts,
                                                  const MadeBy& by, Team& team, const std::string& key, const CheckpointStore& store,
                                                  const std::atomic<bool>& stop, RunSteps* counted) {
  auto start = std::make_shared<WarmStart>();
  const TransformerLearning& learning = spec.policy.learning;
  const int steps = learning.warm_steps;
  if (steps == 0) return start;
  if (stop.load(std::memory_order_relaxed)) return nullptr;
  TransformerConfig config = spec.policy.transformer;
  config.lora_rank = 0;  // LoRA's adapters begin after these steps
  OptimizerConfig optimizer;
  optimizer.lr = learning.warm_lr;
  optimizer.schedule = ScheduleKind::cosine;
  optimizer.warmup = warm_up_share;
  optimizer.clip = 1.0;
  const TransformerShape shape = transformer_of(spec, world);
  const std::size_t count = weight_table(shape).count;
  const std::string name = store ? fmt::format("toy-lm start {}: {}, by {}", start_format, key, made_by(store, by)) : "";
  StoredStart stored;
  const int first = store && stored.load(store, name, steps, count) ? stored.done : 0;
  if (counted) counted->begin_world(first, steps);
  if (first == steps) {
    start->weights = std::move(stored.weights);
    return start;
  }
  TransformerPolicy policy(config, shape, learning.warm_batch, 1, optimizer, steps, spec.run_key, by.isa, team);
  TransformerState state = policy.state();
  if (first > 0) {
    std::copy(stored.weights.begin(), stored.weights.end(), state.trained.begin());
    std::copy(stored.m.begin(), stored.m.end(), state.m.begin());
    std::copy(stored.v.begin(), stored.v.end(), state.v.begin());
    policy.restored(first);
    store.report(fmt::format("continued supervised steps at step {} of {}", first, steps));
  }
  const double began = now_seconds();
  double last = began;
  const std::uint32_t trained = static_cast<std::uint32_t>(spec.env.prompts());
  for (int t = first; t < steps; ++t) {
    const bool stopping = stop.load(std::memory_order_relaxed);
    if (store && t > first && (stopping || now_seconds() - last >= store.seconds)) {
      store_archive(store, CheckpointKind::start, name, [&](Saving& to) { to(name, t, state.trained, state.m, state.v); });
      last = now_seconds();
    }
    if (stopping) return nullptr;
    TokenRollouts demonstrations;
    std::vector<std::uint16_t> prompt_token;
    for (int i = 0; i < learning.warm_batch; ++i) {
      const auto at = static_cast<std::uint32_t>(t) * static_cast<std::uint32_t>(learning.warm_batch) + static_cast<std::uint32_t>(i);
      const ToyPrompt& prompt = prompts[at % trained];
      prompt_token.insert(prompt_token.end(), prompt.words.begin(), prompt.words.end());
      add_response(demonstration(world, prompt, spec.env.demonstrations, at / trained), shape.response, demonstrations);
    }
    policy.imitate(t, prompt_token.data(), learning.warm_batch, demonstrations);
    if (counted) counted->world_reached(t + 1);
  }
  start->weights.assign(state.trained.begin(), state.trained.end());
  if (store && (first > 0 || now_seconds() - began >= std::min(worth_storing, store.seconds)))
    store_archive(store, CheckpointKind::start, name, [&](Saving& to) {
      const std::vector<float> none;
      to(name, steps, start->weights, none, none);
    });
  return start;
}

}  // namespace

TransformerShape transformer_of(const RunSpec& spec, const ToyLm& world) {
  return transformer_shape(spec.policy.transformer, world.vocabulary.size, toy_prompt_tokens, world.config.response_tokens,
                           world.vocabulary.end());
}
TransformerShape transformer_of(const RunSpec& spec) {
  const Vocabulary words = make_vocabulary(spec.env.toy_lm.vocabulary, spec.env.toy_lm.difficulty);
  return transformer_shape(spec.policy.transformer, words.size, toy_prompt_tokens, spec.env.toy_lm.response_tokens, words.end());
}

PolicyConfig warm_policy(PolicyConfig policy) {
  settle(policy, {.env = WorldKind::toy_lm, .supervised = true});
  return policy;
}

EnvConfig warm_env(EnvConfig env) {
  if (env.toy_lm.difficulty != Difficulty::paper) env.toy_lm.difficulty = ToyLmConfig{}.difficulty;  // easy and hard have the same demonstrations
  env.toy_lm.best_of = ToyLmConfig{}.best_of;
  env.toy_lm.evaluated_prompts = ToyLmConfig{}.evaluated_prompts;
  return env;
}

std::shared_ptr<const WarmStart> warm_start(const RunSpec& spec, const ToyLm& world, std::span<const ToyPrompt> prompts, Isa isa,
                                            RunCache& cache, const CheckpointStore& store, const std::atomic<bool>& stop,
                                            RunSteps* counted) {
  const std::string key = std::to_string(spec.run_key) + canonical_fields(warm_env(spec.env)) + canonical_fields(warm_policy(spec.policy));
  return cache.warm_start(key, [&] { return train_warm_start(spec, world, prompts, {isa}, cache.team(), key, store, stop, counted); });
}

}  // namespace odrpo
