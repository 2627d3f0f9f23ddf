// Runs `odrpo-bench gate` (is a candidate slower than its baseline, or does it compute something else?) and `odrpo-bench worker`.
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
#include "config/suite.hpp"
#include "estimators/batch.hpp"
#include "gate/flags.hpp"
#include "gate/limits.hpp"
#include "gate/options.hpp"
#include "gate/programs.hpp"
#include "gate/report/report.hpp"
#include "kernels/group_table.hpp"
#include "kernels/system/fail.hpp"
#include "kernels/system/terminal.hpp"
#include "results/store/digest.hpp"
#include "train/run_cache.hpp"
#include "train/train.hpp"

namespace odrpo::app {
namespace {

int self_test_gate(const GateOptions& o) {
  GateProcesses processes(o);
  GateRules rules;
  if (!o.limit.empty()) rules.limit = read_limit(o.limit, rules.same);
  ProgressLine line(o.quiet);
  const std::string host = host_text();
  const SelfTest test = run_self_test({o.trials, processes.seed, processes.rules(), rules}, processes.keeper,
                                      [&](const std::string& text) { line.show(text); });
  put(o.json ? self_test_json(test, host) : self_test_text(test, host));
  return static_cast<int>(Exit::ok);
}

int run_gate(const GateOptions& o) {
  check_gate_flags(o);
  if (o.science) return science_gate(o);
  if (!o.files.empty())
    return limits_gate(o, [](std::string path) { return load_named_suite(path, {}, {}).gate.all(); });
  if (o.self_test) return self_test_gate(o);
  GateOptions programs = o;
  if (!o.suite.empty()) programs.suite = suite_path(o.suite);
  return o.save.empty() ? programs_gate(programs) : save_gate(programs);
}

}  // namespace

int gate(const GateOptions& o) {
  try {
    return run_gate(o);
  } catch (const Failure& failure) {  // its text may quote output of the measured programs
    throw Failure(failure.code, without_ci_commands(failure.what()));
  }
}

// Runs `odrpo-bench worker`, which does timed work for a gate: it trains steps of a suite's runs, or starts the microbenchmarks, or does
// work of known cost for the gate's self-test.

namespace {

constexpr std::size_t most_cases = 1000;

/// A case that trains a run for n steps. The world is made once and kept between calls. The checksum is the digest of the run's record.
TimedWork steps_of(const RunSpec& spec) {
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
  train_steps(1);  // makes the world, outside the timed calls
  return {[] {}, train_steps, [state] { return result_digest({&state->record, 1}).substr(0, 16); }};
}

std::vector<WorkCase> suite_cases(const SuiteOptions& o) {
  std::string path = o.path;
  const Suite suite = load_named_suite(path, o.set, o.only);
  if (suite.runs.combinations() > most_cases)
    fail(Exit::limits, "{}: {} combinations are more than the {} cases of a worker; --only and --set leave some out", o.path,
         suite.runs.combinations(), most_cases);
  std::vector<WorkCase> cases;
  for (std::size_t c = 0; c < suite.runs.combinations(); ++c) {
    const std::size_t first = suite.runs.combination(c).first;
    const std::string id = suite.runs.id(first);  // "bandit/mixed/linear/grpo/n8/s0"; the case has this name without the seed
    cases.push_back({id.substr(0, id.rfind('/')), [runs = suite.runs, first] { return steps_of(runs[first]); }});
  }
  return cases;
}

/// A case of known cost: n units of work take the time of n (1 + added). A unit computes GRPO's advantages of 64 groups of 8 scores (~1 us).
TimedWork known_work(double added) {
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
  if (side != "baseline" && side != "candidate") fail(Exit::usage, "--self-test is baseline or candidate");
  const bool more = side == "candidate";
  std::vector<WorkCase> cases;
  for (const KnownChange& change : known_changes)
    cases.push_back({change.name, [added = more ? change.added : 0.0] { return known_work(added); }});
  return cases;
}

}  // namespace

int worker(const WorkerOptions& o) {
  if (!o.self_test.empty() && !o.suite.path.empty()) fail(Exit::usage, "--self-test has its own cases: the suite has no effect");
  if (o.suite.path.empty() && (!o.suite.set.empty() || !o.suite.only.empty()))
    fail(Exit::usage, "--set and --only have no effect without SUITE.toml");
  if (o.suite.path.empty() && o.self_test.empty()) return bench({"--worker"});
  const std::vector<WorkCase> cases = o.self_test.empty() ? suite_cases(o.suite) : self_test_cases(o.self_test);
  serve(cases, std::cin, std::cout);
  return static_cast<int>(Exit::ok);
}

}  // namespace odrpo::app
