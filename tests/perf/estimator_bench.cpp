// Every estimator's batch form at (G=8, K=10) and (G=16, K=5), for 64 and for a million groups; with gaps, of reals, nemo's; whitening.
#include <fmt/format.h>

#include <random>
#include <string>
#include <vector>

#include "estimators/batch.hpp"
#include "estimators/running_median.hpp"
#include "tests/perf/bench.hpp"

namespace odrpo::perf {
namespace {

void advantages(benchmark::State& state, EstimatorConfig config, int levels, int rollouts, int groups, bool tabulated) {
  std::mt19937 g(1);
  std::vector<std::uint8_t> score(static_cast<std::size_t>(groups) * rollouts);
  std::binomial_distribution<int> near_the_top(levels - 1, 0.7);
  for (auto& s : score) s = static_cast<std::uint8_t>(1 + near_the_top(g));
  const AlignedFloats aligned(score.size());  // so that large outputs stream
  float* out = aligned.get();
  BatchEstimator estimator(config, levels, rollouts);
  if (estimator.needs_median()) estimator.set_median(0.5 * (levels + 1));
  const EstimatorStages& stages = estimator_stages(best_isa());
  if (tabulated) {
    estimator.expect(1e12, best_isa());
    if (!estimator.tabulated()) return state.SkipWithError("has no table");
  }
  const CpuTimer timer;
  for (auto _ : state) {
    estimator(stages, score.data(), groups, out);
    benchmark::ClobberMemory();
  }
  state.counters["ns_per_group"] = timer.seconds() * 1e9 / (static_cast<double>(state.iterations()) * groups);
  report_share(state, timer, score.size(), score.size() * sizeof(float));
}

// One score in 20 missing.
void with_gaps(benchmark::State& state, EstimatorConfig config, int levels, int rollouts, int groups) {
  std::mt19937 g(1);
  std::vector<std::uint8_t> score(static_cast<std::size_t>(groups) * rollouts);
  for (auto& s : score) s = g() % 20 == 0 ? no_score : static_cast<std::uint8_t>(1 + g() % levels);
  std::vector<float> out(score.size());
  const BatchEstimator estimator(config, levels, rollouts);
  const CpuTimer timer;
  for (auto _ : state) {
    estimator.with_gaps(estimator_stages(best_isa()), score.data(), groups, out.data());
    benchmark::ClobberMemory();
  }
  state.counters["ns_per_group"] = timer.seconds() * 1e9 / (static_cast<double>(state.iterations()) * groups);
  report_share(state, timer, score.size(), out.size() * sizeof(float));
}

// Means of 8 votes.
void real(benchmark::State& state, EstimatorConfig config, int levels, int rollouts, int groups) {
  std::mt19937 g(1);
  std::vector<float> reward(static_cast<std::size_t>(groups) * rollouts);
  for (auto& r : reward) r = 1 + static_cast<float>(g() % (8 * (levels - 1) + 1)) / 8;
  std::vector<float> out(reward.size());
  BatchEstimator estimator(config, levels, rollouts);
  if (estimator.needs_median()) estimator.set_median(0.5 * (levels + 1));
  const CpuTimer timer;
  for (auto _ : state) {
    estimator.real(reward.data(), groups, out.data());
    benchmark::ClobberMemory();
  }
  state.counters["ns_per_group"] = timer.seconds() * 1e9 / (static_cast<double>(state.iterations()) * groups);
  report_share(state, timer, reward.size() * sizeof(float), out.size() * sizeof(float));
}

void running_median(benchmark::State& state, RunningKind kind) {
  std::mt19937 g(1);
  std::vector<float> reward(512);
  for (auto& r : reward) r = 1 + static_cast<float>(g() % 73) / 8;
  RunningMedian median({kind, MedianRule::lower, 4096, 0.9}, 5);
  const CpuTimer timer;
  for (auto _ : state) median.add_batch(reward);
  report_share(state, timer, reward.size() * sizeof(float), 0);
}

void whiten(benchmark::State& state, int n, bool masked) {
  std::mt19937 g(1);
  std::vector<float> advantage(n);
  for (auto& a : advantage) a = static_cast<float>(g() % 1000) / 100;
  std::vector<std::uint8_t> kept(n);
  for (auto& k : kept) k = g() % 10 != 0;
  const CpuTimer timer;
  for (auto _ : state) {
    estimator_stages(best_isa()).whiten({true}, advantage.data(), masked ? kept.data() : nullptr, n);
    benchmark::ClobberMemory();
  }
  report_share(state, timer, advantage.size() * sizeof(float), advantage.size() * sizeof(float));
}

}  // namespace

void register_estimators() {
  for (std::string_view word : estimator_catalogue()) {
    std::vector<std::pair<std::string, EstimatorConfig>> rows{{std::string(word), *parse_estimator(word)}};
    if (rows[0].second.weight == Weight::gini_median)
      for (MedianRule rule : {MedianRule::mid, MedianRule::running}) {
        rows.push_back(rows[0]);
        rows.back().second.median = rule;
        rows.back().first = fmt::format("{},{}", word, word_of(std::span<const Word<MedianRule>>(median_words), rule));
      }
    for (const auto& [name, config] : rows)
      for (auto [rollouts, levels] : {std::pair{8, 10}, {16, 5}})
        for (int groups : {64, 1'000'000})
          for (bool tabulated : {false, true}) {
            if (tabulated && config.median == MedianRule::running) continue;
            const char* form = tabulated ? "advantage_table" : "advantage";
            benchmark::RegisterBenchmark(fmt::format("{}/{}/G{}/K{}/groups{}", form, name, rollouts, levels, groups).c_str(),
                                         [config = config, levels = levels, rollouts = rollouts, groups, tabulated](benchmark::State& s) {
                                           advantages(s, config, levels, rollouts, groups, tabulated);
                                         });
          }
  }
  for (const char* word : {"grpo", "odrpo-gini(grpo)"}) {
    EstimatorConfig config = *parse_estimator(word);
    config.compat = Compat::nemo;
    for (int groups : {64, 1'000'000})
      benchmark::RegisterBenchmark(fmt::format("advantage/{},nemo/G8/K10/groups{}", word, groups).c_str(),
                                   [config, groups](benchmark::State& s) { advantages(s, config, 10, 8, groups, false); });
  }
  for (std::string_view word : estimator_catalogue()) {
    const EstimatorConfig config = *parse_estimator(word);
    for (auto [rollouts, levels] : {std::pair{8, 10}, {32, 100}})
      benchmark::RegisterBenchmark(
          fmt::format("advantage_real/{}/G{}/K{}/groups64", word, rollouts, levels).c_str(),
          [config, levels = levels, rollouts = rollouts](benchmark::State& s) { real(s, config, levels, rollouts, 64); });
  }
  for (const char* word : {"grpo", "odrpo-gini-median(grpo)"}) {
    const EstimatorConfig config = *parse_estimator(word);
    benchmark::RegisterBenchmark(fmt::format("advantage_with_gaps/{}/G8/K10/groups64", word).c_str(),
                                 [config](benchmark::State& s) { with_gaps(s, config, 10, 8, 64); });
  }
  for (const auto& kind : running_words)
    benchmark::RegisterBenchmark(fmt::format("running_median/real/{}/n512", kind.word).c_str(),
                                 [kind = kind.value](benchmark::State& s) { running_median(s, kind); });
  for (int n : {512, 8'000'000})
    for (bool masked : {false, true})
      benchmark::RegisterBenchmark(fmt::format("whiten{}/n{}", masked ? ",masked" : "", n).c_str(),
                                   [n, masked](benchmark::State& s) { whiten(s, n, masked); });
}

}  // namespace odrpo::perf
