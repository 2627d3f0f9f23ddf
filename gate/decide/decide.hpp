// The gate's decisions: is a candidate slower than its baseline? Student t intervals over blocks of interleaved pairs, looked at up to four
// times, with Holm's correction over cases (docs/gate.md). Do two result files show the same science? Pure functions.
#pragma once
#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernels/shared/words.hpp"
#include "results/stats/power.hpp"
#include "results/store/record.hpp"
#include "results/store/store.hpp"

namespace odrpo {

/// In the order in which they are tried: the first that holds is the case's verdict.
enum class GateVerdict { different, failed, skipped, void_control, slower, faster, same, inconclusive };
inline constexpr Word<GateVerdict> gate_verdict_words[] = {
    {GateVerdict::different, "different", "the candidate's checksum differs; those of the two baseline processes are equal"},
    {GateVerdict::failed, "failed", "a side fails the case: an error, no time, not run"},
    {GateVerdict::skipped, "skipped", "a side skips the case"},
    {GateVerdict::void_control, "void", "the second baseline process is itself slower or faster than the first: this host was too noisy"},
    {GateVerdict::slower, "slower", "the interval lies above the limit"},
    {GateVerdict::faster, "faster", "the interval lies below 1 / the limit"},
    {GateVerdict::same, "same", "the interval lies within 3 % of no change"},
    {GateVerdict::inconclusive, "inconclusive", "none of these after the last look"},
};

/// What a program says of a case instead of a time.
struct Refusal {
  std::string says;     ///< "says: no GPU"; printable; empty: it has a time
  bool failed = false;  ///< else it skips the case
};

/// What the sides say of a case instead of a time: the first of each. It is then not compared.
struct Refusals {
  std::array<Refusal, 2> of;  ///< baseline, candidate

  void add(bool of_candidate, const Refusal& refusal);
  std::optional<GateVerdict> verdict() const;  ///< failed or skipped; none: both have times
  bool candidate_failed() const;               ///< and the baseline did not: the candidate's fault
  std::string text() const;                    ///< "the candidate says: no GPU"
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
  double freedom;   ///< of the interval's t distribution: n - 1, against a stored baseline Satterthwaite's
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
  Refusals refusals;                   ///< if any, the case has a verdict and no estimates
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
/// correction; refused ones do not. Candidates and controls are two families.
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

// Do two result files of one suite show the same science? Runs paired by id, cells judged by equivalence tests (docs/gate-results.md). Pure.

enum class ScienceVerdict { moved, inconclusive, same };
inline constexpr Word<ScienceVerdict> science_verdict_words[] = {
    {ScienceVerdict::moved, "moved", "a mean differs (t test, 5 % after Holm's correction), and not only within its margin"},
    {ScienceVerdict::inconclusive, "inconclusive", "neither: more seeds would tell"},
    {ScienceVerdict::same, "same", "every mean lies within its margin (two one-sided t tests, 5 % each)"},
};

/// What is compared of a cell's runs, and by how much it may differ.
enum ScienceMetric { science_quality, science_gain, science_steps };
inline constexpr int science_metric_count = 3;
inline constexpr std::array<const char*, science_metric_count> science_metric_names = {"quality", "gain", "steps"};
using ScienceMargins = std::array<double, science_metric_count>;
/// .02 levels of final quality; .005 of the possible gain; 10 % of the steps to 90 % of the gain.
inline constexpr ScienceMargins science_margins = {0.02, 0.005, 0.10};

/// A file's root table, read with science_columns(), and the curve `quality` of its runs.
struct ScienceFile {
  const ResultFile& table;
  const std::vector<RunCurve>& quality;
};
/// `id`, `key` and every final value, as for diff_files().
std::vector<std::string> science_columns(const ResultFile& head);

struct ScienceMeasure {
  Equivalence test;   ///< of NEW - OLD; of steps, of their ratio - 1. n = 0: the runs have no such value
  double p_holm = 0;  ///< among all measures and failures of all cells; NaN where nothing was tested
  int undefined = 0;  ///< pairs of which one run alone has the value: not the same then
  int never = 0;      ///< steps: pairs of which one run never reaches the gain; it counts with its last step, and they are not the same
};

/// Runs that differ in their seed alone.
struct ScienceCell {
  std::string name;                        ///< their ids without the seed; printable
  int pairs = 0;                           ///< runs that ended well in both files
  int failed_old = 0, failed_new = 0;      ///< in one file alone
  double failed_p = 0, failed_p_holm = 0;  ///< McNemar's exact test; NaN where none failed in one file alone
  std::array<ScienceMeasure, science_metric_count> measures;
  ScienceVerdict verdict = ScienceVerdict::same;
  bool compared = false;  ///< a pair has one of the measures; else inconclusive
  int seeds_needed = 0;   ///< where inconclusive: for a verdict with probability .8 if the differences are those seen; 0 = not known
};

struct ScienceComparison {
  ScienceVerdict verdict = ScienceVerdict::same;  ///< the worst of all cells
  std::vector<ScienceCell> cells;                 ///< worst first
  std::size_t pairs = 0;                          ///< runs that ended well in both files
  int tests = 0;                                  ///< that Holm's correction counts
  /// The smallest difference of gain that a cell would have shown as moved, out of its margin too, with probability .8, before Holm's
  /// correction has rejected anything: median over cells, and of the worst one. NaN where no cell has two pairs.
  double found_gain = 0, found_gain_worst = 0;
};

/// Runs that only one file has are left out (diff_files() lists them).
ScienceComparison compare_science(const ScienceFile& old_file, const ScienceFile& new_file, const ScienceMargins& margins);

/// The first recorded step at which a curve has reached `target`. `never`: not reached, and the last step.
struct StepsToGain {
  double steps;
  bool never = false;
};
StepsToGain steps_to_gain(const RunCurve& curve, double target);
/// start + .9 (end - start) of the mean of two curves of one run; nothing where that has no gain. A target of one curve's end alone would
/// make the other look slower: an end that is high by chance is reached late by another run.
std::optional<double> gain_target(const RunCurve& one, const RunCurve& other);

}  // namespace odrpo
