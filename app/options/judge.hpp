// The commands of `judge` and their flags (CLI11's door, with main.cpp).
#pragma once
#include <CLI/CLI.hpp>
#include <functional>

#include "app/command.hpp"

namespace odrpo::app {

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

}  // namespace odrpo::app
