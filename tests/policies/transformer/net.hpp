// A transformer over a queue of the host: its memory, what it is given and what it holds.
#pragma once
#include "tests/policies/transformer/cases.hpp"
#include "tests/policies/transformer/host_backend.hpp"

namespace odrpo::host_backend {

using transformer_cases::Case;

struct Net {
  std::vector<std::uint32_t> memory;
  WeightTable table;
  AdapterTable adapters;
  DevicePass pass;
  DeviceBackward back;
  DeviceWeights weights;
  DeviceTrained trained;  // the weights, or the adapters
  std::vector<float> base;

  Net(const Case& c, const Floats& start, const TransformerConfig& config = {}, const float* adapter_start = nullptr)
      : table(weight_table(c.shape)), adapters(adapter_table(c.shape, table, config)), base(start.data(), start.data() + table.count) {
    const bool lora = adapters.rank > 0;
    const std::size_t count = lora ? adapters.count : table.count;
    laid_out(memory, [&](MemoryPieces& m) {
      pass = device_pass(c.shape, c.prompts, c.per_prompt, m);
      back = device_backward(pass, count, m);
      weights = {&table, m.take<float>(table.count), m.take<float>(table.count)};
      trained = {count, weights.theta, weights.gradient, m.take<float>(count), m.take<float>(count)};
      if (lora) trained.theta = m.take<float>(count), trained.gradient = m.take<float>(count);
      return 0;
    });
    std::copy(base.begin(), base.end(), weights.theta);
    if (lora) std::copy(adapter_start, adapter_start + count, trained.theta);
    std::fill(trained.m, trained.m + count, 0.0f);
    std::fill(trained.v, trained.v + count, 0.0f);
  }
  /// The step of a policy after its coefficients are given.
  template <class Q>
  void learn(Q& q, const AdamScalars& scalars, int t) {
    device::backward(q, pass, back, weights);
    if (adapters.rank > 0) device::adapter_gradient(q, adapters, trained.theta, weights.gradient, trained.gradient);
    device::update(q, back, trained, scalars, t);
    if (adapters.rank > 0) device::merge_adapters(q, adapters, base.data(), trained.theta, weights.theta);
  }
  void begin(int prompts, const std::vector<std::uint16_t>& prompt, double temperature) {
    pass.rows.prompts = prompts;
    pass.inverse_temperature = static_cast<float>(1.0 / temperature);
    std::copy(prompt.begin(), prompt.begin() + prompt_rows_of(pass.rows), pass.prompt);
  }
  Rollouts rollouts() const {
    const int n = sequences_of(pass.rows);
    return {{pass.token, pass.token + n * pass.shape.response}, {pass.length, pass.length + n}};
  }
  // what stands behind an end is nobody's business: no such word
  void give(const Rollouts& r) {
    const int longest = pass.shape.response;
    for (int s = 0; s < sequences_of(pass.rows); ++s) {
      pass.length[s] = r.length[s];
      for (int t = 0; t < longest; ++t) pass.token[s * longest + t] = t < r.length[s] ? r.token[s * longest + t] : 0xffff;
    }
  }
  void give(const TokenCoefficients& by) {
    std::copy(by.token.begin(), by.token.end(), back.coefficient);
    std::copy(by.site_sum.begin(), by.site_sum.end(), back.site_sum);
    std::copy(by.site_bonus.begin(), by.site_bonus.end(), back.site_bonus);
  }
};

// Coefficients and derivatives by tokens for a pass of a batch.
inline std::vector<float> coefficients(int n, unsigned seed) {
  std::mt19937 g(seed);
  std::normal_distribution<float> z(0, 1);
  std::vector<float> x(n);
  for (float& one : x) one = z(g);
  return x;
}

}  // namespace odrpo::host_backend
