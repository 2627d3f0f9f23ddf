// The gate's decisions: is a candidate slower than its baseline? Student t intervals over blocks of interleaved pairs, looked at up to four
// times, with Holm's correction over cases (docs/gate.md). Pure functions; who measures is app/gate/.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernels/shared/word.hpp"

namespace odrpo {

/// In the order in which they are tried: the first that holds is the case's verdict.
enum class GateVerdict { different, void_control, slower, faster, same, inconclusive };
inline constexpr Word<GateVerdict> gate_verdict_words[] = {
    {GateVerdict::different, "different", "the candidate's checksum differs; those of the two baseline processes are equal"},
    {GateVerdict::void_control, "void", "the second baseline process is itself slower or faster than the first: this host was too noisy"},
    {GateVerdict::slower, "slower", "the interval lies above the limit"},
    {GateVerdict::faster, "faster", "the interval lies below 1 / the limit"},
    {GateVerdict::same, "same", "the interval lies within 3 % of no change"},
    {GateVerdict::inconclusive, "inconclusive", "none of these after the last look"},
};

struct GateRules {
  double limit = 0.01;                        ///< SLOWER: the ratio is above 1 + limit. 0 <= limit < same
  double same = 0.03;                         ///< SAME: the ratio is within 1 / (1 + same) .. 1 + same
  double alpha = 0.005;                       ///< two-sided error of a look, which Holm's correction shares among cases
  std::vector<int> looks = {10, 20, 40, 80};  ///< numbers of blocks, ascending, each at least 2
  double drift = 0;                           ///< against a stored baseline: sd of ln(time) from session to session, beside that of blocks
};
inline constexpr int pairs_per_block = 10;

/// Of ln(other / baseline): its mean over blocks with the interval of a look. Without blocks: n = 0, the others mean nothing.
struct GateEstimate {
  int blocks = 0;
  double mean, sd;  ///< sample sd (n - 1) of the blocks, at least 1e-5: times are whole nanoseconds
  double error;     ///< standard error of the mean: sd / sqrt(n), against a stored baseline with its error and the drift
  double freedom;   ///< of the interval's t law: n - 1, against a stored baseline Satterthwaite's
  double lo, hi;    ///< at level 1 - alpha
  double alpha;     ///< two-sided, after Holm's correction
  double p;         ///< two-sided, that the ratio is within 1 / (1 + limit) .. 1 + limit; 1 where the mean is
  double ratio() const, ratio_lo() const, ratio_hi() const;  ///< exp of mean, lo, hi
};

struct GateCase {
  std::string name;             ///< as the worker has it: not printable
  std::vector<double> change;   ///< [blocks] ln(candidate / baseline): see block_value()
  std::vector<double> control;  ///< [blocks] ln(second baseline process / baseline); empty: there was none
  /// [sessions][blocks] ln(time) of a stored baseline, each session at least 2 blocks; `change` is ln(time) of the candidate then. Empty:
  /// pairs.
  std::vector<std::vector<double>> stored;
  bool differs = false;                ///< the candidate's checksum is another, or changes; those of both baseline processes are always one
  std::optional<GateVerdict> verdict;  ///< none: to be measured on
  GateEstimate estimate, control_estimate;  ///< at the last look that it took part in
};

/// The value of a block: the median over its pairs of ln(other / baseline). Spans of one length >= 1, values above 0.
double block_value(std::span<const double> baseline, std::span<const double> other);

/// The sd of ln(time) from session to session that a stored baseline is taken to have: what its sessions show beyond the spread of their
/// blocks, over all cases, and `least_drift` at least. `cases` holds GateCase::stored of each.
double session_drift(std::span<const std::vector<std::vector<double>>> cases);
inline constexpr double least_drift = 0.015;

/// A look at all cases of a gate. The undecided ones have measured equally many blocks, which is one of rules.looks; they get estimates,
/// and a verdict where one holds (inconclusive only at the last look). Decided cases keep verdict, estimate and p, and count in Holm's
/// correction. Candidates and controls are two families.
void judge_look(std::span<GateCase> cases, const GateRules& rules);

/// The smallest slow-down (0.02 = 2 %) that an estimate of this spread would have found 19 times of 20.
double smallest_found(const GateEstimate& estimate, const GateRules& rules);

// How other tools judge two sets of times, for comparison with the gate on the same recordings (docs/gate-details.md).

/// Two means and a threshold (0.05 = 5 %): slower when the candidate's mean is above 1 + threshold times the baseline's, faster when it is
/// below that divided, else same. Times above 0, at least one each.
GateVerdict two_means_verdict(std::span<const double> baseline, std::span<const double> candidate, double threshold);

/// Two-sided p of Mann and Whitney's U test that neither of two samples is larger, by the normal approximation with corrections for ties
/// and continuity, as scipy.stats.mannwhitneyu(method="asymptotic") has it, which Google Benchmark's tools/compare.py calls. 1 where all
/// values are equal; NaN where a sample is empty.
double u_test_p(std::span<const double> a, std::span<const double> b);

}  // namespace odrpo
