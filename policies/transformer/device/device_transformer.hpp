// A transformer in training on the current CUDA device: the same steps as TransformerPolicy, of all weights or of adapters. Built only
// where nvcc is. Everything here throws Failure with the source line that asked: Exit::device where the device or cuBLASLt fails,
// Exit::internal where a size is not what the shape says; the constructor also Exit::limits, for a batch too large to count.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "kernels/device/product.hpp"
#include "policies/transformer/backward.hpp"
#include "policies/transformer/device/memory.hpp"

namespace odrpo {

/// What a checkpoint needs besides the config and the number of updates done; as TransformerState, on the host.
struct DeviceTransformerState {
  std::vector<float> trained, m, v;  ///< weights, or LoRA's adapters; Adam's moments of them
  std::vector<float> initial;        ///< weights before the first update
};

/// Calls per on-policy step: sample(), refer() if loss.kl > 0, learn(). Per PPO epoch after the first: read(rollouts(), false), learn().
/// What the device computes stays there but for tokens, log-probabilities and entropies, from which the host makes the coefficients per
/// token.
class DeviceTransformer {
 public:
  /// Room for `prompts` prompts of `per_prompt` responses; `weights` [weight_table(shape).count] are the start, the reference and LoRA's
  /// base, `adapters` [adapter_table(…).count] LoRA's start (none without). Throws Failure(Exit::limits) for a batch whose rows an int
  /// cannot count.
  DeviceTransformer(const TransformerConfig& config, const TransformerShape& shape, int prompts, int per_prompt,
                    const OptimizerConfig& optimizer, int steps, std::span<const float> weights, std::span<const float> adapters,
                    ProductPrecision precision, Asked from = Asked::current());

  /// Draws responses to prompts ([prompts][P]); word[b][i][t] picks token t. They become l_old. Waits for them.
  void sample(const std::uint16_t* prompt, const std::uint32_t* word, Asked from = Asked::current());
  /// Forward pass over given responses of `prompts` prompts, at most as many as there is room for. l_old stays unless `fresh`. Waits for
  /// the log-probabilities.
  void read(const std::uint16_t* prompt, int prompts, const Rollouts& given, bool fresh, Asked from = Asked::current());
  /// Log-probabilities of the present rollouts under the first weights.
  void refer(Asked from = Asked::current());
  /// Update number t (0, 1, … in order) from coefficient[S]; kept[S] may be null. Waits for the gradient's norm.
  TransformerReport learn(int t, const float* coefficient, const std::uint8_t* mask, const TransformerLoss& loss,
                          Asked from = Asked::current());
  /// Update number t that raises the demonstrations' mean log-probability per token, at temperature 1.
  TransformerReport imitate(int t, const std::uint16_t* prompt, int prompts, const Rollouts& demonstrations, Asked from = Asked::current());

  /// learn() in pieces, which are queued and not waited for: the gradient from the derivatives by tokens (alive until stream() has been
  /// waited for), then step t along it.
  void backward(const TokenCoefficients& by, Asked from = Asked::current());
  void update(int t, Asked from = Asked::current());

  const Rollouts& rollouts() const { return rollouts_; }
  const std::vector<float>& log_chance() const { return log_chance_; }  ///< [S][response] of the last pass; 0 behind an end
  const std::vector<float>& entropy() const { return entropy_; }        ///< [sites] in FixedRows' order
  /// As they are now, adapters merged: [weight_table(shape).count].
  std::vector<float> weights(Asked from = Asked::current()) const;
  /// Of the last backward(), before it is clipped: by the weights, or by the adapters.
  std::vector<float> gradient(Asked from = Asked::current()) const;
  DeviceTransformerState state(Asked from = Asked::current()) const;
  /// Goes on from a state after this many updates, however many this object has done.
  void restore(const DeviceTransformerState& state, int updates_done, Asked from = Asked::current());
  /// Where all lies on the device, and n values of it: for tests and timings.
  const DevicePass& pass() const { return net_.pass; }
  std::vector<float> fetch(const float* from, std::size_t n, Asked asked = Asked::current()) const;
  const Stream& stream() const { return stream_; }
  const DeviceProducts& products() const { return products_; }

 private:
  struct Net {
    DeviceBuffer<std::byte> memory;
    DevicePass pass;
  };
  Net make_net(Asked from) const;
  DeviceWeights device_weights(const DeviceBuffer<float>& theta) const;
  DeviceTrained trained() const;
  void read_at(double temperature, const std::uint16_t* prompt, int prompts, const Rollouts& given, Asked from);
  TransformerReport update_from(int t, const LearnFrom& by, const TransformerLoss& loss, Asked from);
  void merge(Asked from);
  void give(const Net& net, Asked from);
  void take_chances(const Net& net, std::vector<float>& log_chance, Asked from);

  TransformerShape shape_;
  int prompts_, per_prompt_;
  double temperature_;
  float top_p_;
  WeightTable table_;
  AdapterTable adapter_table_;
  std::size_t trained_count_;
  AdamScalars scalars_;
  int begun_ = 0;
  Stream stream_;
  mutable DeviceProducts products_;  // keeps what it has chosen
  DeviceBuffer<float> theta_, initial_, gradient_, m_, v_, adapter_, adapter_gradient_;
  Net net_;
  std::optional<Net> reference_;
  DeviceBuffer<std::byte> back_memory_;
  DeviceBackward back_;
  std::vector<std::uint16_t> prompt_;
  Rollouts rollouts_;
  std::vector<float> log_chance_, old_log_, reference_log_, entropy_;
  bool has_reference_ = false;
  TokenCoefficients coefficients_;
};

}  // namespace odrpo
