// How other tools judge two sets of times, for comparison with the gate on the same recordings (docs/gate-details.md).
#pragma once
#include <span>

#include "gate/decide/decide.hpp"

namespace odrpo {

/// Two means and a threshold (0.05 = 5 %): slower when the candidate's mean is above 1 + threshold times the baseline's, faster when it is
/// below that divided, else same. Times above 0, at least one each.
GateVerdict two_means_verdict(std::span<const double> baseline, std::span<const double> candidate, double threshold);

/// Two-sided p of Mann and Whitney's U test that neither of two samples is larger, by the normal approximation with corrections for ties
/// and continuity, as scipy.stats.mannwhitneyu(method="asymptotic") has it, which Google Benchmark's tools/compare.py calls. 1 where all
/// values are equal; NaN where a sample is empty.
double u_test_p(std::span<const double> a, std::span<const double> b);

}  // namespace odrpo
