// What `stats` shows: the statistics of a file's runs, and how they were asked for. One function per output format.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "results/run_statistics.hpp"

namespace odrpo::app {

struct StatsReport {
  std::string file;
  RunColumns columns;
  StatisticsOptions options;
  std::string baseline;  ///< "grpo", "votes=1": the texts that were given; empty = none
  RunTable runs;
  RunStatistics statistics;
};

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
