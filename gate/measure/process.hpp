// The kind process: whole commands, by wall clock and CPU time.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "gate/measure/counts.hpp"
#include "gate/measure/measure.hpp"

namespace odrpo {

/// One run of a command: its clocks, and what it wrote.
struct ProcessRun {
  double wall_ns = 0, cpu_ns = 0;  ///< CPU: user and system, of it and the children that it waited for
  std::string checksum;            ///< SHA-256 of its stdout
};
/// Runs it with empty stdin. Failure runs_failed where it ends badly, takes longer than the deadline or leaves processes behind.
ProcessRun run_process(const char* who, const ChildCommand& command, const ChildRules& rules, ChildKeeper& keeper,
                       const ChildStart& start = {});

/// Its one case has the name of the baseline's command. The commands run once each, unmeasured, so that files are read before.
GateKind process_kind(const GateCommands& commands, ChildKeeper& keeper, const std::string& name, std::uint64_t seed);

/// Counts of whole runs.
Counts count_process(const CountTools& tools, const GateCommands& commands, ChildKeeper& keeper);

}  // namespace odrpo
