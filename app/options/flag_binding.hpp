// What binds flags to the options of commands, and checks single values (CLI11's door, with main.cpp).
#pragma once
#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "app/command.hpp"
#include "app/theory/command.hpp"

namespace odrpo::app {

/// A flag that may be repeated and takes one value each time.
void repeated(CLI::App& app, const std::string& name, std::vector<std::string>& values, const std::string& help, const std::string& value);

/// A whole number, plainly written; CLI11 alone would read 010 as eight.
CLI::Validator whole(long long least, long long most);
/// The seed of a flag.
CLI::Validator seed();
/// A number above 0 and at most 1e9, plainly written.
CLI::Validator positive();
/// A number in 0..1, plainly written.
CLI::Validator share();

void suite_options(CLI::App& app, SuiteOptions& o, bool file_required = true);
/// --shard, of the commands that train or show what is trained.
void part_option(CLI::App& app, SuiteOptions& o);
void jobs_option(CLI::App& app, int& jobs);
void device_options(CLI::App& app, DeviceOptions& o);
/// What reading a file may take: CPU seconds and MB.
void limit_options(CLI::App& app, double& seconds, double& memory);
/// FILE.h5 and which table of it.
void table_query_options(CLI::App& app, TableQuery& o, bool file_required = true);
void merge_options(CLI::App& app, MergeOptions& o);
void plot_options(CLI::App& app, PlotOptions& o);
void export_options(CLI::App& app, ExportOptions& o);
/// --floor of posterior estimators.
void floor_option(CLI::App& app, std::string& floor);
void export_estimator_options(CLI::App& app, ExportEstimatorOptions& o);
void stats_options(CLI::App& app, StatsOptions& o);

// Binds the flags of `gate` and `worker`.

void gate_options(CLI::App& app, GateOptions& o);
void worker_options(CLI::App& app, WorkerOptions& o);

// The commands of `judge` and their flags (CLI11's door, with main.cpp).

/// How a file of scores is read: `judge analyze`, `judge fit`, `judge advise`.
void score_options(CLI::App& app, ScoreOptions& o);

struct JudgeCommands {
  JudgeAnalyzeOptions analyze;
  JudgeFitOptions fit;
  JudgeSimulateOptions simulate;
  JudgeAdviseOptions advise;
};

/// Adds the commands of `judge`; the one that stands on the command line sets `chosen`. `commands` outlives the parser.
void judge_commands(CLI::App& judge, JudgeCommands& commands, std::function<int()>& chosen);

// The commands of `theory` and their flags (CLI11's door, with main.cpp).

struct TheoryCommands {
  TheoryCurlOptions curl;
  TheoryFieldOptions field, objective;
  TheoryLeverageOptions leverage;
  TheoryBoundOptions bound;
};

/// Adds the commands of `theory`; the one that stands on the command line sets `chosen`. `commands` outlives the parser.
void theory_commands(CLI::App& theory, TheoryCommands& commands, std::function<int()>& chosen);

}  // namespace odrpo::app
