// Declares the gates of programs and of results, as `gate` calls them. First: two programs, or one against a stored baseline.
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "gate/decide/decide.hpp"
#include "gate/measure/measure.hpp"
#include "gate/options.hpp"
#include "gate/prepare.hpp"
#include "gate/report/report.hpp"
#include "results/export/file_diff.hpp"

namespace odrpo {

/// Counts, measures, prints, and writes the reports that were asked for. Returns gate_exit(). Failure usage, io, runs_failed, no_baseline,
/// stopped; failures of read_stored().
int programs_gate(const GateOptions& options);

// `gate --save FILE.json`: measures a program alone, so that later ones can be compared with it.

/// Writes the file, or adds a session to one that holds the same program under the same conditions. Failure io where it holds another
/// program and there is no --force; usage, runs_failed, no_baseline, stopped.
int save_gate(const GateOptions& options);

// `gate --self-test`: how often the gate is wrong, and which changes it finds on this host, with work whose true change is known.

/// A case of `worker --self-test`: the candidate does the share `added` of more work.
struct KnownChange {
  const char* name;
  double added;
};
inline constexpr KnownChange known_changes[] = {{"same", 0}, {"plus 2 %", 0.02}, {"plus 5 %", 0.05}, {"plus 10 %", 0.10}};

struct SelfTestOptions {
  int trials = 0;  ///< 0 = as many as end in 40 s
  std::uint64_t seed = 0;
  ChildRules rules;
  GateRules gate;
};

/// The trials of one amount of added work; every trial is a gate of one case.
struct SelfTestRow {
  double added = 0;  ///< 0.02 = 2 % more work in the candidate
  /// [trials] 0 or 1: how this gate ended
  std::vector<double> slower, faster, void_control, inconclusive;
  /// Alarms of other methods on the recordings of the trial's first look: two means 5 % apart; Mann and Whitney's U test with p < .05.
  /// `interleaved`: all recordings. `in_sequence`: the baseline's of the first half of the blocks and the candidate's of the second half,
  /// as two programs run one after the other.
  struct Others {
    std::vector<double> two_means, u_test;  ///< [trials] 0 or 1
  };
  Others interleaved, in_sequence;
  double seconds = 0;  ///< of a case until its verdict, mean over trials
};

struct SelfTest {
  std::vector<SelfTestRow> rows;  ///< of known_changes
  double seconds = 0;
  double load = -1;  ///< mean of the last minute at the end; below 0: unknown
};

/// Failure as Process's members.
SelfTest run_self_test(const SelfTestOptions& options, ChildKeeper& keeper, const std::function<void(const std::string&)>& tell);

std::string self_test_text(const SelfTest& test, const std::string& host);
std::string self_test_json(const SelfTest& test, const std::string& host);

// `gate --science OLD.h5 NEW.h5`: do two result files of one suite show the same?

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
