// The record of a run in the bandit, whoever trains it: which curves it has, and what closes it.
#pragma once
#include "envs/bandit.hpp"
#include "results/record.hpp"
#include "suites/finish.hpp"
#include "suites/spec.hpp"

namespace odrpo {

/// Curves of a run, in the order they are stored.
enum class BanditCurve {
  quality,
  reward,
  batch_quality,
  kl,
  entropy,
  advantage_rms,
  advantage_min,
  advantage_max,
  dead_groups,
  dead_levels,
  missing,
  clipped,
  cosine,
  snr,
  count
};

/// A record with its names and without values.
RunRecord begin_bandit_record(const RunSpec& spec);
/// Appends a value to a curve, if the run has it: some tell of what it does not have.
void add_value(RunRecord& r, const RunSpec& spec, BanditCurve curve, double x);
/// What a batch said, in numbers; `truth` = mean true quality of its responses.
void add_batch(RunRecord& r, const RunSpec& spec, const BatchSummary& seen, double truth);
/// The record of a run whose parameters were found not to be finite before step t.
RunRecord diverged_record(const RunSpec& spec, int t);
/// Final values; curves that the run does not have go.
void end_bandit_record(RunRecord& r, const RunSpec& spec, const BanditWorld& world, const FinalReward& final_reward,
                       const CollapseWatch& watch);

/// Expected calls of the judge over a run.
double bandit_judge_calls(const RunSpec& spec);

}  // namespace odrpo
