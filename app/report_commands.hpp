// From what a result file says of its making to the shell commands that repeat it.
#pragma once
#include <string>
#include <vector>

#include "results/result_file.hpp"

namespace odrpo::app {

/// A word as a shell takes it: in quotes where it must be. Controls are escaped as everywhere, so that no terminal obeys them.
std::string shell_word(const std::string& text);

/// What --set and --only changed in the call that made the file: its own words from the provenance; of an older file --set alone.
std::vector<std::string> suite_changes(const ResultFile& file);

/// Three lines: the suite out of the file at `path`, the run, and the comparison of both results.
std::string reproduction_commands(const ResultFile& file, const std::string& path);

}  // namespace odrpo::app
