// From a suite file to a Suite.
#pragma once
#include <string>
#include <vector>

#include "config/plan/plan.hpp"
#include "config/suite.hpp"

namespace odrpo {

/// Reads, checks and expands a suite. `set` are --set arguments ("key=value"), `only` are --only globs ('*' crosses '/').
/// Failure `io`: missing or unreadable file; `suite`: anything wrong in it, in the content of --set or in a glob (all errors at once);
/// `usage`: a --set without key or value; `bad_input`: a file of scores that the suite names; `limits`: more runs than [limits] allows.
Suite load_suite(const std::string& path, const std::vector<std::string>& set, const std::vector<std::string>& only);

/// The same for text that is already in memory; `path` names it in messages. `only_below`: of text out of a result file the folders below which
/// files that it names are opened (Reading).
Suite load_suite_text(const std::string& path, std::string text, const std::vector<std::string>& set, const std::vector<std::string>& only,
                      std::vector<std::string> only_below = {});

// From a plan to its runs: every combination of the grid, for every seed.

/// The runs in canonical order: entry of `zip`, env, rater, policy, estimator, votes, axes in suite order, seed (the last changes fastest),
/// of which those that match a glob are kept (all when there is none). Failure `limits` when the grid has more than [limits] runs allows,
/// before anything is made; Failure `suite` when a glob matches nothing.
Suite expand(const Plan& plan, const std::vector<std::string>& only);

}  // namespace odrpo
