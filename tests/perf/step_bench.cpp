// A whole run-step of the yardstick, recording every 10th step: the number to hold against numpy.
#include <fmt/format.h>

#include <string>

#include "kernels/random.hpp"
#include "tests/perf/bench.hpp"
#include "train/train.hpp"

namespace odrpo::perf {

RunSpec yardstick(const char* estimator, int votes, Sampling sampling) {
  RunSpec r;
  r.env_name = "bandit";
  r.rater_name = "yardstick";
  r.policy_name = "tabular";
  r.estimator_name = estimator;
  for (const RaterPreset& preset : rater_presets())
    if (preset.word == "yardstick") r.rater = preset.config;
  r.rater.sampling = sampling;
  r.env.bandit.quality = QualityKind::integer;
  r.env.bandit.feature_share = 0;
  r.policy.kind = PolicyKind::tabular;
  r.estimator = *parse_estimator(estimator);
  r.estimator.eps = 1e-6;
  r.estimator.median = MedianRule::mid;
  r.votes = votes;
  r.run_key = derive_key(2026, 0);
  return r;
}

namespace {

// One iteration = one step of a run of 1000; the world and the law's rows are made before the clock starts.
void run_steps(benchmark::State& state, RunSpec spec) {
  RunCache shared;
  const std::atomic<bool> stop{false};
  RunRecord last = train(spec, shared, stop);
  const CpuTimer timer;
  while (state.KeepRunningBatch(spec.learn.steps)) benchmark::DoNotOptimize(last = train(spec, shared, stop));
  // a step reads and writes: rows of theta, m, v, root and gradient, probabilities and sums, words, actions, scores, advantages
  const std::size_t cells = 64 * 32 * 4, rollouts = 512;
  report_share(state, timer, cells * 6 + rollouts * 15, cells * 7 + rollouts * 23);
}

}  // namespace

void register_steps() {
  for (const char* estimator : {"grpo", "maxrl", "odrpo-gini-median(grpo)", "odrpo-gini-median(maxrl)"})
    for (Sampling sampling : {Sampling::law, Sampling::draws})
      for (int votes : {1, 8, 32})
        benchmark::RegisterBenchmark(
            fmt::format("run_step/{}/{}/n{}", estimator, word_of(std::span<const Word<Sampling>>(sampling_words), sampling), votes).c_str(),
            [=](benchmark::State& state) { run_steps(state, yardstick(estimator, votes, sampling)); });
  RunSpec linear = yardstick("grpo", 8, Sampling::law);
  linear.policy.kind = PolicyKind::linear;
  benchmark::RegisterBenchmark("run_step/linear/grpo/law/n8", [=](benchmark::State& state) { run_steps(state, linear); });
}

}  // namespace odrpo::perf
