// A DeviceTransformer against the CPU's TransformerPolicy, step by step, over the host's queue or a CUDA device's: rows and probabilities of the first
// step; gradients of the first step and weights after ten, both beside the definition's in double; checkpoints. Prints a line a comparison.
#pragma once
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "policies/transformer/device/device_transformer.hpp"
#include "tests/catch.hpp"
#include "tests/policies/transformer/cases.hpp"
#include "tests/policies/transformer/double_steps.hpp"
#include "tests/policies/transformer/parity.hpp"
#include "tests/policies/transformer/samples.hpp"

namespace odrpo::device_steps {

using transformer_cases::Batch;
using transformer_cases::Case;

/// Relative to the largest of a layer or block: of passes from the CPU's; of gradients, and of weights after ten steps of each kind of optimiser, from the
/// exact ones. `by_cpu`: gradients and weights must lie within allowed(the CPU's distance); `gradient` then bounds the norm alone.
struct Tolerance {
  double pass, gradient, sgd, adam;
  bool by_cpu = false;
  double exact(double stated, double cpu) const { return by_cpu ? allowed(cpu) : stated; }
};
/// Passes as between the CPU's engines.
inline constexpr Tolerance of_fp32{5e-6, 1e-5, 0, 0, true};
/// What the host backend shows with factors cut to ten bits (backend_test) and half as much again.
inline constexpr Tolerance of_tf32{1e-2, 3e-2, 1e-3, 2e-2};

struct Way {
  const char* name;
  OptimizerKind kind;
  int rank = 0, epochs = 1;
  double top_p = 1, temperature = 1;
};
inline constexpr Way ways[] = {{"adamw", OptimizerKind::adamw},
                               {"sgd", OptimizerKind::sgd},
                               {"lora", OptimizerKind::sgd, 5},
                               {"lora adamw", OptimizerKind::adamw, 8},
                               {"2 epochs", OptimizerKind::sgd, 0, 2, 0.7, 0.8}};
inline constexpr int steps = 10;

inline TransformerTraining training_of(const Case& c, const Way& way) {
  TransformerTraining t{};
  t.config.lora_rank = way.rank;
  t.config.lora_alpha = 16;
  t.config.top_p = way.top_p;
  t.config.temperature = way.temperature;
  t.shape = c.shape;
  t.prompts = c.prompts;
  t.per_prompt = c.per_prompt;
  t.optimizer.kind = way.kind;
  t.optimizer.lr = way.kind == OptimizerKind::sgd ? 0.1 : 0.003;
  t.optimizer.weight_decay = 0.01;
  t.optimizer.warmup = 0.2;
  t.optimizer.clip = 0.5;
  t.updates = steps * way.epochs;
  const NetWeights start = transformer_cases::weights(c.shape, 33);
  t.start = transformer_start(t.config, c.shape, 31, {start.flat.data(), start.table.count});
  return t;
}

inline Batch batch_of(const Case& c, int t) { return transformer_cases::batch(c, 40u + static_cast<unsigned>(t)); }
inline std::vector<float> coefficients_of(const Case& c, int t) {
  return transformer_samples::normals<float>(static_cast<std::size_t>(c.prompts) * c.per_prompt, 60u + static_cast<unsigned>(t));
}

/// One step of a transformer: batch t, all updates of it. Returns the last one's report.
template <class T>
TransformerReport step(T& transformer, const Case& c, const Way& way, int t, const TransformerLoss& loss) {
  const Batch b = batch_of(c, t);
  const std::vector<float> coefficient = coefficients_of(c, t);
  transformer.sample(b.prompt.data(), b.word.data());
  if (loss.kl > 0) transformer.refer();
  TransformerReport report;
  for (int e = 0; e < way.epochs; ++e) {
    if (e > 0) transformer.read_again();
    report = transformer.learn(t * way.epochs + e, coefficient.data(), nullptr, loss);
  }
  return report;
}

/// The CPU's policy, which takes over what another sampled: the bits of a probability may move a choice, rarely.
struct Follower {
  TransformerPolicy policy;
  const TokenRollouts* sampled = nullptr;
  void sample(const std::uint16_t* prompt, const std::uint32_t*) { policy.read(prompt, policy.pass().rows().prompts, *sampled, true); }
  void refer() { policy.refer(); }
  void read_again() { policy.read_again(); }
  TransformerReport learn(int t, const float* c, const std::uint8_t* mask, const TransformerLoss& loss) { return policy.learn(t, c, mask, loss); }
};

inline void print(const Case& c, const Way& way, const char* what, const parity::Gaps& gaps) {
  std::printf("parity %-11s %-10s %-12s", c.name, way.name, what);
  for (const auto& [name, gap] : gaps) std::printf(" %s %.1e", name.c_str(), gap);
  std::printf("\n");
}
/// Prints the worst gaps from the exact, the device's and the CPU's, and checks the device's.
inline void check_exact(const Case& c, const Way& way, const char* what, const parity::Gaps& device, const parity::Gaps& cpu, const Tolerance& tolerance,
                        double stated) {
  const double got = parity::worst(device), of_cpu = parity::worst(cpu);
  print(c, way, what, {{"exact", got}, {"cpu", of_cpu}});
  INFO(what << ": " << got << " from the exact, the CPU's " << of_cpu);
  CHECK(got < tolerance.exact(stated, of_cpu));
}

/// The responses of a batch, with their coefficients.
inline std::vector<Response> responses(const Case& c, const Batch& b, const TokenRollouts& rollouts, const std::vector<float>& coefficient) {
  std::vector<Response> all;
  for (std::size_t s = 0; s < coefficient.size(); ++s) {
    all.push_back(transformer_cases::response(c, b, rollouts, static_cast<int>(s)));
    all.back().coefficient = coefficient[s];
  }
  return all;
}

/// Ten steps of `device`, which was made from training_of(c, way), beside the CPU's and those in double.
template <class Device>
void check_steps(Device& device, const Case& c, const Way& way, const Tolerance& tolerance) {
  const TransformerTraining t = training_of(c, way);
  Follower cpu{TransformerPolicy(t.config, t.shape, t.prompts, t.per_prompt, t.optimizer, t.updates, t.start, best_isa())};
  DoubleSteps exact(t);
  const TransformerLoss loss{TokenMean::token_mean, 0.05, 0.2, 0.01};
  const auto fetch = [&](const float* from, std::size_t n) { return device.fetched(from, n); };
  double clipped = 0;
  for (int i = 0; i < steps; ++i) {
    INFO(c.name << " " << way.name << " step " << i);
    const TransformerReport got = step(device, c, way, i, loss);
    cpu.sampled = &device.rollouts();
    if (i == 0) cpu.policy.sample(batch_of(c, 0).prompt.data(), batch_of(c, 0).word.data());  // for its sizes
    const TransformerReport want = step(cpu, c, way, i, loss);
    exact.step(i * way.epochs, way.epochs, responses(c, batch_of(c, i), device.rollouts(), coefficients_of(c, i)), loss);
    CHECK(got.tokens == want.tokens);
    CHECK(std::fabs(got.gradient_norm - want.gradient_norm) < 2 * tolerance.gradient * want.gradient_norm);
    CHECK(std::fabs(got.objective - want.objective) < tolerance.pass * (1 + std::fabs(want.objective)));
    CHECK(std::fabs(got.kl - want.kl) < tolerance.pass * (1 + want.kl));
    CHECK(std::fabs(got.entropy - want.entropy) < tolerance.pass * (1 + want.entropy));
    clipped += want.clipped;
    if (i > 0) continue;
    const parity::Gaps rows = parity::of_pass(device.memory().pass, cpu.policy.pass(), fetch);
    print(c, way, "first pass", rows);
    CHECK(parity::worst(rows) < tolerance.pass);
    const std::vector<float> gradient = fetch(way.rank > 0 ? device.memory().adapter_gradient : device.memory().gradient, device.memory().trained);
    const auto gaps = [&](const auto& of) {
      return parity::Gaps{{"gradient", parity::gap(
                                           gradient.size(), [&](std::size_t j) { return of[j]; }, [&](std::size_t j) { return exact.gradient()[j]; })}};
    };
    check_exact(c, way, "first step", gaps(gradient), gaps(cpu.policy.gradient()), tolerance, tolerance.gradient);
  }
  const NetWeights& got = device.weights();
  const Numbers end = exact.weights();
  const auto gaps = [&](const float* of) { return parity::of_blocks(got.table, of, [&](std::size_t j) { return end[j]; }); };
  // Adam divides by the root of the second moment: a weight whose gradient is a rounding error moves by up to lr a step either way
  check_exact(c, way, "ten steps", gaps(got.flat.data()), gaps(cpu.policy.weights().flat.data()), tolerance,
              way.kind == OptimizerKind::sgd ? tolerance.sgd : tolerance.adam);
  double moved = 0;
  for (std::size_t j = 0; j < t.start.weights.size(); ++j) moved = std::fmax(moved, std::fabs(t.start.weights[j] - got.flat[j]));
  CHECK(moved > 1e-3);
  if (way.epochs > 1 && c.shape.response > 1) CHECK(clipped > 0);
}

/// All that a checkpoint keeps.
struct Kept {
  std::vector<float> trained, m, v;
  explicit Kept(const TransformerState& s) : trained(s.trained.begin(), s.trained.end()), m(s.m.begin(), s.m.end()), v(s.v.begin(), s.v.end()) {}
  void give(const TransformerState& s) const {
    std::copy(trained.begin(), trained.end(), s.trained.begin());
    std::copy(m.begin(), m.end(), s.m.begin());
    std::copy(v.begin(), v.end(), s.v.begin());
  }
  friend bool operator==(const Kept&, const Kept&) = default;
};

/// One that goes on from the state of the third step ends with the bits of one that was never stopped; so does one that has gone further.
template <class Device>
void check_checkpoints(Device& whole, Device& fresh, const Case& c, const Way& way) {
  const TransformerLoss loss{TokenMean::sequence_mean, 0.05, 0.2, 0.01};
  for (int t = 0; t < 3; ++t) step(whole, c, way, t, loss);
  const Kept third(whole.state());
  for (int t = 3; t < 6; ++t) step(whole, c, way, t, loss);
  const Kept end(whole.state());
  CHECK_FALSE(end == third);
  for (Device* from : {&fresh, &whole}) {
    third.give(from->state());
    from->restored(3 * way.epochs);
    for (int t = 3; t < 6; ++t) step(*from, c, way, t, loss);
    CHECK(Kept(from->state()) == end);
  }
}

}  // namespace odrpo::device_steps
