// A gate of two programs, or of one against what is stored of another.
#pragma once
#include "gate/options.hpp"
#include "gate/prepare.hpp"

namespace odrpo {

/// Counts, measures, prints, and writes the reports that were asked for. The exit code of gate_exit(). Failure usage, io, runs_failed,
/// no_baseline, stopped; bad_input as read_stored().
int programs_gate(const GateOptions& options);

}  // namespace odrpo
