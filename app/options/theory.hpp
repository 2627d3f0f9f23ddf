// The commands of `theory` and their flags (CLI11's door, with main.cpp).
#pragma once
#include <CLI/CLI.hpp>
#include <functional>

#include "app/theory/command.hpp"

namespace odrpo::app {

struct TheoryCommands {
  TheoryCurlOptions curl;
  TheoryFieldOptions field, objective;
  TheoryLeverageOptions leverage;
  TheoryBoundOptions bound;
};

/// Adds the commands of `theory`; the one that stands on the command line sets `chosen`. `commands` outlives the parser.
void theory_commands(CLI::App& theory, TheoryCommands& commands, std::function<int()>& chosen);

}  // namespace odrpo::app
