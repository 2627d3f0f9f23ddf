// Runs of every kind that can be batched, and what it takes for two records to be the same: for batched runs on the host backend and on a
// GPU.
#pragma once
#include <bit>
#include <initializer_list>
#include <random>
#include <string>
#include <vector>

#include "config/spec.hpp"
#include "estimators/batch.hpp"
#include "estimators/compat.hpp"
#include "kernels/random.hpp"
#include "results/store/record.hpp"
#include "tests/catch.hpp"
#include "tests/train/trained.hpp"

namespace odrpo {

// Choices from a fixed seed.
struct Chooser {
  std::mt19937 random;
  int below(int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); }
  template <class T>
  T of(std::initializer_list<T> some) {
    return some.begin()[below(static_cast<int>(some.size()))];
  }
};

inline RunSpec base_run(PolicyKind policy, const std::string& estimator) {
  RunSpec r = small_run(policy, estimator);
  r.learn.steps = 60;
  return r;
}

// Any run of the plain kind.
inline RunSpec any_run(Chooser& c) {
  const auto& words = estimator_catalogue();
  RunSpec r = base_run(c.of({PolicyKind::tabular, PolicyKind::tabular, PolicyKind::linear}),
                       std::string(words[static_cast<std::size_t>(c.below(static_cast<int>(words.size())))]));
  if (only_on_host(r.estimator.form)) r.estimator = *parse_estimator("reinforce");
  const auto presets = rater_presets().first(16);  // the panels behind them have levels of their own
  r.rater = presets[static_cast<std::size_t>(c.below(static_cast<int>(presets.size())))].config;
  r.votes = c.of({1, 1, 2, 5, 8});
  r.env.bandit.levels = c.of({10, 10, 5, 3, 16, 21});
  r.env.bandit.actions = c.of({10, 32, 2, 33, 70, 31});
  r.env.bandit.features = c.of({24, 1, 7, 33, 40});
  r.learn.batch = c.of({8, 3, 1, 17, 33});
  r.env.bandit.prompts = std::max(2, r.learn.batch * c.of({1, 2, 3, 5}) + c.of({0, 0, 1, 7}));
  r.learn.rollouts = c.of({8, 8, 16, 2, 5, 9, 33});
  r.learn.steps = c.of({40, 7, 1, 75});
  r.record.every = c.of({10, 1, 7, 100});
  r.learn.kl = c.of({0.001, 0.0, 0.3});
  r.learn.epochs = c.of({1, 1, 1, 2, 3});
  r.learn.ratio_clip = r.learn.epochs > 1 ? c.of({0.0, 0.2, 0.01}) : 0.0;
  r.learn.whiten = c.of({Whiten::response, Whiten::none, Whiten::token, Whiten::scale, Whiten::compat});
  r.learn.whiten_ddof = c.below(2);
  r.learn.whiten_eps = c.of({0.0, 1e-4});
  r.learn.dead_groups = c.of({DeadGroups::keep, DeadGroups::drop});
  OptimizerConfig& o = r.learn.optimizer;
  o.kind = c.of({OptimizerKind::adam, OptimizerKind::adamw, OptimizerKind::adam, OptimizerKind::sgd});
  o.lr = c.of({0.1, 0.01, 1.0});
  o.schedule = c.of({ScheduleKind::cosine, ScheduleKind::linear, ScheduleKind::constant});
  o.weight_decay = o.kind == OptimizerKind::adamw ? 0.01 : 0.0;
  o.clip = c.of({0.0, 0.0, 0.05, 1e3});
  o.eps = c.of({1e-8, 1e-10, 1e-8});
  if (row_of(r.estimator.form).basis == Basis::level && c.below(3) == 0) {
    double value = 0;
    for (int k = 0; k < r.env.bandit.levels; ++k) r.estimator.values.push_back(value += c.of({0.25, 1.0, 3.5}));
  }
  r.run_key = derive_key(static_cast<std::uint64_t>(c.below(3)), static_cast<std::uint32_t>(c.below(3)));
  return r;
}

// Any run of the general kind: real-valued rewards, rewards that may be missing, a running median, literal votes, recorded
// signals of the gradient, some of them or all; now and then under a system's convention.
inline RunSpec any_general_run(Chooser& c) {
  RunSpec r = any_run(c);
  const int kinds = 1 + c.below(31);
  const bool real = kinds & 1, gaps = kinds & 2, running = kinds & 4, literal = kinds & 8;
  if (kinds & 16) r.record.gradient = c.of({3, 1, 2});
  r.rater.aggregate = real ? Aggregate::mean : c.of({Aggregate::mode, Aggregate::median});
  if (real) r.votes = c.of({2, 5, 8});
  if (row_of(r.estimator.form).basis == Basis::bit) r.estimator = *parse_estimator("grpo");  // not of the general kind
  if (literal) {
    r.rater.sampling = Sampling::draws;
    r.rater.tie = tie_words[c.below(static_cast<int>(std::size(tie_words)))].value;
    r.votes = real ? c.of({2, 7, 32}) : c.of({1, 2, 4, 7, 16});
  }
  r.rater.parse_failure = c.of({0.05, 0.3, 0.9, 1.0});
  r.rater.parse_policy = gaps ? ParsePolicy::drop : c.of({ParsePolicy::zero, ParsePolicy::resample});
  r.estimator.median = c.of({MedianRule::lower, MedianRule::mid, MedianRule::upper});
  if (running) {
    r.estimator = *parse_estimator(c.of({"odrpo-gini-median(grpo)", "odrpo-gini-median(maxrl)"}));
    r.estimator.median = MedianRule::running;
    r.estimator.running = c.of({RunningKind::window, RunningKind::window, RunningKind::ema});
    r.estimator.window = c.of({4096, 1, 5, 37, 200, 1 << 24});
    r.estimator.rho = c.of({0.9, 0.5, 0.0, 1.0});
  }
  if (c.below(3) == 0) {
    r.estimator.compat = compat_words[c.below(static_cast<int>(std::size(compat_words)))].value;
    if (compat_refusal(r.estimator)) r.estimator.compat = Compat::paper;
  }
  if (r.estimator.form == Form::maxrl) r.estimator.origin = c.below(2);
  return r;
}

// Sizes at the ends of what a batched run takes, each with an id: more prompts than tiles, several rounds of groups, parameters in the
// device's memory, one prompt, one step, the largest groups, several updates with a clip over many chunks, parameters that are lost; of
// both kinds.
inline std::vector<RunSpec> corner_runs() {
  std::vector<RunSpec> runs;
  const auto add = [&](const char* id, PolicyKind policy, const char* estimator, int prompts, int actions, int batch,
                       int steps) -> RunSpec& {
    RunSpec r = base_run(policy, estimator);
    r.id = id;
    r.env.bandit.prompts = prompts;
    r.env.bandit.actions = actions;
    r.learn.batch = batch;
    r.learn.steps = steps;
    runs.push_back(r);
    return runs.back();
  };
  RunSpec& fine = add("fine levels", PolicyKind::tabular, "odrpo-gini-median(grpo)", 300, 40, 130, 12);
  fine.env.bandit.levels = 100;
  fine.learn.optimizer.clip = 0.05;
  add("wide rows", PolicyKind::tabular, "maxrl", 900, 100, 70, 40);
  add("all at once", PolicyKind::linear, "odrpo(grpo)", 90, 33, 90, 20);
  add("one prompt, one step", PolicyKind::tabular, "grpo", 5, 7, 1, 1);
  RunSpec& large = add("large groups", PolicyKind::tabular, "rank-grpo", 9, 12, 4, 10);
  large.learn.rollouts = 255;
  large.env.bandit.levels = 100;
  RunSpec& clipped = add("clipped", PolicyKind::tabular, "odrpo-gini(maxrl)", 40, 12, 8, 150);
  clipped.learn.epochs = 2;
  clipped.learn.ratio_clip = 0.01;
  for (const PolicyKind policy : {PolicyKind::tabular, PolicyKind::linear}) {
    RunSpec& lost = add(policy == PolicyKind::linear ? "lost, linear" : "lost, tabular", policy, "grpo", 40, 12, 8, 200);
    lost.learn.optimizer.kind = OptimizerKind::adamw;
    lost.learn.optimizer.weight_decay = 1;  // multiplies every parameter by about minus a million at each step
    lost.learn.optimizer.lr = 1e6;
  }
  RunSpec& still = add("a policy that stays", PolicyKind::tabular, "maxrl", 40, 12, 8, 60);
  still.learn.optimizer.lr = 0;
  still.learn.epochs = 2;
  // the general kind: everything at once, in several rounds of groups and polls, with parameters in the device's memory
  RunSpec& all = add("all kinds", PolicyKind::tabular, "odrpo-gini-median(maxrl)", 700, 100, 40, 6);
  all.estimator.median = MedianRule::running;
  all.estimator.window = 300;
  all.rater.sampling = Sampling::draws;
  all.rater.parse_failure = 0.3;
  all.rater.parse_policy = ParsePolicy::drop;
  all.votes = 5;
  all.record.gradient = 2;
  all.record.every = 2;
  RunSpec& means = add("large real groups", PolicyKind::linear, "odrpo-gini(grpo)", 12, 12, 6, 4);
  means.learn.rollouts = 255;
  means.env.bandit.levels = 100;
  means.rater.aggregate = Aggregate::mean;
  means.votes = 7;
  return runs;
}

inline bool same(double a, double b) { return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b) || (a != a && b != b); }

inline void check_same(const RunRecord& run_batched, const RunRecord& cpu) {
  CHECK(run_batched.id == cpu.id);
  CHECK(run_batched.key == cpu.key);
  CHECK(run_batched.status == cpu.status);
  CHECK(run_batched.error == cpu.error);
  CHECK(run_batched.step == cpu.step);
  REQUIRE(run_batched.curves.size() == cpu.curves.size());
  for (std::size_t c = 0; c < cpu.curves.size(); ++c) {
    INFO(cpu.curves[c].name);
    CHECK(run_batched.curves[c].name == cpu.curves[c].name);
    REQUIRE(run_batched.curves[c].values.size() == cpu.curves[c].values.size());
    for (std::size_t i = 0; i < cpu.curves[c].values.size(); ++i) {
      INFO("record " << i << ": " << run_batched.curves[c].values[i] << " " << cpu.curves[c].values[i]);
      REQUIRE(same(run_batched.curves[c].values[i], cpu.curves[c].values[i]));
    }
  }
  REQUIRE(run_batched.finals.size() == cpu.finals.size());
  for (std::size_t i = 0; i < cpu.finals.size(); ++i) {
    INFO(cpu.finals[i].name << ": " << run_batched.finals[i].value << " " << cpu.finals[i].value);
    CHECK(run_batched.finals[i].name == cpu.finals[i].name);
    CHECK(same(run_batched.finals[i].value, cpu.finals[i].value));
  }
  CHECK(run_batched.seconds.size() == cpu.seconds.size());
}

}  // namespace odrpo
