// Each stage of a step at the yardstick's sizes, and making worlds and distribution rows.
#include <fmt/format.h>

#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "envs/rater/vote.hpp"
#include "kernels/shared/words.hpp"
#include "tests/perf/bench.hpp"
#include "train/worlds/bandit.hpp"

namespace odrpo::perf {
namespace {

const std::atomic<bool> never{false};

/// A run brought to the middle of its training, whose stages can be called alone.
struct Middle {
  RunSpec spec;
  RunCache shared;
  BanditProblem problem;
  BanditRun state;
  int t = 200;
  explicit Middle(const RunSpec& s) : spec(s), problem(*make_bandit_problem(spec, shared, best_isa(), never)), state(problem) {
    for (int i = 0; i < t; ++i) train_step(state, i, {}, never);
  }
};

/// A stage of a training that moves on: it has no checksum.
Microbenchmark stage(const std::string& name, const RunSpec& spec, std::size_t in, std::size_t out, std::function<void(Middle&)> call) {
  return {name, in, out, 0, true, [=] {
            const auto m = std::make_shared<Middle>(spec);
            return app::TimedWork{[] {}, repeated([m, call] { call(*m); })};
          }};
}

/// Worlds of one key after another.
Microbenchmark new_world(bool features) {
  const std::size_t size = 256 * 32 * (4 + 2 + 1 + (features ? 24 * 4 : 0));
  return {features ? "setup/world/features" : "setup/world/plain", size, size, 0, true, [=] {
            BanditConfig c;
            c.feature_share = features ? 0.5 : 0.0;
            return app::TimedWork{[] {}, repeated([c, features, key = std::uint64_t{0}]() mutable {
                               benchmark::DoNotOptimize(make_bandit(c, {}, ++key, features));
                             })};
          }};
}

Microbenchmark distribution_row(int votes, TieRule tie) {
  return {fmt::format("setup/law_row/{}/n{}", word_of(std::span<const Word<TieRule>>(tie_words), tie), votes), 80, 80, 0, true, [=] {
            const auto distribution = std::make_shared<std::vector<double>>(10);
            std::vector<double> call(10);
            channel_row(rater_presets()[0].config.noise, {.quality = 6.4375}, call);
            return app::TimedWork{[] {}, repeated([distribution, call, votes, tie] { vote_distribution(call, votes, tie, *distribution); }),
                             [distribution] { return app::byte_checksum(distribution->data(), distribution->size() * sizeof(double)); }};
          }};
}

}  // namespace

void add_stages(Catalogue& catalogue) {
  const auto stage = [&](const std::string& name, const RunSpec& spec, std::size_t in, std::size_t out, std::function<void(Middle&)> call) {
    catalogue.push_back(perf::stage(name, spec, in, out, std::move(call)));
  };
  const RunSpec tabular = yardstick("grpo", 1, Sampling::law), draws = yardstick("grpo", 32, Sampling::draws);
  RunSpec linear = tabular;
  linear.policy.kind = PolicyKind::linear;
  const std::size_t prompts = 64, rollouts = 512, cells = prompts * 32, row = 4;
  const std::size_t actions = rollouts * 2, words = rollouts * 4, scores = rollouts, advantages = rollouts * 4;
  stage("stage/choose_prompts", tabular, 256 * 4, prompts * 4, [](Middle& m) { m.state.choose_prompts(m.t++); });
  // theta, m, root in; theta, probability, cumulative out
  for (const auto& [name, spec, in] : {std::tuple{"tabular", tabular, cells * row * 3}, {"linear", linear, cells * 24 * row}}) {
    // steps go on, so that rows have updates pending as in training; forward alone is the difference of the two
    stage(fmt::format("stage/forward+update/{}", name), spec, in * 2, cells * row * 6, [](Middle& m) {
      m.state.policy.forward(m.t++, m.state.step.prompt.data());
      m.state.policy.update();
    });
    stage(fmt::format("stage/gradient/{}", name), spec, cells * row + actions + advantages + (in > cells * 20 ? in : 0), cells * row,
          [](Middle& m) { m.state.policy.gradient(m.state.action.data(), m.state.step.batch.advantage.data(), {0.001}); });
    stage(fmt::format("stage/exact_record/{}", name), spec, in * 4, 256,
          [](Middle& m) { benchmark::DoNotOptimize(m.state.policy.exact(m.problem.world->quality.data())); });
  }
  stage("stage/sample_rollouts", tabular, cells * row, words + actions, [](Middle& m) { m.state.draw_actions(m.t, Draws::training()); });
  stage("stage/score_rollouts/law", tabular, actions + rollouts * 4, words + scores,
        [](Middle& m) { m.state.draw_scores(m.t, Draws::training()); });
  stage("stage/score_rollouts/draws32", draws, actions + rollouts * 4, words * 32 + scores,
        [](Middle& m) { m.state.draw_scores(m.t, Draws::training()); });
  stage("stage/estimate_advantages", tabular, scores, advantages * 3, [](Middle& m) { m.state.estimate_advantages(); });
  stage("stage/random_words", tabular, prompts * 4, words, [](Middle& m) {
    m.problem.random->fill(m.state.word.data(), 1, Purpose::action, static_cast<std::uint32_t>(m.t++), m.state.step.prompt.data(), 64, 0,
                           2);
  });
  for (bool features : {false, true}) catalogue.push_back(new_world(features));
  for (int votes : {8, 16, 32})
    for (TieRule tie : {TieRule::first, TieRule::lowest}) catalogue.push_back(distribution_row(votes, tie));
}

}  // namespace odrpo::perf
