// `gate --save FILE.json`: measures a program alone, so that later ones can be compared with it.
#pragma once
#include "gate/options.hpp"

namespace odrpo {

/// Writes the file, or adds a session to one that holds the same program under the same conditions. Failure io where it holds another one
/// and there is no --force; usage, runs_failed, no_baseline, stopped.
int save_gate(const GateOptions& options);

}  // namespace odrpo
