// Declares the curves of runs: their order, their names, units and meanings, and which runs have each.
#pragma once

namespace odrpo {

struct RunSpec;

/// Curves in the order in which records keep them. Their units and meanings are in the table of curves.cpp, which docs/reference/curves.md
/// prints.
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
  rollouts,
  count
};
inline constexpr int all_curves = static_cast<int>(CurveId::count);

const char* curve_name(CurveId id);
/// One curve in words, for docs/reference/curves.md: name, unit, what its values are, and which runs have it.
struct CurveText {
  const char *name, *unit, *meaning, *runs;
};
CurveText curve_text(CurveId id);
/// Returns whether the run that `spec` describes has the curve.
bool has_curve(const RunSpec& spec, CurveId id);
/// Returns the number of curves that the run has.
int curve_count(const RunSpec& spec);

}  // namespace odrpo
