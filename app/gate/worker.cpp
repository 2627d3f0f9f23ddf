// `odrpo-bench worker`: this program as a worker of the gate: training steps of a suite's runs, the microbenchmarks, or the gate's
// self-test.
#include <fmt/format.h>

#include <atomic>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <memory>
#include <random>

#include "app/command.hpp"
#include "app/gate/serve.hpp"
#include "app/run/shipped_suites.hpp"
#include "config/spec.hpp"
#include "estimators/batch.hpp"
#include "gate/self_test.hpp"
#include "kernels/group_table.hpp"
#include "kernels/shared/failure.hpp"
#include "results/store/result_digest.hpp"
#include "train/run_cache.hpp"
#include "train/train.hpp"

namespace odrpo::app {
namespace {

constexpr std::size_t most_cases = 1000;

/// The run of a combination's first seed, trained for n steps in a world that is kept. Its checksum is the digest of the record.
Work steps_of(const RunSpec& spec) {
  struct State {
    RunSpec spec;
    RunCache cache;
    RunRecord record;
  };
  const auto state = std::make_shared<State>();
  state->spec = spec;
  const auto train_steps = [state](long long n) {
    const std::atomic<bool> stop{false};
    state->spec.learn.steps = static_cast<int>(n);
    state->record = train(state->spec, state->cache, stop);
    if (state->record.status == RunStatus::failed) throw Failure(Exit::runs_failed, state->record.error);
  };
  train_steps(1);  // makes the world
  return {[] {}, train_steps, [state] { return result_digest({&state->record, 1}).substr(0, 16); }};
}

std::vector<WorkCase> suite_cases(const SuiteOptions& o) {
  std::string path = o.path;
  const Suite suite = load_named_suite(path, o.set, o.only);
  if (suite.runs.combinations() > most_cases)
    throw Failure(Exit::limits, fmt::format("{}: {} combinations are more than the {} cases of a worker; --only and --set leave some out",
                                            o.path, suite.runs.combinations(), most_cases));
  std::vector<WorkCase> cases;
  for (std::size_t c = 0; c < suite.runs.combinations(); ++c) {
    const std::size_t first = suite.runs.combination(c).first;
    const std::string id = suite.runs.id(first);  // "bandit/mixed/linear/grpo/n8/s0", which is of all seeds without its end
    cases.push_back({id.substr(0, id.rfind('/')), [runs = suite.runs, first] { return steps_of(runs[first]); }});
  }
  return cases;
}

/// GRPO's advantages of 64 groups of 8 scores, about a microsecond; the candidate does `added` times as many units more.
Work known_work(double added) {
  struct State {
    BatchEstimator estimator{*parse_estimator("grpo"), 10, 8};
    std::vector<std::uint8_t> score = std::vector<std::uint8_t>(64 * 8);
    AlignedFloats out{64 * 8};
  };
  const auto state = std::make_shared<State>();
  std::mt19937 random(1);
  for (auto& s : state->score) s = static_cast<std::uint8_t>(1 + random() % 10);
  return {[] {},
          [state, added](long long n) {
            const EstimatorStages& stages = estimator_stages(best_isa());
            const long long units = n + std::llround(added * static_cast<double>(n));
            for (long long i = 0; i < units; ++i) state->estimator(stages, state->score.data(), 64, state->out.get());
          },
          [state] { return byte_checksum(state->out.get(), 64 * 8 * sizeof(float)); }};
}

std::vector<WorkCase> self_test_cases(const std::string& side) {
  if (side != "baseline" && side != "candidate") throw Failure(Exit::usage, "--self-test is baseline or candidate");
  const bool more = side == "candidate";
  std::vector<WorkCase> cases;
  for (const KnownChange& change : known_changes)
    cases.push_back({change.name, [added = more ? change.added : 0.0] { return known_work(added); }});
  return cases;
}

}  // namespace

int worker(const WorkerOptions& o) {
  if (!o.self_test.empty() && !o.suite.path.empty()) throw Failure(Exit::usage, "--self-test has its own cases: the suite has no effect");
  if (o.suite.path.empty() && (!o.suite.set.empty() || !o.suite.only.empty()))
    throw Failure(Exit::usage, "--set and --only have no effect without SUITE.toml");
  if (o.suite.path.empty() && o.self_test.empty()) return bench({"--worker"});
  const std::vector<WorkCase> cases = o.self_test.empty() ? suite_cases(o.suite) : self_test_cases(o.self_test);
  serve(cases, std::cin, std::cout);
  return static_cast<int>(Exit::ok);
}

}  // namespace odrpo::app
