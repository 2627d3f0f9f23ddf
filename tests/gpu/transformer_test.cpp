// A transformer on a GPU against the CPU's: each layer, logits, gradients by block, weights after ten steps; a table of how far they are.
#include <cmath>
#include <cstdio>

#include "kernels/failure.hpp"
#include "policies/transformer/device/device_transformer.hpp"
#include "policies/transformer/policy.hpp"
#include "tests/gpu/present.hpp"
#include "tests/policies/transformer/cases.hpp"
#include "tests/policies/transformer/parity.hpp"

using namespace odrpo;
using namespace transformer_cases;

namespace {

// Tolerances relative to the largest of a layer or block. fp32: as between the CPU's engines. tf32: what the host backend shows with
// factors cut to ten bits (transformer_queue_test) and half as much again.
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
  DeviceTransformer device(config, c.shape, c.prompts, c.per_prompt, {}, 10, {w.flat.data(), w.table.count}, {}, precision);
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

namespace {

// A CPU's policy and a device's, which start alike.
struct Pair {
  TransformerConfig config;
  TransformerPolicy cpu;
  DeviceTransformer device;
  Pair(const Case& c, const TransformerConfig& with, const OptimizerConfig& o, int steps, const NetWeights& start,
       ProductPrecision precision)
      : config(with),
        cpu(with, c.shape, c.prompts, c.per_prompt, o, steps, 31, best_isa()),
        device(with, c.shape, c.prompts, c.per_prompt, o, steps, {start.flat.data(), start.table.count},
               with.lora_rank > 0 ? cpu.state().trained : std::span<float>{}, precision) {
    cpu.start_from({start.flat.data(), start.table.count});
  }
};

}  // namespace

TEST_CASE("ten steps of a transformer on the GPU end where the CPU's end, of all weights and of adapters", "[transformer]") {
  if (gpu::absent()) return;
  struct Way {
    const char* name;
    OptimizerKind kind;
    int rank;
  };
  std::vector<Case> all(std::begin(cases), std::end(cases));
  all.push_back(usual);
  for (const ProductPrecision precision : {ProductPrecision::fp32, ProductPrecision::tf32})
    for (const Case& c : all)
      for (const auto& [way, kind, rank] :
           {Way{"10 adamw", OptimizerKind::adamw, 0}, {"10 sgd", OptimizerKind::sgd, 0}, {"10 lora", OptimizerKind::sgd, 5}}) {
        if (c.shape.response == 1 && kind == OptimizerKind::sgd) continue;
        TransformerConfig config;
        config.lora_rank = rank;
        config.lora_alpha = 16;
        OptimizerConfig o;
        o.kind = kind;
        o.lr = kind == OptimizerKind::sgd ? 0.1 : 0.003;
        o.weight_decay = 0.01;
        o.warmup = 0.2;
        o.clip = 0.5;
        const int steps = 10, sequences = c.prompts * c.per_prompt;
        const NetWeights start = weights(c.shape, 33);
        Pair pair(c, config, o, steps, start, precision);
        const TransformerLoss loss{TokenMean::token_mean, 0.05, 0.2, 0.01};
        for (int t = 0; t < steps; ++t) {
          const Batch b = batch(c, 40 + t);
          const std::vector<float> coefficient = coefficients(sequences, 60 + t);
          pair.cpu.sample(b.prompt.data(), b.word.data());
          pair.cpu.refer();
          const TransformerReport want = pair.cpu.learn(t, coefficient.data(), nullptr, loss);
          pair.device.read(b.prompt.data(), c.prompts, pair.cpu.rollouts(), true);
          pair.device.refer();
          const TransformerReport got = pair.device.learn(t, coefficient.data(), nullptr, loss);
          INFO(c.name << " " << text_of(precision) << " " << way << " step " << t);
          CHECK(std::fabs(got.gradient_norm - want.gradient_norm) < tolerance(precision).gradient * want.gradient_norm);
          CHECK(std::fabs(got.objective - want.objective) < tolerance(precision).pass);
        }
        const std::vector<float> theta = pair.device.weights();
        const parity::Gaps gaps = parity::of_blocks(start.table, theta.data(), [&](std::size_t i) { return pair.cpu.weights().flat[i]; });
        print(c, precision, way, gaps);
        CHECK(parity::worst(gaps) < (kind == OptimizerKind::sgd ? tolerance(precision).sgd : tolerance(precision).adam));
      }
}

TEST_CASE("a transformer on the GPU imitates as the CPU does, and goes on from its state with the same bits", "[transformer]") {
  if (gpu::absent()) return;
  for (const int rank : {0, 4}) {
    const Case& c = cases[0];
    TransformerConfig config;
    config.lora_rank = rank;
    config.temperature = 0.8;  // of samples alone: imitation is at 1
    const NetWeights start = weights(c.shape, 35);
    const OptimizerConfig o{.kind = OptimizerKind::sgd, .lr = 0.05};
    Pair pair(c, config, o, 6, start, ProductPrecision::fp32);
    std::optional<Pair> again;
    DeviceTransformerState third;
    std::vector<Rollouts> all;
    for (int t = 0; t < 6; ++t) {
      const Batch b = batch(c, 80 + t);
      pair.cpu.sample(b.prompt.data(), b.word.data());
      const Rollouts shown = all.emplace_back(pair.cpu.rollouts());
      const TransformerReport want = pair.cpu.imitate(t, b.prompt.data(), c.prompts, shown);
      const TransformerReport got = pair.device.imitate(t, b.prompt.data(), c.prompts, shown);
      CHECK(std::fabs(got.objective - want.objective) < tolerance(ProductPrecision::fp32).pass);
      if (again) again->device.imitate(t, b.prompt.data(), c.prompts, shown);
      if (t == 2) {
        third = pair.device.state();
        again.emplace(c, config, o, 6, start, ProductPrecision::fp32);
        again->device.restore(third, t + 1);
      }
    }
    const std::vector<float> theta = pair.device.weights();
    CHECK(theta == again->device.weights());
    const parity::Gaps gaps = parity::of_blocks(start.table, theta.data(), [&](std::size_t i) { return pair.cpu.weights().flat[i]; });
    CHECK(parity::worst(gaps) < tolerance(ProductPrecision::fp32).sgd);
    // back to the third state in the object that has gone further
    pair.device.restore(third, 3);
    for (int t = 3; t < 6; ++t) pair.device.imitate(t, batch(c, 80 + t).prompt.data(), c.prompts, all[t]);
    CHECK(theta == pair.device.weights());
  }
}

TEST_CASE("rollouts used twice, clipped, of likely tokens and of fewer prompts than there is room for, on the GPU as on the CPU",
          "[transformer]") {
  if (gpu::absent()) return;
  const Case room[] = {{"tiny tied", transformer_samples::tiny(true), 5, 4}, {"small", sized(64, 8, 24, 64, 2, 4, true), 4, 3}};
  for (const Case& c : room) {
    TransformerConfig config;
    config.temperature = 0.8;
    config.top_p = 0.7;
    const OptimizerConfig o{.kind = OptimizerKind::sgd, .lr = 0.1};
    const int batches = 5, prompts = c.prompts - 1, all = c.prompts * c.per_prompt, sequences = prompts * c.per_prompt;
    const NetWeights start = weights(c.shape, 37);
    Pair pair(c, config, o, 2 * batches, start, ProductPrecision::fp32);
    const TransformerLoss loss{TokenMean::token_mean, 0.05, 0.2, 0.01};
    double clipped = 0;
    for (int i = 0; i < batches; ++i) {
      const Batch b = batch(c, 100 + i);
      const std::vector<float> coefficient = coefficients(sequences, 120 + i);
      pair.cpu.sample(b.prompt.data(), b.word.data());
      pair.device.sample(b.prompt.data(), b.word.data());
      Rollouts few = pair.device.rollouts();
      int differ = 0;
      for (int s = 0; s < all; ++s) {
        const auto at = s * c.shape.response;
        const auto& own = pair.cpu.rollouts();
        differ += !std::equal(own.token.begin() + at, own.token.begin() + at + own.length[s], few.token.begin() + at);
      }
      CHECK(differ <= 1 + all / 100);
      few.token.resize(static_cast<std::size_t>(sequences) * c.shape.response);
      few.length.resize(sequences);
      for (int epoch = 0; epoch < 2; ++epoch) {
        pair.cpu.read(b.prompt.data(), prompts, epoch == 0 ? few : pair.cpu.rollouts(), epoch == 0);
        pair.device.read(b.prompt.data(), prompts, epoch == 0 ? few : pair.device.rollouts(), epoch == 0);
        if (epoch == 0) pair.cpu.refer(), pair.device.refer();
        const TransformerReport want = pair.cpu.learn(2 * i + epoch, coefficient.data(), nullptr, loss);
        const TransformerReport got = pair.device.learn(2 * i + epoch, coefficient.data(), nullptr, loss);
        INFO(c.name << " batch " << i << " epoch " << epoch);
        CHECK(got.tokens == want.tokens);
        CHECK(std::fabs(got.clipped - want.clipped) < 1e-9);
        CHECK(std::fabs(got.gradient_norm - want.gradient_norm) < tolerance(ProductPrecision::fp32).gradient * want.gradient_norm);
        CHECK(std::fabs(got.objective - want.objective) < tolerance(ProductPrecision::fp32).pass);
        clipped += want.clipped;
      }
    }
    CHECK(clipped > 0);
    const std::vector<float> theta = pair.device.weights();
    const parity::Gaps gaps = parity::of_blocks(start.table, theta.data(), [&](std::size_t i) { return pair.cpu.weights().flat[i]; });
    print(c, ProductPrecision::fp32, "2 epochs", gaps);
    CHECK(parity::worst(gaps) < tolerance(ProductPrecision::fp32).sgd);
  }
}

TEST_CASE("a transformer on the GPU, as little as finds a stray access", "[brief]") {
  if (gpu::absent()) return;
  for (const Case& c : {cases[0], cases[2], cases[3]}) compare(c, ProductPrecision::fp32);
}

TEST_CASE("a batch too large for a device's transformer and a start too short are refused before any device is asked") {
  const TransformerShape s = transformer_samples::tiny(true);
  const NetWeights w = make_weights(s);
  const auto code_of = [&](int prompts, int less) {
    try {
      DeviceTransformer({}, s, prompts, 1 << 10, {}, 10, {w.flat.data(), w.table.count - less}, {}, ProductPrecision::fp32);
    } catch (const Failure& failure) {
      INFO(failure.what());
      CHECK(std::string(failure.what()).size() > 20);
      return failure.code;
    }
    return Exit::ok;
  };
  REQUIRE(code_of(1 << 20, 0) == Exit::limits);
  REQUIRE(code_of(1, 1) == Exit::internal);
  if (find_devices(false).all.empty()) REQUIRE(code_of(1, 0) == Exit::device);
}
