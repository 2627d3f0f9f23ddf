// A transformer's training by the definition, in double: the exact weights that the CPU's and a device's float weights are compared with.
#pragma once
#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <thread>
#include <vector>

#include "policies/transformer/policy.hpp"
#include "tests/policies/adam_definition.hpp"
#include "tests/policies/transformer/cases.hpp"

namespace odrpo::device_steps {

using definition::Numbers;
using definition::Response;

/// Largest distance from the exact that is allowed, if the CPU's is `cpu`; both are relative to the largest. The CPU sums products in parts; a device
/// that sums each in one float, in order, is up to eleven times as far away (product_sample_test). A distance of less than a rounding is luck.
inline double allowed(double cpu) { return 16 * std::fmax(cpu, 0x1p-24); }

/// Trains as TransformerPolicy does, of responses that another sampled.
class DoubleSteps {
 public:
  explicit DoubleSteps(const TransformerTraining& training)
      : training_(training),
        adapter_table_(adapter_table(training.shape, weight_table(training.shape), training.config)),
        start_(training.start.weights.begin(), training.start.weights.end()),
        base_(start_),
        adapters_(training.start.adapters.begin(), training.start.adapters.end()),
        m_(trained().size()),
        v_(m_.size()) {}

  /// Updates first, …, first + epochs - 1, all of one batch. Every response takes part; its mean is that over tokens.
  void step(int first, int epochs, std::vector<Response> batch, const TransformerLoss& loss) {
    const double temperature = training_.config.temperature;
    const Numbers sampled = weights();
    in_parts(batch, [&](std::size_t, std::span<Response> mine) {
      for (Response& r : mine) {
        if (loss.kl > 0) r.reference = definition::response_log_probabilities(training_.shape, start_, temperature, r);
        if (epochs > 1) r.old_log = definition::response_log_probabilities(training_.shape, sampled, temperature, r);
      }
    });
    for (int t = first; t < first + epochs; ++t) {
      compute_gradient(batch, loss);
      update(t);
    }
  }
  Numbers weights() const { return lora() ? definition::merge(adapter_table_, base_, adapters_) : base_; }
  /// Of the last update, before clipping: by the weights, or by the adapters.
  const Numbers& gradient() const { return gradient_; }

 private:
  bool lora() const { return training_.config.lora_rank > 0; }
  Numbers& trained() { return lora() ? adapters_ : base_; }

  // work(i, part i of the batch), a thread for each part
  template <class Work>
  static void in_parts(std::vector<Response>& batch, const Work& work) {
    const std::size_t n = parts(batch);
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < n; ++i)
      threads.emplace_back([&, i] { work(i, {batch.data() + i * batch.size() / n, batch.data() + (i + 1) * batch.size() / n}); });
    for (std::thread& thread : threads) thread.join();
  }
  static std::size_t parts(const std::vector<Response>& batch) {
    return std::min<std::size_t>(std::max(1u, std::thread::hardware_concurrency()), batch.size());
  }
  // The gradient of a mean over tokens is the mean of those of parts of the batch, by their tokens.
  void compute_gradient(std::vector<Response>& batch, const TransformerLoss& loss) {
    const Numbers now = weights();
    std::vector<Numbers> part(parts(batch));
    std::vector<double> tokens(part.size());
    in_parts(batch, [&](std::size_t i, std::span<Response> mine) {
      for (const Response& r : mine) tokens[i] += static_cast<double>(r.tokens.size());
      definition::objective(training_.shape, now, training_.config.temperature, loss, mine, &part[i]);
    });
    const double all = std::accumulate(tokens.begin(), tokens.end(), 0.0);
    gradient_.assign(now.size(), 0.0);
    for (std::size_t i = 0; i < part.size(); ++i)
      for (std::size_t j = 0; j < now.size(); ++j) gradient_[j] += tokens[i] / all * part[i][j];
    if (lora()) gradient_ = definition::adapter_gradient(adapter_table_, adapters_, gradient_);
  }
  void update(int t) {
    const OptimizerConfig& o = training_.optimizer;
    const double norm = std::sqrt(std::inner_product(gradient_.begin(), gradient_.end(), gradient_.begin(), 0.0));
    Numbers g = gradient_;
    for (double& x : g) x *= std::fmin(1.0, o.clip / norm);
    const double lr = learning_rate(o, t, training_.updates);
    Numbers& theta = trained();
    if (o.kind == OptimizerKind::sgd)
      for (std::size_t j = 0; j < g.size(); ++j) theta[j] += lr * g[j];
    else adam_definition(o, t, lr, static_cast<int>(g.size()), g.data(), theta.data(), m_.data(), v_.data());
  }

  TransformerTraining training_;
  AdapterTable adapter_table_;
  Numbers start_, base_, adapters_, m_, v_, gradient_;
};

}  // namespace odrpo::device_steps
