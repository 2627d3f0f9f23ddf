// `gate --science OLD.h5 NEW.h5`: do two result files of one suite show the same?
#pragma once
#include <array>
#include <string>
#include <vector>

#include "gate/options.hpp"
#include "gate/decide/science.hpp"
#include "gate/report/finding.hpp"
#include "results/export/file_diff.hpp"

namespace odrpo {

struct ScienceReport {
  struct File {
    std::string path, suite, digest;  ///< not printable
    std::size_t runs = 0;
  };
  std::array<File, 2> file;  ///< OLD, NEW
  bool same_digest = false;  ///< nothing else was compared then
  bool other_seed = false;   ///< the suites have different seeds: pairs share no worlds
  std::string no_steps;      ///< why steps were not compared; empty: they were
  ScienceMargins margins{};
  FileDiff diff;
  ScienceComparison comparison;
  std::vector<ScienceVerdict> fail_on;
};

/// Reads the files, compares them, prints and writes the reports. The exit code: 0, 10 where a cell has moved, 11 where one is inconclusive
/// and --fail-on says so. Failure no_baseline where suites or settings differ, or no run is in both; as read_results().
int science_gate(const GateOptions& options);

bool science_fails(const ScienceReport& report, const ScienceCell& cell);
int science_exit(const ScienceReport& report);
/// "32 cells: 2 moved, 1 inconclusive, 29 same (exit 10)"
std::string science_outcome(const ScienceReport& report);
/// One printable line that says why a cell has its verdict.
std::string science_sentence(const ScienceCell& cell);
/// 80 columns: cells that are not the same, worst first, why, what could have been found, and the values that differ.
std::string science_text(const ScienceReport& report);
std::string science_json(const ScienceReport& report);
Findings science_findings(const ScienceReport& report);

}  // namespace odrpo
