// A transformer in training over a queue (kernels/device/backend.hpp): the same steps as TransformerPolicy, of all weights or of adapters.
// Q is the queue of a CUDA device (cuda_transformer.hpp) or, in tests, of the host; device_transformer.inl has the functions' bodies for
// whoever compiles them. Everything here throws Failure(Exit::device) where the queue fails; the object is of no use then.
#pragma once
#include <cstdint>
#include <vector>

#include "policies/transformer/device/pass_memory.hpp"
#include "policies/transformer/device/tile_update.hpp"
#include "policies/transformer/pass.hpp"
#include "policies/transformer/policy.hpp"

namespace odrpo {

/// Calls per on-policy step: sample(), refer() if loss.kl > 0, learn(). Per PPO epoch after the first: read_again(), learn(). What the
/// queue computes stays there but for tokens, log-probabilities and entropies, from which the host makes the coefficients per token.
template <class Q>
class DeviceTransformer {
 public:
  /// Its batch is one that device_can_count(). The start is the reference and LoRA's base, too.
  DeviceTransformer(Q& queue, const TransformerTraining& t);
  ~DeviceTransformer();
  DeviceTransformer(const DeviceTransformer&) = delete;
  DeviceTransformer& operator=(const DeviceTransformer&) = delete;

  /// Draws responses to prompts ([prompts][P]); word[b][i][t] picks token t. They become l_old.
  void sample(const std::uint16_t* prompt, const std::uint32_t* word);
  /// Forward pass over the present rollouts with the present weights; l_old stays.
  void read_again();
  /// Log-probabilities of the present rollouts under the first weights.
  void refer();
  /// Update number t (0, 1, … in order) from coefficient[S]; mask[S] may be null.
  TransformerReport learn(int t, const float* coefficient, const std::uint8_t* mask, const TransformerLoss& loss);

  const Rollouts& rollouts() const { return rollouts_; }
  /// As they are now, adapters merged, on the host.
  const NetWeights& weights();
  /// Copies on the host: to write a checkpoint, or to fill from one, of however many updates; then restored() with the number of updates
  /// done. `initial` is not taken back.
  TransformerState state();
  void restored(int updates_done);

  /// Where all lies, and n values of it: for tests and timings.
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
  Rollouts rollouts_;
  std::vector<float> log_probability_, old_log_, reference_log_, entropy_;
  bool has_reference_ = false;
  TokenCoefficients coefficients_;
  device::UpdateScalars scalars_now_;
  float norm_ = 0;
};

}  // namespace odrpo
