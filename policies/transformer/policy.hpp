// A transformer in training: its weights (or adapters), optimiser, frozen reference and the rollouts of the present batch; and what training
// asks of one wherever it is (TransformerTrainer).
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "policies/optimizer.hpp"
#include "policies/transformer/pass.hpp"

namespace odrpo {

/// All that a checkpoint needs besides the config, the key and the number of steps done. Sizes never change.
struct TransformerState {
  std::span<float> trained;  ///< weights, or LoRA's adapters
  std::span<float> m, v;     ///< Adam's moments of them
  std::span<float> initial;  ///< weights before the first update: the reference of the KL term, and LoRA's base
};

/// Calls per on-policy step: sample(), refer() if loss.kl > 0, learn(). Per PPO epoch after the first: read_again(), learn().
class TransformerPolicy {
 public:
  /// `steps` and `optimizer` make the schedule. Throws nothing: ask refuse_transformer first.
  TransformerPolicy(const TransformerConfig& config, const TransformerShape& shape, int prompts, int per_prompt,
                    const OptimizerConfig& optimizer, int steps, const TransformerStart& start, Isa isa);
  /// From the start of a key.
  TransformerPolicy(const TransformerConfig& config, const TransformerShape& shape, int prompts, int per_prompt,
                    const OptimizerConfig& optimizer, int steps, std::uint64_t key, Isa isa)
      : TransformerPolicy(config, shape, prompts, per_prompt, optimizer, steps, transformer_start(config, shape, key), isa) {}

  /// Draws per_prompt responses to each prompt ([prompts][P]) with the present weights; word[b][i][t] picks token t. They become l_old.
  void sample(const std::uint16_t* prompt, const std::uint32_t* word);
  /// Forward pass over given responses; `prompts` of them, at most as many as there is room for. l_old stays unless `fresh`.
  void read(const std::uint16_t* prompt, int prompts, const Rollouts& given, bool fresh);
  /// The same over the present rollouts; l_old stays.
  void read_again() { read(prompt_.data(), pass_.rows().prompts, rollouts_, false); }
  /// Log-probabilities of the present rollouts under the initial weights.
  void refer();
  /// Update number t (0, 1, … in order) from coefficient[S]; kept[S] may be null.
  TransformerReport learn(int t, const float* coefficient, const std::uint8_t* mask, const TransformerLoss& loss);
  /// Update number t that raises the demonstrations' mean log-probability per token, at temperature 1.
  TransformerReport imitate(int t, const std::uint16_t* prompt, int prompts, const Rollouts& demonstrations);

  /// The gradient of the last learn() before clipping: by the weights, or by the adapters.
  std::span<const float> gradient() const { return {adapter_table_.rank > 0 ? adapter_gradient_.data() : gradient_.data(), trained_}; }
  const Rollouts& rollouts() const { return rollouts_; }
  const TransformerPass& pass() const { return pass_; }
  const NetWeights& weights() const { return weights_; }  ///< merged under LoRA: what a TransformerPass of its own can sample from
  const NetWeights& initial() const { return initial_; }
  const AdapterTable& adapters() const { return adapter_table_; }
  /// To write a checkpoint, or to fill from one, of however many updates; then restored() with the number of updates done.
  TransformerState state();
  void restored(int updates_done);

 private:
  void renew();
  TransformerReport update(int t, const LearnFrom& from, const TransformerLoss& loss);

  TransformerConfig config_;
  TransformerShape shape_;
  AdapterTable adapter_table_;
  NetWeights weights_, initial_;
  std::size_t trained_;  // floats that are trained
  Floats adapter_, m_, v_, gradient_, adapter_gradient_;
  AdamScalars scalars_;
  OptimizerConfig optimizer_;
  int begun_ = 0;
  TransformerPass pass_, reference_pass_;
  TransformerBackward backward_;
  Rollouts rollouts_;
  std::vector<std::uint16_t> prompt_;
  int prompts_;
  std::vector<float> old_log_, scratch_;
  bool has_reference_ = false;
  TokenCoefficients coefficients_;
};

// TransformerTrainer: what training asks of a transformer, wherever it is: on the CPU (TransformerPolicy) or on a device
// (DeviceTransformer).

/// Calls per on-policy step: sample(), refer() if loss.kl > 0, learn(). Per PPO epoch after the first: read_again(), learn(). They are
/// explained where TransformerPolicy has them. One on a device throws Failure(Exit::device) when that fails.
struct TransformerTrainer {
  std::function<void(const std::uint16_t* prompt, const std::uint32_t* word)> sample;
  std::function<void()> read_again, refer;
  std::function<TransformerReport(int t, const float* coefficient, const std::uint8_t* mask, const TransformerLoss& loss)> learn;
  std::function<const Rollouts&()> rollouts;
  std::function<const NetWeights&()> weights;
  std::function<TransformerState()> state;
  std::function<void(int updates_done)> restored;
};

/// What one is made from.
struct TransformerTraining {
  TransformerConfig config;
  TransformerShape shape;
  int prompts, per_prompt;  ///< of a batch
  OptimizerConfig optimizer;
  int updates;  ///< in all: they make the schedule
  TransformerStart start;
};
using MakeTrainer = std::function<TransformerTrainer(const TransformerTraining&)>;

/// The trainer that `of` is, which it keeps alive.
template <class T>
TransformerTrainer trainer_of(std::shared_ptr<T> of) {
  return {
      [of](const std::uint16_t* prompt, const std::uint32_t* word) { of->sample(prompt, word); },
      [of] { of->read_again(); },
      [of] { of->refer(); },
      [of](int t, const float* coefficient, const std::uint8_t* mask, const TransformerLoss& loss) {
        return of->learn(t, coefficient, mask, loss);
      },
      [of]() -> const Rollouts& { return of->rollouts(); },
      [of]() -> const NetWeights& { return of->weights(); },
      [of] { return of->state(); },
      [of](int updates_done) { of->restored(updates_done); },
  };
}

/// On the CPU.
inline TransformerTrainer cpu_trainer(const TransformerTraining& t, Isa isa) {
  return trainer_of(std::make_shared<TransformerPolicy>(t.config, t.shape, t.prompts, t.per_prompt, t.optimizer, t.updates, t.start, isa));
}

}  // namespace odrpo
