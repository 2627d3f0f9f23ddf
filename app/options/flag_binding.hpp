// Binds flags to the options of commands, and checks single values (by CLI11, as main.cpp).
#pragma once
#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "app/command.hpp"
#include "app/theory/command.hpp"

namespace odrpo::app {

/// Adds a command to a group of commands. If the command line names it, `chosen` becomes `call`.
CLI::App* add_command(CLI::App& group, std::function<int()>& chosen, const std::string& name, const std::string& help, const std::string& example,
                      std::function<int()> call);

/// Adds a flag that may be repeated and takes one value each time. `value` = what help calls the value.
void repeated(CLI::App& app, const std::string& name, std::vector<std::string>& values, const std::string& help, const std::string& value);

/// Accepts a whole number least..most in decimal digits. CLI11 alone would read 010 as eight.
CLI::Validator whole(long long least, long long most);
/// Accepts a seed: a whole number 0..9e18.
CLI::Validator seed();
/// Accepts a number above 0 and at most 1e9.
CLI::Validator positive();
/// Accepts a number in 0..1.
CLI::Validator share();

void suite_options(CLI::App& app, SuiteOptions& o, bool file_required = true);
/// Adds --shard, for the commands that train or that show what is trained.
void part_option(CLI::App& app, SuiteOptions& o);
void jobs_option(CLI::App& app, int& jobs);
void device_options(CLI::App& app, DeviceOptions& o);
/// Adds --max-seconds and --max-memory: the CPU seconds and the MB that reading a file may take.
void limit_options(CLI::App& app, double& seconds, double& memory);
/// Adds the argument FILE.h5, and the flags that choose a table of it. `most_files`: how many may be given.
void table_query_options(CLI::App& app, TableQuery& o, int least_files, int most_files);
void merge_options(CLI::App& app, MergeOptions& o);
void plot_options(CLI::App& app, PlotOptions& o);
void export_options(CLI::App& app, ExportOptions& o);
/// Adds --floor, which posterior estimators read.
void floor_option(CLI::App& app, std::string& floor);

/// Binds --kappa and --r-min, which `explain`, `theory`, `conform` and `export-estimator` have.
void centre_options(CLI::App& app, std::optional<double>& kappa, std::optional<double>& r_min);
void conform_options(CLI::App& app, ConformOptions& o);
void export_estimator_options(CLI::App& app, ExportEstimatorOptions& o);
/// Adds the flags of reading_options() (results/scores/reading.hpp: how a file of scores is read), or those with the keys `only`.
void reading_flags(CLI::App& app, ReadingFlags& flags, std::initializer_list<std::string_view> only = {});
void stats_options(CLI::App& app, StatsOptions& o);

// Binds the flags of `gate` and `worker`.

void gate_options(CLI::App& app, GateOptions& o);
void worker_options(CLI::App& app, WorkerOptions& o);

// The commands of `judge` and their flags.

/// Adds the flags that say how `judge analyze`, `judge fit` and `judge advise` read a file of scores.
void score_options(CLI::App& app, ScoreOptions& o);

struct JudgeCommands {
  JudgeAnalyzeOptions analyze;
  JudgeFitOptions fit;
  JudgeSimulateOptions simulate;
  JudgeAdviseOptions advise;
};

/// Adds the commands of `judge`. The one that the command line names sets `chosen` to its function. `commands` must outlive the parser.
void judge_commands(CLI::App& judge, JudgeCommands& commands, std::function<int()>& chosen);

// The commands of `rollouts` and their flags.

struct RolloutsCommands {
  RolloutsAnalyzeOptions analyze;
  RolloutsEstimateOptions estimate;
};

/// Adds the commands of `rollouts`. The one that the command line names sets `chosen` to its function. `commands` must outlive the parser.
void rollouts_commands(CLI::App& rollouts, RolloutsCommands& commands, std::function<int()>& chosen);

// The commands of `theory` and their flags.

struct TheoryCommands {
  TheoryCurlOptions curl;
  TheoryFieldOptions field, objective;
  TheoryLeverageOptions leverage;
  TheoryBoundOptions bound;
};

/// Adds the commands of `theory`. The one that the command line names sets `chosen` to its function. `commands` must outlive the parser.
void theory_commands(CLI::App& theory, TheoryCommands& commands, std::function<int()>& chosen);

}  // namespace odrpo::app
