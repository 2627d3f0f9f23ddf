// Finds suites by name among those that are shipped with the program.
#pragma once
#include <string>
#include <vector>

#include "config/suite.hpp"

namespace odrpo::app {

/// The names of all shipped suites, sorted: "paper/results", "quickstart", …
std::vector<std::string> shipped_suites();

/// The file that the argument SUITE.toml means: `path` if that file exists, else the shipped suite of this name ("quickstart",
/// "paper/results", with or without .toml), else `path`.
std::string suite_path(const std::string& path);

/// Loads the suite in suite_path(path), and sets `path` to that file. Fails as load_suite() does; for a missing file, the message suggests a
/// shipped suite.
Suite load_named_suite(std::string& path, const std::vector<std::string>& set, const std::vector<std::string>& only);

}  // namespace odrpo::app
