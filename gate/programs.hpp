// A gate of two programs, or of one against what is stored of another.
#pragma once
#include "gate/options.hpp"
#include "gate/prepare.hpp"

namespace odrpo {

/// Counts, measures, prints, and writes the reports that were asked for. The exit code of gate_exit(). Failure usage, io, runs_failed,
/// no_baseline, stopped; bad_input as read_stored().
int programs_gate(const GateOptions& options);

// `gate --save FILE.json`: measures a program alone, so that later ones can be compared with it.

/// Writes the file, or adds a session to one that holds the same program under the same conditions. Failure io where it holds another one
/// and there is no --force; usage, runs_failed, no_baseline, stopped.
int save_gate(const GateOptions& options);

}  // namespace odrpo
