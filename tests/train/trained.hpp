// One run trained by itself, and what its record says: for the tests of training.
#pragma once
#include <algorithm>
#include <atomic>
#include <initializer_list>
#include <random>
#include <stdexcept>
#include <string>

#include "config/spec.hpp"
#include "envs/rater/rater.hpp"
#include "estimators/estimator.hpp"
#include "kernels/random.hpp"
#include "policies/policy.hpp"
#include "results/store/record.hpp"
#include "train/run_cache.hpp"
#include "train/train.hpp"

namespace odrpo {

inline const std::atomic<bool> never{false};

/// One of several.
template <class T>
T any(std::mt19937& g, std::initializer_list<T> of) {
  return of.begin()[g() % of.size()];
}

/// A run of a moment: 24 prompts x 10 responses, batches of 8.
inline RunSpec small_run(PolicyKind policy = PolicyKind::linear, const std::string& estimator = "grpo", int votes = 1) {
  RunSpec r;
  r.env_name = "bandit";
  r.rater_name = "mixed";
  r.rater = rater_presets()[0].config;
  r.policy.kind = policy;
  r.estimator_name = estimator;
  r.estimator = *parse_estimator(estimator);
  r.votes = votes;
  r.env.bandit.prompts = 24;
  r.env.bandit.actions = 10;
  r.learn.steps = 200;
  r.learn.batch = 8;
  r.learn.optimizer.lr = 0.1;
  r.run_key = derive_key(1, 0);
  r.id = "x";
  return r;
}

inline RunRecord run(const RunSpec& spec) {
  RunCache shared;
  return train(spec, shared, never);
}

inline double final_of(const RunRecord& r, const std::string& name) {
  for (const Final& f : r.finals)
    if (f.name == name) return f.value;
  throw std::runtime_error("no final " + name);
}

inline bool has_final(const RunRecord& r, const std::string& name) {
  return std::any_of(r.finals.begin(), r.finals.end(), [&](const Final& f) { return f.name == name; });
}

inline const Curve& recorded_curve(const RunRecord& r, const std::string& name) {
  for (const Curve& c : r.curves)
    if (c.name == name) return c;
  throw std::runtime_error("no curve " + name);
}

}  // namespace odrpo
