// From a suite file to a Suite (through the one door to the TOML library), and back.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "suites/diagnostics.hpp"
#include "suites/spec.hpp"
#include "suites/tree.hpp"

namespace odrpo {

/// Reads, checks and expands a suite. `set` are --set arguments ("key=value"), `only` are --only globs ('*' crosses '/').
/// Failure `io`: missing or unreadable file; `suite`: anything wrong in it, in the content of --set or in a glob (all errors at once);
/// `usage`: a --set without key or value; `limits`: more runs than [limits] allows.
Suite load_suite(const std::string& path, const std::vector<std::string>& set, const std::vector<std::string>& only);

/// The same for text that is already in memory; `path` names it in messages.
Suite load_suite_text(const std::string& path, std::string text, const std::vector<std::string>& set, const std::vector<std::string>& only);

/// The suite (without --only) as TOML with every value written out, for provenance: loading it gives the same runs, ids and keys.
inline const std::string& resolved_toml(const Suite& suite) { return suite.resolved; }

/// TOML text as a tree. Syntax errors go to `errors`; a broken one-line statement is skipped so that the rest can be read. False when
/// the text could not be read to its end.
bool parse_toml(std::string_view text, Node& root, Diagnostics& errors);

}  // namespace odrpo
