// A transformer over a queue of the host: its memory, what it is given and what it holds.
#pragma once
#include "tests/policies/transformer_cases.hpp"
#include "tests/policies/transformer_twin.hpp"

namespace odrpo::twin {

using transformer_cases::Case;

struct Net {
  std::vector<std::uint32_t> memory;
  WeightTable table;
  QueuePass pass;
  QueueBackward back;
  QueueWeights weights;

  explicit Net(const Case& c, const Floats& start) : table(weight_table(c.shape)) {
    twin::laid_out(memory, [&](Stretches& m) {
      pass = queue_pass(c.shape, c.prompts, c.per_prompt, m);
      back = queue_backward(pass, table.count, m);
      weights = {&table, m.take<float>(table.count), m.take<float>(table.count), m.take<float>(table.count), m.take<float>(table.count)};
      return 0;
    });
    std::copy(start.data(), start.data() + table.count, weights.theta);
    std::fill(weights.m, weights.m + table.count, 0.0f);
    std::fill(weights.v, weights.v + table.count, 0.0f);
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

}  // namespace odrpo::twin
