// Suites that the program is shipped with, found by name.
#pragma once
#include <string>
#include <vector>

#include "config/suite.hpp"

namespace odrpo::app {

/// The file of the shipped suite with that name ("quickstart", "paper/results", with or without .toml), where there is no such file; else
/// the path itself.
std::string suite_path(const std::string& path);

/// load_suite() of a file or of a shipped suite; `path` becomes the file's. Of a missing file the Failure names the nearest shipped suite.
Suite load_named_suite(std::string& path, const std::vector<std::string>& set, const std::vector<std::string>& only);

}  // namespace odrpo::app
