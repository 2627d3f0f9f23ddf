// Grids for the tests of the scheduler: runs whose raters say what the tests' rules make of them.
#pragma once
#include <string>
#include <vector>

#include "config/plan/plan.hpp"
#include "config/plan/run_grid.hpp"
#include "train/schedule/scheduler.hpp"

namespace odrpo {

/// One combination: the shape of its runs, the bytes of each, and why they cannot be batched.
struct RunKind {
  std::string shape;
  int bytes = 1;
  std::string trouble;
};

/// The combinations in this order, each for every seed.
inline RunGrid grid_of(const std::vector<RunKind>& all, int seeds = 1) {
  Plan plan;
  plan.head.seeds = seeds;
  plan.env = {{"env", {}, {}, {}}};
  plan.policy = {{"policy", {}, {}, {}}};
  plan.estimator = {{"estimator", {}, {}, {}}};
  plan.votes = {1};
  for (const RunKind& kind : all) {
    RaterConfig config;
    config.parse_failure = kind.bytes;
    plan.rater.push_back({kind.shape + "/" + kind.trouble, {}, config, {}});
  }
  return RunGrid(plan);
}

inline std::string shape_of(const RunSpec& s) { return s.rater_name.substr(0, s.rater_name.find('/')); }

inline BatchRules grid_rules(double seconds) {
  BatchRules r;
  r.why_not_batched = [](const RunSpec& s) { return s.rater_name.substr(s.rater_name.find('/') + 1); };
  r.batch_shape = shape_of;
  r.batched_bytes = [](const RunSpec& s) { return s.rater.parse_failure; };
  r.seconds = [seconds](const RunSpec&) { return seconds; };
  return r;
}

}  // namespace odrpo
