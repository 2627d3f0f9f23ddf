// TransformerTrainer: what training asks of a transformer, wherever it is: on the CPU (TransformerPolicy) or on a device
// (DeviceTransformer).
#pragma once
#include <cstdint>
#include <functional>
#include <memory>

#include "policies/transformer/policy.hpp"

namespace odrpo {

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
