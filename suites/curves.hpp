// Which curves a run has, in every world, and how values get into them.
#pragma once
#include "results/record.hpp"
#include "suites/finish.hpp"
#include "suites/spec.hpp"

namespace odrpo {

/// Curves in the order they are stored; units in docs/results.md.
enum class CurveId {
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
  clean,
  length,
  repeats,
  gradient_norm,
  missing,
  clipped,
  gradient_cosine,
  gradient_snr,
  count
};

/// Whether a run's world and options say anything about a curve.
bool has_curve(const RunSpec& spec, CurveId id);
/// How many curves that is.
int curve_count(const RunSpec& spec);

/// A record with every curve's name and without values.
RunRecord begin_record(const RunSpec& spec);
/// A curve of a record from begin_record that has not ended.
std::vector<double>& curve_of(RunRecord& r, CurveId id);
/// Appends a value to a curve, if the run has it.
void add_value(RunRecord& r, const RunSpec& spec, CurveId id, double x);
/// What a batch said, in numbers; `truth` = mean true quality of its responses.
void add_batch(RunRecord& r, const RunSpec& spec, const BatchSummary& seen, double truth);
/// Curves that the run does not have go; the record is that of a run that succeeded.
void end_record(RunRecord& r);

}  // namespace odrpo
