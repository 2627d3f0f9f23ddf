// A transformer on a GPU against the CPU's: each layer, logits, gradients by block, weights after ten steps; a table of how far they are.
#include <cmath>
#include <cstdio>

#include "kernels/failure.hpp"
#include "policies/device_transformer.hpp"
#include "policies/transformer_policy.hpp"
#include "tests/gpu/present.hpp"
#include "tests/policies/transformer_cases.hpp"
#include "tests/policies/transformer_parity.hpp"

using namespace odrpo;
using namespace transformer_cases;

namespace {

// Tolerances relative to the largest of a layer or block. fp32: as between the CPU's engines. tf32: what the host's twin shows with factors
// cut to ten bits (transformer_queue_test) and half as much again.
struct Tolerance {
  double pass, gradient, sgd, adam;
};
Tolerance tolerance(ProductPrecision p) {
  return p == ProductPrecision::fp32 ? Tolerance{5e-6, 1e-5, 1e-6, 1e-4} : Tolerance{1e-2, 3e-2, 1e-3, 2e-2};
}
const char* text_of(ProductPrecision p) { return p == ProductPrecision::fp32 ? "fp32" : "tf32"; }

std::vector<float> coefficients(int n, unsigned seed) {
  std::mt19937 g(seed);
  std::normal_distribution<float> z(0, 1);
  std::vector<float> x(n);
  for (float& one : x) one = z(g);
  return x;
}
void print(const Case& c, ProductPrecision precision, const char* what, const parity::Gaps& gaps) {
  std::printf("parity %-11s %s %-8s", c.name, text_of(precision), what);
  for (const auto& [name, gap] : gaps) std::printf(" %s %.1e", name.c_str(), gap);
  std::printf("\n");
}

// A batch as large as a step of training has.
const Case usual{"64 x 8", sized(64, 8, 24, 64, 2, 4, true), 64, 8};

// One pass and one gradient.
void compare(const Case& c, ProductPrecision precision) {
  const NetWeights w = weights(c.shape, 21);
  const Batch b = batch(c, 22);
  TransformerConfig config;
  config.temperature = 0.8;
  DeviceTransformer device(config, c.shape, c.prompts, c.per_prompt, {}, 10, {w.flat.data(), w.table.count}, precision);
  device.sample(b.prompt.data(), b.word.data());
  const Rollouts sampled = device.rollouts();
  const auto fetch = [&](const float* from, std::size_t n) { return device.fetch(from, n); };

  // the CPU takes over what the device chose: the bits of a chance may move a choice, rarely
  TransformerPass cpu(c.shape, c.prompts, c.per_prompt, best_isa(), true);
  Rollouts own;
  cpu.sample(w, c.prompts, b.prompt.data(), b.word.data(), config.temperature, 1.0, own);
  int differ = 0;
  const int sequences = c.prompts * c.per_prompt;
  for (int s = 0; s < sequences; ++s)
    differ += !std::equal(own.token.begin() + s * c.shape.response, own.token.begin() + (s + 1) * c.shape.response,
                          sampled.token.begin() + s * c.shape.response);
  std::printf("parity %-11s %s sampled  %d of %d responses differ from the CPU's\n", c.name, text_of(precision), differ, sequences);
  if (precision == ProductPrecision::fp32) CHECK(differ <= 1 + sequences / 100);
  cpu.read(w, c.prompts, b.prompt.data(), sampled, config.temperature);
  parity::Gaps gaps = parity::of_pass(device.pass(), cpu, fetch);
  print(c, precision, "sampled", gaps);
  CHECK(parity::worst(gaps) < tolerance(precision).pass);
  device.read(b.prompt.data(), c.prompts, sampled, true);
  gaps = parity::of_pass(device.pass(), cpu, fetch);
  print(c, precision, "read", gaps);
  CHECK(parity::worst(gaps) < tolerance(precision).pass);

  const TransformerLoss loss{TokenMean::sequence_mean, 0, 0, 0.1};
  const std::vector<float> coefficient = coefficients(sequences, 27);
  TokenCoefficients cpu_by, by;
  token_coefficients(cpu, sampled, loss, {coefficient.data(), nullptr, nullptr, nullptr}, cpu_by);
  token_coefficients(device.pass().rows, device.log_chance().data(), device.entropy().data(), sampled, loss,
                     {coefficient.data(), nullptr, nullptr, nullptr}, by);
  std::vector<float> want(w.table.count);
  TransformerBackward(cpu).run(cpu, w, sampled, cpu_by, want.data());
  device.backward(by);
  const std::vector<float> gradient = device.gradient();
  gaps = parity::of_blocks(w.table, gradient.data(), [&](std::size_t i) { return want[i]; });
  print(c, precision, "gradient", gaps);
  CHECK(parity::worst(gaps) < tolerance(precision).gradient);
  // nothing is added by chance: the same bits again
  device.backward(by);
  CHECK(gradient == device.gradient());
}

}  // namespace

TEST_CASE("a transformer's layers, logits and gradients on the GPU are the CPU's", "[transformer]") {
  if (gpu::absent()) return;
  for (const ProductPrecision precision : {ProductPrecision::fp32, ProductPrecision::tf32}) {
    for (const Case& c : cases) compare(c, precision);
    compare(usual, precision);
  }
}

TEST_CASE("ten steps of a transformer on the GPU end where the CPU's end", "[transformer]") {
  if (gpu::absent()) return;
  std::vector<Case> all(std::begin(cases), std::end(cases));
  all.push_back(usual);
  for (const ProductPrecision precision : {ProductPrecision::fp32, ProductPrecision::tf32})
    for (const Case& c : all)
      for (const OptimizerKind kind : {OptimizerKind::adamw, OptimizerKind::sgd}) {
        if (c.shape.response == 1 && kind == OptimizerKind::sgd) continue;
        OptimizerConfig o;
        o.kind = kind;
        o.lr = kind == OptimizerKind::sgd ? 0.1 : 0.003;
        o.weight_decay = 0.01;
        o.warmup = 0.2;
        o.clip = 0.5;
        const int steps = 10, sequences = c.prompts * c.per_prompt;
        const NetWeights start = weights(c.shape, 33);
        const std::span<const float> from(start.flat.data(), start.table.count);
        TransformerPolicy cpu({}, c.shape, c.prompts, c.per_prompt, o, steps, 31, best_isa());
        cpu.start_from(from);
        DeviceTransformer device({}, c.shape, c.prompts, c.per_prompt, o, steps, from, precision);
        const TransformerLoss loss{TokenMean::token_mean, 0.05, 0.2, 0.01};
        for (int t = 0; t < steps; ++t) {
          const Batch b = batch(c, 40 + t);
          const std::vector<float> coefficient = coefficients(sequences, 60 + t);
          cpu.sample(b.prompt.data(), b.word.data());
          cpu.refer();
          const TransformerReport want = cpu.learn(t, coefficient.data(), nullptr, loss);
          device.read(b.prompt.data(), c.prompts, cpu.rollouts(), true);
          device.refer();
          const TransformerReport got = device.learn(t, coefficient.data(), nullptr, loss);
          INFO(c.name << " " << text_of(precision) << " step " << t);
          CHECK(std::fabs(got.gradient_norm - want.gradient_norm) < tolerance(precision).gradient * want.gradient_norm);
          CHECK(std::fabs(got.objective - want.objective) < tolerance(precision).pass);
        }
        const std::vector<float> theta = device.weights();
        const parity::Gaps gaps = parity::of_blocks(start.table, theta.data(), [&](std::size_t i) { return cpu.weights().flat[i]; });
        print(c, precision, kind == OptimizerKind::sgd ? "10 sgd" : "10 adamw", gaps);
        CHECK(parity::worst(gaps) < (kind == OptimizerKind::sgd ? tolerance(precision).sgd : tolerance(precision).adam));
      }
}

TEST_CASE("a transformer on the GPU, as little as finds a stray access", "[brief]") {
  if (gpu::absent()) return;
  for (const Case& c : {cases[0], cases[2], cases[3]}) compare(c, ProductPrecision::fp32);
}

TEST_CASE("what a device's transformer has no form of is refused before any device is asked") {
  TransformerConfig config;
  config.lora_rank = 4;
  const TransformerShape s = transformer_samples::tiny(true);
  const NetWeights w = make_weights(s);
  const std::span<const float> flat(w.flat.data(), w.table.count);
  const auto code_of = [&](const TransformerConfig& with, int prompts) {
    try {
      DeviceTransformer(with, s, prompts, 1 << 10, {}, 10, flat, ProductPrecision::fp32);
    } catch (const Failure& failure) {
      INFO(failure.what());
      CHECK(std::string(failure.what()).size() > 20);
      return failure.code;
    }
    return Exit::ok;
  };
  REQUIRE(code_of(config, 1) == Exit::limits);
  REQUIRE(code_of({}, 1 << 20) == Exit::limits);
  if (find_devices(false).all.empty()) REQUIRE(code_of({}, 1) == Exit::device);
}
