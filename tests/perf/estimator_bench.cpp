// Every estimator's batch form at (G=8, K=10) and (G=16, K=5), for 64 and for a million groups.
#include <fmt/format.h>

#include <random>
#include <string>
#include <vector>

#include "estimators/batch.hpp"
#include "tests/perf/bench.hpp"

namespace odrpo::perf {
namespace {

void advantages(benchmark::State& state, EstimatorConfig config, int levels, int rollouts, int groups) {
  std::mt19937 g(1);
  std::vector<std::uint8_t> score(static_cast<std::size_t>(groups) * rollouts);
  std::binomial_distribution<int> near_the_top(levels - 1, 0.7);
  for (auto& s : score) s = static_cast<std::uint8_t>(1 + near_the_top(g));
  std::vector<float> out(score.size());
  BatchEstimator estimator(config, levels, rollouts);
  if (estimator.needs_median()) estimator.set_median(0.5 * (levels + 1));
  const EstimatorStages& stages = estimator_stages(best_isa());
  const CpuTimer timer;
  for (auto _ : state) {
    estimator(stages, score.data(), groups, out.data());
    benchmark::ClobberMemory();
  }
  state.counters["ns_per_group"] = timer.seconds() * 1e9 / (static_cast<double>(state.iterations()) * groups);
  report_share(state, timer, score.size(), out.size() * sizeof(float));
}

void whiten(benchmark::State& state, int n) {
  std::mt19937 g(1);
  std::vector<float> advantage(n);
  for (auto& a : advantage) a = static_cast<float>(g() % 1000) / 100;
  const CpuTimer timer;
  for (auto _ : state) {
    estimator_stages(best_isa()).whiten({true}, advantage.data(), nullptr, n);
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
          benchmark::RegisterBenchmark(fmt::format("advantage/{}/G{}/K{}/groups{}", name, rollouts, levels, groups).c_str(),
                                       [config = config, levels = levels, rollouts = rollouts, groups](benchmark::State& s) {
                                         advantages(s, config, levels, rollouts, groups);
                                       });
  }
  for (int n : {512, 8'000'000})
    benchmark::RegisterBenchmark(fmt::format("whiten/n{}", n).c_str(), [n](benchmark::State& s) { whiten(s, n); });
}

}  // namespace odrpo::perf
