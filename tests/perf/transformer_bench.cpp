// The transformer's on-policy step, 64 prompts x 8 responses of 24 tokens after prompts of 8, vocabulary 64: whole, and stage by stage.
#include <fmt/format.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "kernels/isa.hpp"
#include "policies/transformer/policy.hpp"
#include "tests/perf/bench.hpp"

namespace odrpo::perf {
namespace {

constexpr int prompts = 64, per_prompt = 8, vocabulary = 64, prompt_length = 8, response_length = 24;

/// A policy with one batch drawn. No token ends a response: all are of full length.
struct Bed {
  TransformerConfig config;
  TransformerShape shape;
  OptimizerConfig optimizer;
  TransformerPolicy policy;
  std::vector<std::uint16_t> prompt;
  std::vector<std::uint32_t> word;
  std::vector<float> coefficient;
  int t = 0;
  static constexpr int steps = 100'000;

  explicit Bed(TransformerSize size, int rank)
      : config{size, HeadKind::tied, rank},
        shape(transformer_shape(config, vocabulary, prompt_length, response_length, -1)),
        optimizer{.kind = OptimizerKind::adamw, .lr = 1e-5, .clip = 1.0},
        policy(config, shape, prompts, per_prompt, optimizer, steps, 1, best_isa()) {
    std::mt19937 g(1);
    for (int i = 0; i < prompts * prompt_length; ++i) prompt.push_back(static_cast<std::uint16_t>(g() % vocabulary));
    for (int i = 0; i < prompts * per_prompt * response_length; ++i) word.push_back(static_cast<std::uint32_t>(g()));
    for (int i = 0; i < prompts * per_prompt; ++i) coefficient.push_back(static_cast<float>(g() % 7) - 3.0f);
    step(true);
  }
  void sample() { policy.sample(prompt.data(), word.data()); }
  void learn(bool kl) { policy.learn(t++ % steps, coefficient.data(), nullptr, {TokenMean::token_mean, kl ? 0.001 : 0.0, 0.0, 0.0}); }
  void step(bool kl) {
    sample();
    if (kl) policy.refer();
    learn(kl);
  }
};

// CPU time of this thread in the counter `cpu`; pass --benchmark_repetitions for medians and spread
void bench(const std::string& name, TransformerSize size, int rank, std::function<void(Bed&)> call) {
  benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& state) {
    Bed bed(size, rank);
    const CpuTimer timer;
    for (auto _ : state) {
      call(bed);
      benchmark::ClobberMemory();
    }
    state.counters["cpu"] = benchmark::Counter(timer.seconds() / static_cast<double>(state.iterations()));
    state.SetLabel(engine_name(best_engine(best_isa())));
  })->Unit(benchmark::kMillisecond);
}

}  // namespace

void register_transformer() {
  for (const auto& word : transformer_size_words) {
    const std::string name = fmt::format("transformer/{}/", word.word);
    bench(name + "step", word.value, 0, [](Bed& b) { b.step(false); });
    bench(name + "step+kl", word.value, 0, [](Bed& b) { b.step(true); });
    bench(name + "step+kl/lora32", word.value, 32, [](Bed& b) { b.step(true); });
    bench(name + "sample", word.value, 0, [](Bed& b) { b.sample(); });
    bench(name + "reference", word.value, 0, [](Bed& b) { b.policy.refer(); });
    bench(name + "backward+update", word.value, 0, [](Bed& b) { b.learn(false); });
    // responses of one token have no rows of their own: what is left is the prompts, and one choice per response
    bench(name + "prompts", word.value, 0, [pass = std::shared_ptr<TransformerPass>()](Bed& b) mutable {
      TransformerShape one = b.shape;
      one.response = 1;
      if (!pass) pass = std::make_shared<TransformerPass>(one, prompts, per_prompt, best_isa(), true);
      TokenRollouts out;
      pass->sample(b.policy.weights(), prompts, b.prompt.data(), b.word.data(), 1.0, 1.0, out);
    });
    bench(name + "adam", word.value, 0, [](Bed& b) {
      const TransformerState s = b.policy.state();
      const AdamStep step{1.0f, 0.9f, 0.999f, 1e-8f, {1e-5f, 1.0f, 1.0f}};
      b.policy.pass().stages.adam(s.trained.size(), step, b.policy.gradient().data(), s.trained.data(), s.m.data(), s.v.data());
    });
  }
}

}  // namespace odrpo::perf
