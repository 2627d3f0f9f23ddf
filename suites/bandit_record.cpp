// Names of the bandit's curves, and its records from first to last.
#include "suites/bandit_record.hpp"

#include <iterator>

#include "suites/train.hpp"

namespace odrpo {
namespace {

constexpr const char* names[] = {"quality",       "reward",      "batch_quality", "kl",      "entropy", "advantage_rms",   "advantage_min",
                                 "advantage_max", "dead_groups", "dead_levels",   "missing", "clipped", "gradient_cosine", "gradient_snr"};
static_assert(std::size(names) == static_cast<std::size_t>(BanditCurve::count));

bool has_curve(const RunSpec& spec, BanditCurve curve) {
  switch (curve) {
    case BanditCurve::missing: return has_gaps(spec.rater);
    case BanditCurve::clipped: return spec.learn.ratio_clip > 0;
    case BanditCurve::cosine:
    case BanditCurve::snr: return spec.record.gradient > 0;
    default: return true;
  }
}

}  // namespace

RunRecord begin_bandit_record(const RunSpec& spec) {
  RunRecord r = failed_record(spec, "");
  for (const char* name : names) r.curves.push_back({name, {}});
  return r;
}

void add_value(RunRecord& r, const RunSpec& spec, BanditCurve curve, double x) {
  if (has_curve(spec, curve)) r.curves[static_cast<std::size_t>(curve)].values.push_back(x);
}

void add_batch(RunRecord& r, const RunSpec& spec, const BatchSummary& seen, double truth) {
  add_value(r, spec, BanditCurve::reward, seen.reward);
  add_value(r, spec, BanditCurve::batch_quality, truth);
  add_value(r, spec, BanditCurve::advantage_rms, seen.rms);
  add_value(r, spec, BanditCurve::advantage_min, seen.lowest);
  add_value(r, spec, BanditCurve::advantage_max, seen.highest);
  add_value(r, spec, BanditCurve::dead_groups, seen.dead.groups);
  add_value(r, spec, BanditCurve::dead_levels, seen.dead.levels);
  add_value(r, spec, BanditCurve::missing, seen.missing);
}

RunRecord diverged_record(const RunSpec& spec, int t) {
  return failed_record(spec, "diverged: parameters are not finite at step " + std::to_string(t));
}

void end_bandit_record(RunRecord& r, const RunSpec& spec, const BanditWorld& world, const FinalReward& final_reward,
                       const CollapseWatch& watch) {
  finish_record(r, {world.uniform, world.best}, final_reward.mean(), watch, bandit_judge_calls(spec));
  std::erase_if(r.curves, [](const Curve& c) { return c.values.empty(); });
  r.status = RunStatus::ok;
}

double bandit_judge_calls(const RunSpec& spec) {
  return static_cast<double>(spec.learn.steps) * spec.learn.batch * spec.learn.rollouts * spec.votes * calls_per_vote(spec.rater);
}

}  // namespace odrpo
