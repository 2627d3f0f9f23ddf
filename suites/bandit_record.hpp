// What closes the record of a run in the bandit, whoever trains it.
#pragma once
#include "envs/bandit.hpp"
#include "results/record.hpp"
#include "suites/finish.hpp"
#include "suites/spec.hpp"

namespace odrpo {

/// The record of a run whose parameters were found not to be finite before step t.
RunRecord diverged_record(const RunSpec& spec, int t);
/// Final values, and the end of the record.
void end_bandit_record(RunRecord& r, const RunSpec& spec, const BanditWorld& world, const FinalReward& final_reward,
                       const CollapseWatch& watch);

/// Expected calls of the judge over a run.
double bandit_judge_calls(const RunSpec& spec);

}  // namespace odrpo
