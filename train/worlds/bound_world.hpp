// Declares a bandit problem for the bound on advantages (estimators/theory/bound.hpp): a world, its judge and a policy.
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
  std::uint64_t key = 1;  ///< random key of the world and of the judge's traits
};

/// Returns all prompts of the world, with the distributions from which training draws scores. Only for raters with one integer score of
/// known distribution (whole_score_refusal()). Failure `limits` if the distribution of so many votes is too long.
BoundProblem bound_problem(const BoundWorld& world);

}  // namespace odrpo
