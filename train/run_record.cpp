// Fills the record of a run while it trains.
#include "train/run_record.hpp"

#include <algorithm>
#include <new>

#include "config/spec.hpp"
#include "config/write/canonical.hpp"
#include "kernels/math.hpp"
#include "kernels/shared/failure.hpp"
#include "train/kept_rollouts.hpp"
#include "train/level_curves.hpp"
#include "train/schedule/cost.hpp"

namespace odrpo {

RunRecord failed_record(const RunSpec& spec, const std::string& why) {
  RunRecord r;
  r.id = spec.id;
  r.key = spec_key(spec);
  r.env = spec.env_name;
  r.rater = spec.rater_name;
  r.policy = spec.policy_name;
  r.estimator = spec.estimator_name;
  r.votes = spec.votes;
  r.seed = spec.seed;
  r.axes = spec.axes;
  r.status = RunStatus::failed;
  r.error = why;
  return r;
}

RunRecord trained_or_failed(const RunSpec& spec, const std::function<RunRecord()>& train) {
  try {
    return train();
  } catch (const Failure& failure) {
    if (failure.code == Exit::device) throw;
    return failed_record(spec, failure.what());
  } catch (const std::bad_alloc&) {
    return failed_record(spec, "out of memory");
  } catch (const std::exception& e) {
    return failed_record(spec, e.what());
  }
}

RunRecord diverged_record(const RunSpec& spec, const std::string& what, int t) {
  return failed_record(spec, "diverged: " + what + " not finite at step " + std::to_string(t));
}

RunRecord begin_record(const RunSpec& spec) {
  RunRecord r = failed_record(spec, "");
  const auto records = static_cast<std::size_t>(std::min(record_count(spec), 65536.0));  // reserved: growing vectors leave holes in memory
  for (int c = 0; c < all_curves; ++c) {
    const CurveId id = static_cast<CurveId>(c);
    r.curves.push_back({curve_name(id), {}});
    if (has_curve(spec, id)) r.curves.back().values.reserve(records);
  }
  r.rollouts = rollout_values(spec);
  for (Curve& curve : level_curves(spec)) r.curves.push_back(std::move(curve));
  r.step.reserve(records);
  r.seconds.reserve(records * stage_count);
  return r;
}

std::vector<double>& curve_of(RunRecord& r, CurveId id) { return r.curves[static_cast<std::size_t>(id)].values; }

void add_value(RunRecord& r, const RunSpec& spec, CurveId id, double x) {
  if (has_curve(spec, id)) curve_of(r, id).push_back(x);
}

BatchSummary summarise(const RunSpec& spec, const RewardBatch& b) {
  const double n = static_cast<double>(b.raw.size());
  const SeenSum seen = sum_seen(b);
  double squares = 0;
  BatchSummary s{seen.mean(), 1 - seen.count / n, 0, static_cast<double>(b.raw[0]), static_cast<double>(b.raw[0])};
  for (const float raw : b.raw) {
    const double a = static_cast<double>(raw);
    squares += a * a;
    s.lowest = a < s.lowest ? a : s.lowest;
    s.highest = a > s.highest ? a : s.highest;
  }
  s.rms = math::sqrt(squares / n);
  s.dead = dead_shares(spec, b);
  return s;
}

void add_batch(RunRecord& r, const RunSpec& spec, const BatchSummary& seen, double truth) {
  add_value(r, spec, CurveId::reward, seen.reward);
  add_value(r, spec, CurveId::batch_quality, truth);
  add_value(r, spec, CurveId::advantage_rms, seen.rms);
  add_value(r, spec, CurveId::advantage_min, seen.lowest);
  add_value(r, spec, CurveId::advantage_max, seen.highest);
  add_value(r, spec, CurveId::dead_groups, seen.dead.groups);
  add_value(r, spec, CurveId::dead_levels, seen.dead.levels);
  add_value(r, spec, CurveId::missing, seen.missing);
}

void record_seconds(RunRecord& r, double (&seconds)[stage_count], int t, int& last_step) {
  const double steps = t > last_step ? t - last_step : 1;
  for (double& sum : seconds) {
    r.seconds.push_back(static_cast<float>(sum / steps));
    sum = 0;
  }
  last_step = t;
}

}  // namespace odrpo
