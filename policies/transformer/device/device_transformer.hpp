// Trains a transformer on a device, through its queue (kernels/device/backend.hpp), by the steps of TransformerPolicy.
// Q is the queue of a CUDA device (cuda_transformer.hpp) or, in tests, of the host. The function bodies are in device_transformer.inl.
// Everything here throws Failure(Exit::device) where the queue fails; the object cannot be used afterwards.
#pragma once
#include <cstdint>
#include <vector>

#include "policies/transformer/device/pass_memory.hpp"
#include "policies/transformer/device/tile_update.hpp"
#include "policies/transformer/pass.hpp"
#include "policies/transformer/policy.hpp"

namespace odrpo {

/// Calls per on-policy step: sample(), refer() if loss.kl > 0, learn(). Per PPO epoch after the first: read_again(), learn(). The device
/// returns only tokens, log-probabilities and entropies: the host computes the coefficients of tokens from them.
template <class Q>
class DeviceTransformer {
 public:
  /// The batch must pass device_can_count(). The start weights are also the reference of the KL penalty and LoRA's base.
  DeviceTransformer(Q& queue, const TransformerTraining& t);
  ~DeviceTransformer();
  DeviceTransformer(const DeviceTransformer&) = delete;
  DeviceTransformer& operator=(const DeviceTransformer&) = delete;

  /// Samples responses to prompts ([prompts][P]); the random word[b][i][t] picks token t. Their log-probabilities become l_old (TransformerLoss).
  void sample(const std::uint16_t* prompt, const std::uint32_t* word);
  /// Forward pass over the present rollouts with the present weights; l_old stays.
  void read_again();
  /// Computes the present rollouts' log-probabilities under the initial weights, for the KL penalty.
  void refer();
  /// Does update t (call it for 0, 1, … in order). coefficient[S] = A of TransformerLoss; mask[S] = 0 leaves a response out, null = all kept.
  TransformerReport learn(int t, const float* coefficient, const std::uint8_t* mask, const TransformerLoss& loss);

  const TokenRollouts& rollouts() const { return rollouts_; }
  /// The present weights with adapters merged in, copied to the host.
  const NetWeights& weights();
  /// Copies of the state on the host, to write a checkpoint or to fill from one. After filling call restored() with the number of updates
  /// done. Writing to the copy's `initial` does not change the reference of the KL penalty.
  TransformerState state();
  void restored(int updates_done);

  /// The device memory, and a copy of n floats of it; for tests and timings.
  const DeviceMemory& memory() const { return at_; }
  std::vector<float> fetched(const float* from, std::size_t n);

 private:
  enum Recorded { sampling, reading, referring, learning };
  struct Memory {
    Q& queue;
    std::byte* data;
    Memory(Q& q, std::size_t bytes) : queue(q), data(q.take(bytes)) {}
    ~Memory() { queue.give_back(data); }
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;
  };
  struct State {
    std::vector<float> trained, m, v, initial;
  };

  bool lora() const { return adapters_.rank > 0; }
  std::size_t tokens() const { return static_cast<std::size_t>(sequences_of(at_.pass.rows)) * shape_.response; }
  DeviceWeights weights_at(float* theta) const { return {&host_.table, theta, at_.gradient}; }
  DeviceTrained trained_at() const {
    return {at_.trained, lora() ? at_.adapter : at_.theta, lora() ? at_.adapter_gradient : at_.gradient, at_.m, at_.v};
  }
  template <class T>
  void send(T* to, const std::vector<T>& from);
  template <class T>
  void fetch(std::vector<T>& to, const T* from, std::size_t n);
  void take_probabilities();

  Q& queue_;
  TransformerShape shape_;
  OptimizerConfig optimizer_;
  float top_p_;
  NetWeights host_ = make_weights(shape_);
  AdapterTable adapters_;
  AdamScalars scalars_;
  int begun_ = 0;
  Memory memory_;
  DeviceMemory at_;
  State state_;
  TokenRollouts rollouts_;
  std::vector<float> log_probability_, old_log_, reference_log_, entropy_;
  bool has_reference_ = false;
  TokenCoefficients coefficients_;
  device::UpdateScalars scalars_now_;
  float norm_ = 0;
};

}  // namespace odrpo
