// Names of the curves, and the runs that have them.
#include "suites/curves.hpp"

#include <iterator>

#include "suites/train.hpp"

namespace odrpo {
namespace {

constexpr const char* names[] = {"quality",       "reward",        "batch_quality", "kl",          "entropy",         "advantage_rms",
                                 "advantage_min", "advantage_max", "dead_groups",   "dead_levels", "clean",           "length",
                                 "repeats",       "gradient_norm", "missing",       "clipped",     "gradient_cosine", "gradient_snr"};
static_assert(std::size(names) == static_cast<std::size_t>(CurveId::count));

}  // namespace

bool has_curve(const RunSpec& spec, CurveId id) {
  switch (id) {
    case CurveId::missing: return reward_kind(spec).gaps;
    case CurveId::clipped: return spec.learn.ratio_clip > 0;
    case CurveId::clean:
    case CurveId::length:
    case CurveId::repeats:
    case CurveId::gradient_norm: return spec.env.kind == WorldKind::toy_lm;
    case CurveId::gradient_cosine:
    case CurveId::gradient_snr: return spec.env.kind == WorldKind::bandit && spec.record.gradient > 0;
    default: return true;
  }
}

int curve_count(const RunSpec& spec) {
  int count = 0;
  for (int i = 0; i < static_cast<int>(CurveId::count); ++i) count += has_curve(spec, static_cast<CurveId>(i));
  return count;
}

RunRecord begin_record(const RunSpec& spec) {
  RunRecord r = failed_record(spec, "");
  for (const char* name : names) r.curves.push_back({name, {}});
  return r;
}

std::vector<double>& curve_of(RunRecord& r, CurveId id) { return r.curves[static_cast<std::size_t>(id)].values; }

void add_value(RunRecord& r, const RunSpec& spec, CurveId id, double x) {
  if (has_curve(spec, id)) curve_of(r, id).push_back(x);
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

void end_record(RunRecord& r) {
  std::erase_if(r.curves, [](const Curve& c) { return c.values.empty(); });
  r.status = RunStatus::ok;
}

}  // namespace odrpo
