// Binds the flags of `gate` and `worker`.
#pragma once
#include <CLI/CLI.hpp>

#include "app/command.hpp"

namespace odrpo::app {

void gate_options(CLI::App& app, GateOptions& o);
void worker_options(CLI::App& app, WorkerOptions& o);

}  // namespace odrpo::app
