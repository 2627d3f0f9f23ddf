// The supervised steps before the training of a transformer, which runs of one seed, world and model share.
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

/// The transformer of a run, for its world's vocabulary and response length.
TransformerShape transformer_of(const RunSpec& spec, const ToyLm& world);
/// The same before there is a world.
TransformerShape transformer_of(const RunSpec& spec);

/// A policy's and a world's config with every key at its default that the supervised steps do not use: runs whose seeds and these are equal
/// share the steps.
PolicyConfig warm_policy(PolicyConfig policy);
EnvConfig warm_env(EnvConfig env);

/// The weights after the supervised steps: from the cache, from the store as an earlier call left them there, or trained on demonstrations
/// of the first prompts() of `prompts`. Steps that take a second or longer are stored, and on the way as often as a run is, and when `stop`
/// is set meanwhile: the result is null then. Steps are counted unless `counted` is null.
std::shared_ptr<const WarmStart> warm_start(const RunSpec& spec, const ToyLm& world, std::span<const ToyPrompt> prompts, Isa isa,
                                            RunCache& cache, const CheckpointStore& store, const std::atomic<bool>& stop,
                                            RunSteps* counted = nullptr);

}  // namespace odrpo
