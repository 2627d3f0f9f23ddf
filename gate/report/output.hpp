// Writes a gate's reports: --junit, --markdown with its figure, and annotations of GitHub.
#pragma once
#include <functional>
#include <string>

#include "gate/options.hpp"
#include "gate/report/report.hpp"

namespace odrpo {

/// Where the figure beside --markdown goes; empty: nowhere, since GitHub shows no file beside a job's summary.
std::string figure_path(const std::string& markdown);

/// Refuses reports that cannot be written, before any work is done. `figure`: a figure goes beside --markdown. Failure io.
void check_gate_outputs(const GateOptions& options, bool figure);

/// A job's summary, and the figure beside it.
struct GateSummary {
  std::function<std::string(const std::string& figure)> markdown;  ///< `figure`: the name of the figure's file; empty: there is none
  std::string svg;                                                 ///< empty: no figure
};
/// Writes the files that were asked for, and annotations to stderr where GITHUB_ACTIONS=true. Keeps what $GITHUB_STEP_SUMMARY holds.
/// Failure io.
void write_gate_outputs(const GateOptions& options, const Findings& findings, const GateSummary& summary);

}  // namespace odrpo
