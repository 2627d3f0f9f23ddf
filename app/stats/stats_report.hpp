// What `stats` shows: the statistics of a file's runs, and how they were asked for. One function per output format.
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
  std::string baseline;  ///< "grpo", "votes=1": the texts that were given; empty = none
  RunTable runs;
  RunStatistics statistics;
  std::vector<std::string> notes{};  ///< on how the runs were chosen; printable
  std::string usual_baseline{};      ///< of a result file: its table's; empty = none
  /// Cells chose on seeds of their own: differences have one interval, that of the test.
  bool chose() const { return !runs.other_choices.empty(); }
};

/// Fills columns, runs and notes from a result file: `cell` and `task` are axes; empty = the rows and columns of the suite's table. Axes with
/// several values that are neither tell cells apart too. Failure as query_table(); usage for an axis that is not there.
void read_result_runs(const StatsOptions& o, const std::vector<std::string>& cell, const std::vector<std::string>& task,
                      StatsReport& report);

/// How the numbers were made: runs, intervals, resamples, seed, level, test, family, stars. One sentence each.
std::vector<std::string> method_sentences(const StatsReport& report);
/// Notes on what was left out, then the warning that there are few units. One sentence each.
std::vector<std::string> remarks(const StatsReport& report);

/// Of intervals by resampling: "expanded BCa", also beside t.
std::string_view bootstrap_name(IntervalKind kind);
/// "votes=1 minus votes=8", as the contrast was asked for.
std::string contrast_text(const StatsReport& report);

std::string stats_text(const StatsReport& report);
std::string stats_csv(const StatsReport& report);
std::string stats_json(const StatsReport& report);

}  // namespace odrpo::app
