// Do two result files of one suite show the same science? Runs paired by id, cells judged by equivalence tests (docs/gate-results.md). Pure.
#pragma once
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "kernels/shared/word.hpp"
#include "results/stats/power.hpp"
#include "results/store/result_file.hpp"
#include "results/store/store.hpp"

namespace odrpo {

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
