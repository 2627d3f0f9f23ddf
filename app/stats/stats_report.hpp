// Defines the report of `stats`: statistics of a file's runs, and the flags that chose them. Declares a function for each output format.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "app/command.hpp"
#include "results/stats/run_statistics.hpp"

namespace odrpo::app {

struct StatsReport {
  std::string file;
  RunColumns columns;
  StatisticsOptions options;
  std::string baseline;  ///< --baseline as given: "grpo", "votes=1"; empty = none
  RunTable runs;
  RunStatistics statistics;
  std::vector<std::string> notes{};  ///< notes on which runs were chosen, without control characters
  std::string usual_baseline{};      ///< for a result file: the baseline of its suite's table; empty = none
  /// True if each cell takes its best setting (learning rate), chosen on separate seeds. Differences then have only the interval of their test.
  bool chose() const { return !runs.other_choices.empty(); }
};

/// Fills columns, runs and notes from a result file. `cell` and `task` name axes; empty = the rows and columns of the suite's table. Runs
/// that differ in another axis are in different cells too. Fails as query_table() does, and with `usage` for an unknown axis.
void read_result_runs(const StatsOptions& o, const std::vector<std::string>& cell, const std::vector<std::string>& task,
                      StatsReport& report);

/// Sentences on how the numbers were computed: runs, intervals, bootstrap resamples, seed, confidence level, test, number of tests, stars.
std::vector<std::string> method_sentences(const StatsReport& report);
/// Sentences about the data: notes on what was left out, then a warning if there are too few units (seeds) for bootstrap intervals.
std::vector<std::string> remarks(const StatsReport& report);

/// Name of the bootstrap interval: "percentile", "BCa", or "expanded BCa", which --interval t also uses where t does not apply.
std::string_view bootstrap_name(IntervalKind kind);
/// The two conditions that --contrast compares: "votes=1 minus the same at votes=8".
std::string contrast_text(const StatsReport& report);

std::string stats_text(const StatsReport& report);
std::string stats_csv(const StatsReport& report);
std::string stats_json(const StatsReport& report);

}  // namespace odrpo::app
