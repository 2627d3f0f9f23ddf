// Ends of the bandit's records, and its calls of the judge.
#include "suites/bandit_record.hpp"

#include "suites/curves.hpp"
#include "suites/train.hpp"

namespace odrpo {
RunRecord diverged_record(const RunSpec& spec, int t) {
  return failed_record(spec, "diverged: parameters are not finite at step " + std::to_string(t));
}

void end_bandit_record(RunRecord& r, const RunSpec& spec, const BanditWorld& world, const FinalReward& final_reward,
                       const CollapseWatch& watch) {
  finish_record(r, {world.uniform, world.best}, final_reward.mean(), watch, bandit_judge_calls(spec));
  end_record(r);
}

double bandit_judge_calls(const RunSpec& spec) {
  return static_cast<double>(spec.learn.steps) * spec.learn.batch * spec.learn.rollouts * spec.votes * calls_per_vote(spec.rater);
}

}  // namespace odrpo
