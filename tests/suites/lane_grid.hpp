// Grids for the tests of dealing: runs whose raters say what the tests' rules make of them.
#pragma once
#include <string>
#include <vector>

#include "suites/deal.hpp"
#include "suites/plan.hpp"

namespace odrpo {

/// One combination: the shape of its lanes, the bytes of each, and why it has none.
struct LaneText {
  std::string shape;
  int bytes = 1;
  std::string trouble;
};

/// The combinations in this order, each for every seed.
inline RunGrid grid_of(const std::vector<LaneText>& all, int seeds = 1) {
  Plan plan;
  plan.head.seeds = seeds;
  plan.env = {{"env", {}, {}, {}}};
  plan.policy = {{"policy", {}, {}, {}}};
  plan.estimator = {{"estimator", {}, {}, {}}};
  plan.votes = {1};
  for (const LaneText& lane : all) {
    RaterConfig config;
    config.parse_failure = lane.bytes;
    plan.rater.push_back({lane.shape + "/" + lane.trouble, {}, config, {}});
  }
  return RunGrid(plan);
}

inline std::string shape_of(const RunSpec& s) { return s.rater_name.substr(0, s.rater_name.find('/')); }

inline LaneRules grid_rules(double seconds) {
  LaneRules r;
  r.why_no_lane = [](const RunSpec& s) { return s.rater_name.substr(s.rater_name.find('/') + 1); };
  r.lane_shape = shape_of;
  r.lane_bytes = [](const RunSpec& s) { return s.rater.parse_failure; };
  r.seconds = [seconds](const RunSpec&) { return seconds; };
  return r;
}

}  // namespace odrpo
