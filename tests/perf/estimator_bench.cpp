// Every estimator's batch form at (G=8, K=10) and (G=16, K=5), for 64 and for a million groups; of more levels than tables have; with gaps, of reals, nemo's; whitening.
#include <fmt/format.h>

#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "estimators/batch.hpp"
#include "estimators/running_median.hpp"
#include "kernels/shared/words.hpp"
#include "tests/perf/bench.hpp"

namespace odrpo::perf {
namespace {

constexpr std::size_t large = 100'000;  // groups or values: their set-up takes longer than a gate's repetition

/// Scores on 1..levels that crowd near the top.
std::vector<std::uint8_t> scores_near_the_top(int levels, std::size_t n) {
  std::mt19937 g(1);
  std::vector<std::uint8_t> score(n);
  std::binomial_distribution<int> near_the_top(levels - 1, 0.7);
  for (auto& s : score) s = static_cast<std::uint8_t>(1 + near_the_top(g));
  return score;
}

Microbenchmark advantages(const std::string& name, EstimatorConfig config, int levels, int rollouts, int groups, bool tabulated) {
  const std::size_t n = static_cast<std::size_t>(groups) * rollouts;
  return {name, n, n * sizeof(float), groups, !tabulated && static_cast<std::size_t>(groups) < large, [=] {
            struct State {
              std::vector<std::uint8_t> score;
              AlignedFloats out;  // aligned, so that large outputs stream
              BatchEstimator estimator;
            };
            const auto state =
                std::make_shared<State>(State{scores_near_the_top(levels, n), AlignedFloats(n), BatchEstimator(config, levels, rollouts)});
            if (state->estimator.needs_median()) state->estimator.set_median(0.5 * (levels + 1));
            if (tabulated) {
              state->estimator.expect(1e12, best_isa());
              if (!state->estimator.tabulated()) throw std::runtime_error("has no table");
            }
            const EstimatorStages& stages = estimator_stages(best_isa());
            return app::TimedWork{
                [] {}, repeated([state, &stages, groups] { state->estimator(stages, state->score.data(), groups, state->out.get()); }),
                [state, n] { return app::byte_checksum(state->out.get(), n * sizeof(float)); }};
          }};
}

// One score in 20 missing.
Microbenchmark with_gaps(const std::string& name, EstimatorConfig config, int levels, int rollouts, int groups) {
  const std::size_t n = static_cast<std::size_t>(groups) * rollouts;
  return {name, n, n * sizeof(float), groups, true, [=] {
            struct State {
              std::vector<std::uint8_t> score;
              std::vector<float> out;
              BatchEstimator estimator;
            };
            const auto state = std::make_shared<State>(
                State{std::vector<std::uint8_t>(n), std::vector<float>(n), BatchEstimator(config, levels, rollouts)});
            std::mt19937 g(1);
            for (auto& s : state->score) s = g() % 20 == 0 ? no_score : static_cast<std::uint8_t>(1 + g() % levels);
            return app::TimedWork{[] {}, repeated([state, groups] {
                               state->estimator.with_gaps(estimator_stages(best_isa()), state->score.data(), groups, state->out.data());
                             }),
                             [state, n] { return app::byte_checksum(state->out.data(), n * sizeof(float)); }};
          }};
}

// Means of 8 votes.
Microbenchmark real(const std::string& name, EstimatorConfig config, int levels, int rollouts, int groups) {
  const std::size_t n = static_cast<std::size_t>(groups) * rollouts;
  return {name, n * sizeof(float), n * sizeof(float), groups, true, [=] {
            struct State {
              std::vector<float> reward, out;
              BatchEstimator estimator;
            };
            const auto state =
                std::make_shared<State>(State{std::vector<float>(n), std::vector<float>(n), BatchEstimator(config, levels, rollouts)});
            std::mt19937 g(1);
            for (auto& r : state->reward) r = 1 + static_cast<float>(g() % (8 * (levels - 1) + 1)) / 8;
            if (state->estimator.needs_median()) state->estimator.set_median(0.5 * (levels + 1));
            return app::TimedWork{[] {}, repeated([state, groups] { state->estimator.real(state->reward.data(), groups, state->out.data()); }),
                             [state, n] { return app::byte_checksum(state->out.data(), n * sizeof(float)); }};
          }};
}

// A median over earlier batches: it moves on, so it has no checksum.
Microbenchmark running_median(const std::string& name, RunningKind kind) {
  return {name, 512 * sizeof(float), 0, 0, true, [=] {
            std::mt19937 g(1);
            std::vector<float> reward(512);
            for (auto& r : reward) r = 1 + static_cast<float>(g() % 73) / 8;
            return app::TimedWork{[] {}, repeated([reward, median = RunningMedian({kind, MedianRule::lower, 4096, 0.9}, 5)]() mutable {
                               median.add_batch(reward);
                             })};
          }};
}

// In place: every repetition starts from the same values.
Microbenchmark whiten(const std::string& name, int n, bool masked) {
  const std::size_t bytes = static_cast<std::size_t>(n) * sizeof(float);
  return {name, bytes, bytes, 0, static_cast<std::size_t>(n) < large, [=] {
            struct State {
              std::vector<float> start, advantage;
              std::vector<std::uint8_t> kept;
            };
            const auto state = std::make_shared<State>();
            std::mt19937 g(1);
            for (int i = 0; i < n; ++i) state->start.push_back(static_cast<float>(g() % 1000) / 100);
            for (int i = 0; i < n; ++i) state->kept.push_back(g() % 10 != 0);
            state->advantage = state->start;
            return app::TimedWork{
                [state] { state->advantage = state->start; }, repeated([state, n, masked] {
                  estimator_stages(best_isa()).whiten({true}, state->advantage.data(), masked ? state->kept.data() : nullptr, n);
                }),
                [state, bytes] { return app::byte_checksum(state->advantage.data(), bytes); }};
          }};
}

}  // namespace

void add_estimators(Catalogue& catalogue) {
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
            catalogue.push_back(advantages(fmt::format("{}/{}/G{}/K{}/groups{}", form, name, rollouts, levels, groups), config, levels,
                                           rollouts, groups, tabulated));
          }
  }
  for (const char* word : {"rank-grpo", "odrpo-gini-median(grpo)"})
    for (auto [rollouts, levels] : {std::pair{8, 20}, {8, 100}, {16, 20}})
      for (int groups : {64, 500'000})
        catalogue.push_back(advantages(fmt::format("advantage_wide/{}/G{}/K{}/groups{}", word, rollouts, levels, groups), *parse_estimator(word),
                                       levels, rollouts, groups, false));
  for (const char* word : {"grpo", "odrpo-gini(grpo)"}) {
    EstimatorConfig config = *parse_estimator(word);
    config.compat = Compat::nemo;
    for (int groups : {64, 1'000'000})
      catalogue.push_back(advantages(fmt::format("advantage/{},nemo/G8/K10/groups{}", word, groups), config, 10, 8, groups, false));
  }
  for (std::string_view word : estimator_catalogue())
    for (auto [rollouts, levels] : {std::pair{8, 10}, {32, 100}})
      catalogue.push_back(
          real(fmt::format("advantage_real/{}/G{}/K{}/groups64", word, rollouts, levels), *parse_estimator(word), levels, rollouts, 64));
  for (const char* word : {"grpo", "odrpo-gini-median(grpo)"})
    catalogue.push_back(with_gaps(fmt::format("advantage_with_gaps/{}/G8/K10/groups64", word), *parse_estimator(word), 10, 8, 64));
  for (const auto& kind : running_words)
    catalogue.push_back(running_median(fmt::format("running_median/real/{}/n512", kind.word), kind.value));
  for (int n : {512, 8'000'000})
    for (bool masked : {false, true}) catalogue.push_back(whiten(fmt::format("whiten{}/n{}", masked ? ",masked" : "", n), n, masked));
}

}  // namespace odrpo::perf
