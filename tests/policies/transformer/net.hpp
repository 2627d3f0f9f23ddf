// A transformer over a queue of the host: its memory, what it is given and what it holds.
#pragma once
#include "tests/policies/transformer/cases.hpp"
#include "tests/policies/transformer/host_backend.hpp"

namespace odrpo::host_backend {

using transformer_cases::Case;

struct Net {
  std::vector<std::uint32_t> memory;
  WeightTable table;
  DevicePass pass;
  DeviceBackward back;
  DeviceWeights weights;
  DeviceTrained trained;

  Net(const Case& c, const Floats& start) : table(weight_table(c.shape)) {
    const std::size_t count = table.count;
    laid_out(memory, [&](MemoryPieces& m) {
      pass = device_pass(c.shape, c.prompts, c.per_prompt, true, m);
      back = device_backward(pass, count, m);
      weights = {&table, m.take<float>(count), m.take<float>(count)};
      trained = {count, weights.theta, weights.gradient, m.take<float>(count), m.take<float>(count)};
      return 0;
    });
    std::copy(start.data(), start.data() + count, weights.theta);
    std::fill(trained.m, trained.m + count, 0.0f);
    std::fill(trained.v, trained.v + count, 0.0f);
  }
  void give(const device::UpdateScalars& scalars) { std::memcpy(back.scalars, &scalars, sizeof scalars); }
  void begin(int prompts, const std::vector<std::uint16_t>& prompt, double temperature) {
    pass.rows.prompts = prompts;
    pass.inverse_temperature = static_cast<float>(1.0 / temperature);
    std::copy(prompt.begin(), prompt.begin() + prompt_rows_of(pass.rows), pass.prompt);
  }
  TokenRollouts rollouts() const {
    const int n = sequences_of(pass.rows);
    return {{pass.token, pass.token + n * pass.shape.response}, {pass.length, pass.length + n}};
  }
  // what stands behind an end is nobody's business: no such word
  void give(const TokenRollouts& r) {
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
