// The transformer's on-policy step on a GPU, by graphs, without and with KL pass: 64 prompts x 8 responses of 24 tokens after prompts of 8 tokens,
// from 64 words. Whole and stage by stage, by device events, as transformer_bench.cpp does on the CPU.
#include "tests/perf/gpu_bench.hpp"

#include <benchmark/benchmark.h>

#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "kernels/device/devices.hpp"
#include "kernels/isa.hpp"
#include "kernels/shared/failure.hpp"
#include "policies/transformer/device/cuda_transformer.hpp"

namespace odrpo::perf {
namespace {

constexpr int prompts = 64, per_prompt = 8, vocabulary = 64, prompt_length = 8, response_length = 24, steps = 100'000;

// A transformer with one batch drawn. No token ends a response: all are of full length.
struct Bed {
  TransformerTraining training{};
  CudaQueue queue;
  std::optional<CudaTransformer> device;
  std::vector<std::uint16_t> prompt;
  std::vector<std::uint32_t> word;
  std::vector<float> coefficient;
  int t = 0;

  Bed(TransformerSize size, ProductPrecision precision) : queue(precision, std::make_shared<ProductLibrary>(Asked::current())) {
    training.config = {size, HeadKind::tied, 0};
    training.shape = transformer_shape(training.config, vocabulary, prompt_length, response_length, -1);
    training.prompts = prompts;
    training.per_prompt = per_prompt;
    training.optimizer = {.kind = OptimizerKind::adamw, .lr = 1e-5, .clip = 1.0};
    training.updates = steps;
    training.start = transformer_start(training.config, training.shape, 1);
    device.emplace(queue, training);
    std::mt19937 g(1);
    for (int i = 0; i < prompts * prompt_length; ++i) prompt.push_back(static_cast<std::uint16_t>(g() % vocabulary));
    for (int i = 0; i < prompts * per_prompt * response_length; ++i) word.push_back(static_cast<std::uint32_t>(g()));
    for (int i = 0; i < prompts * per_prompt; ++i) coefficient.push_back(static_cast<float>(g() % 7) - 3.0f);
    for (int i = 0; i < 3; ++i) step(), device->refer(), device->read_again();  // products are chosen, graphs recorded
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
                                     begin.record(bed.queue.stream());
                                     call(bed);
                                     end.record(bed.queue.stream());
                                     state.SetIterationTime(end.seconds_since(begin));
                                   }
                                   state.SetLabel(products_name(precision) + ", " + std::to_string(bed.queue.graphs()) + " graphs");
                                 } catch (const Failure& failure) {
                                   state.SkipWithError(failure.what());
                                 }
                               })
      ->UseManualTime()
      ->Unit(benchmark::kMicrosecond);
}

}  // namespace

void register_gpu() {
  const Devices devices = find_devices(true);
  if (const std::string why = why_no_device(devices); !why.empty()) {
    benchmark::RegisterBenchmark("gpu/none", [why](benchmark::State& s) { s.SkipWithError(("no GPU: skipped (" + why + ")").c_str()); });
    return;
  }
  benchmark::AddCustomContext("gpu", devices.all[0].name);
  for (const TransformerSize size : {TransformerSize::small, TransformerSize::large})
    for (const ProductPrecision precision : {ProductPrecision::fp32, ProductPrecision::tf32}) {
      const std::string shape =
          std::string(size == TransformerSize::small ? "/d64" : "/d128") + (precision == ProductPrecision::fp32 ? "/fp32" : "/tf32");
      const auto add = [&](const char* stage, std::function<void(Bed&)> call) {
        bench("gpu/transformer/" + (stage + shape), size, precision, std::move(call));
      };
      add("sample", [](Bed& b) { b.sample(); });
      add("refer", [](Bed& b) { b.device->refer(); });
      add("read", [](Bed& b) { b.device->read_again(); });
      add("learn", [](Bed& b) { b.learn(); });
      add("step", [](Bed& b) { b.step(); });
      add("step-kl", [](Bed& b) { b.sample(), b.device->refer(), b.learn(); });
    }
}

}  // namespace odrpo::perf
