// What the best map of advantages (estimators/theory/bound.hpp) is asked about in the bandit: a world, its judge and a policy.
#pragma once
#include <cstdint>

#include "envs/bandit/world.hpp"
#include "envs/rater/rater.hpp"
#include "estimators/theory/bound.hpp"
#include "policies/policy.hpp"

namespace odrpo {

struct BoundWorld {
  BanditConfig env;
  RaterConfig rater;
  int votes = 1;
  PolicyConfig policy;  ///< tabular or linear; uniform, or tilted towards quality
  int members = 8, batch = 64;
  std::uint64_t key = 1;  ///< of the world and of what the judge makes of its responses
};

/// All prompts of the world under the distributions that training draws from. For raters without whole_score_refusal(). Failure `limits` where the
/// distribution of so many votes is too long.
BoundProblem bound_problem(const BoundWorld& world);

}  // namespace odrpo
