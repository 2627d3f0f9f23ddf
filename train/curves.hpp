// The curves of runs: one row of a table each, with its name and the runs that have it.
#pragma once

namespace odrpo {

struct RunSpec;

/// Curves in the order they are stored; units and meanings are in the table of curves.cpp, which docs/reference/curves.md prints.
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
inline constexpr int all_curves = static_cast<int>(CurveId::count);

const char* curve_name(CurveId id);
/// One curve in words, for docs/reference/curves.md: name, unit, what its values are, and which runs have it.
struct CurveText {
  const char *name, *unit, *meaning, *runs;
};
CurveText curve_text(CurveId id);
/// Whether a run's world and options say anything about a curve.
bool has_curve(const RunSpec& spec, CurveId id);
/// How many curves a run has.
int curve_count(const RunSpec& spec);

}  // namespace odrpo
