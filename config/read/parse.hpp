// Loads a suite file into a Suite.
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

/// load_suite() for text that is already in memory; `path` names it in messages. `only_below`: for text from a result file, the folders below
/// which files that the suite names may be opened (Reading in config/plan/plan.hpp).
Suite load_suite_text(const std::string& path, std::string text, const std::vector<std::string>& set, const std::vector<std::string>& only,
                      std::vector<std::string> only_below = {});

// Expands a plan into runs: every combination of the grid, for every seed.

/// Makes the runs in canonical order: entry of `zip`, env, rater, policy, estimator, votes, axes in suite order, seed (changes fastest).
/// Keeps the runs whose id matches a glob of `only`; all runs if there is none. Failure `limits`, before any run is made, if runs or memory
/// would exceed [limits]; `suite` if a glob matches no run.
Suite expand(const Plan& plan, const std::vector<std::string>& only);

}  // namespace odrpo
