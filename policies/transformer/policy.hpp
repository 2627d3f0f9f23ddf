// Declares a transformer in training: weights or adapters, optimiser, frozen reference, rollouts of the present batch. Declares also
// TransformerTrainer, the interface to one on the CPU or on a device.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "policies/optimizer.hpp"
#include "policies/transformer/pass.hpp"

namespace odrpo {

/// What a checkpoint holds besides the config, the random key and the number of steps done. Sizes never change.
struct TransformerState {
  std::span<float> trained;  ///< weights, or LoRA's adapters
  std::span<float> m, v;     ///< Adam's moments of `trained`
  std::span<float> initial;  ///< weights before the first update: the reference of the KL term, and LoRA's base
};

/// A transformer in training on the CPU; a team shares its work without a change of bits. Calls per on-policy step: sample(), refer() if loss.kl > 0, learn().
/// Calls per PPO epoch after the first: read_again(), learn().
class TransformerPolicy {
 public:
  /// `steps` = updates of the whole training, for the learning-rate schedule. Does not check the config: call refuse_transformer() first.
  TransformerPolicy(const TransformerConfig& config, const TransformerShape& shape, int prompts, int per_prompt,
                    const OptimizerConfig& optimizer, int steps, const TransformerStart& start, Isa isa, Team& team = alone());
  /// Starts from the random weights that `key` generates.
  TransformerPolicy(const TransformerConfig& config, const TransformerShape& shape, int prompts, int per_prompt,
                    const OptimizerConfig& optimizer, int steps, std::uint64_t key, Isa isa, Team& team = alone())
      : TransformerPolicy(config, shape, prompts, per_prompt, optimizer, steps, transformer_start(config, shape, key), isa, team) {}

  /// Samples per_prompt responses to each prompt ([prompts][P]) with the present weights; the random word[b][i][t] picks token t. Their
  /// log-probabilities become l_old (TransformerLoss).
  void sample(const std::uint16_t* prompt, const std::uint32_t* word);
  /// Forward pass over given responses to `prompts` prompts, at most as many as the constructor's. With `fresh` the log-probabilities
  /// become l_old (of the policy that sampled, TransformerLoss); else l_old stays.
  void read(const std::uint16_t* prompt, int prompts, const TokenRollouts& given, bool fresh);
  /// Forward pass over the present rollouts with the present weights; l_old stays.
  void read_again() { read(prompt_.data(), pass_.rows().prompts, rollouts_, false); }
  /// Computes the present rollouts' log-probabilities under the initial weights, for the KL penalty.
  void refer();
  /// Does update t (call it for 0, 1, … in order). coefficient[S] = A of TransformerLoss; mask[S] = 0 leaves a response out, null = all kept.
  TransformerReport learn(int t, const float* coefficient, const std::uint8_t* mask, const TransformerLoss& loss);
  /// Does update t, which raises the demonstrations' mean log-probability per token, at temperature 1.
  TransformerReport imitate(int t, const std::uint16_t* prompt, int prompts, const TokenRollouts& demonstrations);

  /// The gradient of the last learn() before clipping: by the weights, or by the adapters.
  std::span<const float> gradient() const { return {adapter_table_.rank > 0 ? adapter_gradient_.data() : gradient_.data(), trained_}; }
  const TokenRollouts& rollouts() const { return rollouts_; }
  const TransformerPass& pass() const { return pass_; }
  const NetWeights& weights() const { return weights_; }  ///< with LoRA's adapters merged in: any TransformerPass can sample from them
  const NetWeights& initial() const { return initial_; }
  const AdapterTable& adapters() const { return adapter_table_; }
  /// The state, to write it to a checkpoint or to fill it from one. After filling call restored() with the number of updates done.
  TransformerState state();
  void restored(int updates_done);

 private:
  void renew();
  TransformerReport update(int t, const LearnFrom& from, const TransformerLoss& loss);

  TransformerConfig config_;
  TransformerShape shape_;
  AdapterTable adapter_table_;
  NetWeights weights_, initial_;
  std::size_t trained_;  // number of floats that are trained
  Floats adapter_, m_, v_, gradient_, adapter_gradient_;
  AdamScalars scalars_;
  OptimizerConfig optimizer_;
  int begun_ = 0;
  TransformerPass pass_, reference_pass_;
  TransformerBackward backward_;
  TokenRollouts rollouts_;
  std::vector<std::uint16_t> prompt_;
  int prompts_;
  std::vector<float> old_log_, scratch_;
  bool has_reference_ = false;
  TokenCoefficients coefficients_;
};

// TransformerTrainer: the interface of a transformer in training, on the CPU (TransformerPolicy) or on a device (DeviceTransformer).

/// Calls per on-policy step: sample(), refer() if loss.kl > 0, learn(). Per PPO epoch after the first: read_again(), learn().
/// See TransformerPolicy for each call. On a device every call throws Failure(Exit::device) when the device fails.
struct TransformerTrainer {
  std::function<void(const std::uint16_t* prompt, const std::uint32_t* word)> sample;
  std::function<void()> read_again, refer;
  std::function<TransformerReport(int t, const float* coefficient, const std::uint8_t* mask, const TransformerLoss& loss)> learn;
  std::function<const TokenRollouts&()> rollouts;
  std::function<const NetWeights&()> weights;
  std::function<TransformerState()> state;
  std::function<void(int updates_done)> restored;
  std::function<void(const std::uint16_t* prompt, int prompts, const TokenRollouts& given)> read{};  ///< makes them the present rollouts, as if just sampled; CPU only
};

/// Inputs from which a TransformerTrainer is made.
struct TransformerTraining {
  TransformerConfig config;
  TransformerShape shape;
  int prompts, per_prompt;  ///< prompts of a batch, and responses to each
  OptimizerConfig optimizer;
  int updates;  ///< of the whole training, for the learning-rate schedule
  TransformerStart start;
};
using MakeTrainer = std::function<TransformerTrainer(const TransformerTraining&)>;

/// Makes a TransformerTrainer that calls `of` and keeps it alive.
template <class T>
TransformerTrainer trainer_of(std::shared_ptr<T> of) {
  return {
      [of](const std::uint16_t* prompt, const std::uint32_t* word) { of->sample(prompt, word); },
      [of] { of->read_again(); },
      [of] { of->refer(); },
      [of](int t, const float* coefficient, const std::uint8_t* mask, const TransformerLoss& loss) {
        return of->learn(t, coefficient, mask, loss);
      },
      [of]() -> const TokenRollouts& { return of->rollouts(); },
      [of]() -> const NetWeights& { return of->weights(); },
      [of] { return of->state(); },
      [of](int updates_done) { of->restored(updates_done); },
  };
}

/// Makes a TransformerTrainer on the CPU, which a team shares.
inline TransformerTrainer cpu_trainer(const TransformerTraining& t, Isa isa, Team& team = alone()) {
  const auto policy = std::make_shared<TransformerPolicy>(t.config, t.shape, t.prompts, t.per_prompt, t.optimizer, t.updates, t.start, isa, team);
  TransformerTrainer trainer = trainer_of(policy);
  trainer.read = [policy](const std::uint16_t* prompt, int prompts, const TokenRollouts& given) { policy->read(prompt, prompts, given, true); };
  return trainer;
}

}  // namespace odrpo
