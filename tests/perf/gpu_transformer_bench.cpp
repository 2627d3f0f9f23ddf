// The transformer's on-policy step on a GPU, without graph and KL pass: 64 prompts x 8 responses of 24 tokens after prompts of 8 tokens,
// from 64 words. Whole and stage by stage, by device events, as transformer_bench.cpp does on the CPU.
#include <benchmark/benchmark.h>

#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "kernels/failure.hpp"
#include "kernels/isa.hpp"
#include "policies/transformer/device/device_transformer.hpp"
#include "policies/transformer/policy.hpp"
#include "tests/perf/gpu_bench.hpp"

namespace odrpo::perf {
namespace {

constexpr int prompts = 64, per_prompt = 8, vocabulary = 64, prompt_length = 8, response_length = 24, steps = 100'000;

// A transformer with one batch drawn. No token ends a response: all are of full length.
struct Bed {
  TransformerConfig config;
  TransformerShape shape;
  OptimizerConfig optimizer;
  std::unique_ptr<DeviceTransformer> device;
  std::vector<std::uint16_t> prompt;
  std::vector<std::uint32_t> word;
  std::vector<float> coefficient;
  TokenCoefficients by;
  int t = 0;

  Bed(TransformerSize size, ProductPrecision precision)
      : config{size, HeadKind::tied, 0},
        shape(transformer_shape(config, vocabulary, prompt_length, response_length, -1)),
        optimizer{.kind = OptimizerKind::adamw, .lr = 1e-5, .clip = 1.0} {
    const WeightTable table = weight_table(shape);
    std::vector<float> start(table.count);
    init_blocks(table.blocks, 1, 0, start.data());
    device = std::make_unique<DeviceTransformer>(config, shape, prompts, per_prompt, optimizer, steps, start, std::span<const float>{},
                                                 precision);
    std::mt19937 g(1);
    for (int i = 0; i < prompts * prompt_length; ++i) prompt.push_back(static_cast<std::uint16_t>(g() % vocabulary));
    for (int i = 0; i < prompts * per_prompt * response_length; ++i) word.push_back(static_cast<std::uint32_t>(g()));
    for (int i = 0; i < prompts * per_prompt; ++i) coefficient.push_back(static_cast<float>(g() % 7) - 3.0f);
    for (int i = 0; i < 3; ++i) step();  // products are chosen, memory is touched
    token_coefficients(device->pass().rows, device->log_chance().data(), device->entropy().data(), device->rollouts(), {},
                       {coefficient.data(), nullptr, nullptr, nullptr}, by);
  }
  void sample() { device->sample(prompt.data(), word.data()); }
  void learn() { device->learn(t++ % steps, coefficient.data(), nullptr, {}); }
  void step() {
    sample();
    learn();
  }
};

// Time between device events, around whatever the call sends and fetches; median and spread by --benchmark_repetitions.
void bench(const std::string& name, TransformerSize size, ProductPrecision precision, std::function<void(Bed&)> call) {
  benchmark::RegisterBenchmark(name.c_str(),
                               [=](benchmark::State& state) {
                                 try {
                                   Bed bed(size, precision);
                                   Event begin, end;
                                   for (auto _ : state) {
                                     begin.record(bed.device->stream());
                                     call(bed);
                                     end.record(bed.device->stream());
                                     state.SetIterationTime(end.seconds_since(begin));
                                   }
                                   state.SetLabel(bed.device->products().name());
                                 } catch (const Failure& failure) {
                                   state.SkipWithError(failure.what());
                                 }
                               })
      ->UseManualTime()
      ->Unit(benchmark::kMicrosecond);
}

}  // namespace

void register_gpu_transformer() {
  for (const TransformerSize size : {TransformerSize::small, TransformerSize::large})
    for (const ProductPrecision precision : {ProductPrecision::fp32, ProductPrecision::tf32}) {
      const std::string shape =
          std::string(size == TransformerSize::small ? "/d64" : "/d128") + (precision == ProductPrecision::fp32 ? "/fp32" : "/tf32");
      const auto add = [&](const char* stage, std::function<void(Bed&)> call) {
        bench("gpu/transformer/" + (stage + shape), size, precision, std::move(call));
      };
      add("sample", [](Bed& b) { b.sample(); });
      add("read", [](Bed& b) { b.device->read(b.prompt.data(), prompts, b.device->rollouts(), false); });
      add("backward", [](Bed& b) { b.device->backward(b.by); });
      add("update", [](Bed& b) { b.device->update(b.t++ % steps); });
      add("learn", [](Bed& b) { b.learn(); });
      add("step", [](Bed& b) { b.step(); });
    }
}

}  // namespace odrpo::perf
