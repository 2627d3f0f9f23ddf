// Declares the supervised steps before the training of a transformer. Runs of one seed, world and model share them.
#pragma once
#include <atomic>
#include <memory>
#include <span>

#include "envs/toy_lm/world.hpp"
#include "policies/transformer/transformer.hpp"
#include "train/checkpoint/checkpoint.hpp"
#include "train/run_cache.hpp"

namespace odrpo {

struct EnvConfig;
struct PolicyConfig;
struct RunSpec;
struct RunSteps;

/// Sizes of a run's transformer, for its world's vocabulary and response length.
TransformerShape transformer_of(const RunSpec& spec, const ToyLm& world);
/// The same sizes, from the spec alone: the world need not be made.
TransformerShape transformer_of(const RunSpec& spec);

/// Returns the config of a policy or a world, in which every key that the supervised steps do not use has its default. Runs with equal
/// seeds and equal configs of this kind share the supervised steps.
PolicyConfig warm_policy(PolicyConfig policy);
EnvConfig warm_env(EnvConfig env);

/// Returns the weights after the supervised steps: from the cache, from the store, or trained on demonstrations of the first spec.env.prompts()
/// of `prompts`. Training goes on from steps that an earlier call stored. It stores its steps as often as a run's checkpoints, and its last step
/// if the steps took a second or longer. If `stop` is set meanwhile, it stores them and returns null. `counted`, unless null, counts the steps.
std::shared_ptr<const WarmStart> warm_start(const RunSpec& spec, const ToyLm& world, std::span<const ToyPrompt> prompts, Isa isa,
                                            RunCache& cache, const CheckpointStore& store, const std::atomic<bool>& stop,
                                            RunSteps* counted = nullptr);

}  // namespace odrpo
