// From what a result file says of its making to the shell commands that repeat it.
#pragma once
#include <string>
#include <vector>

#include "results/store/result_file.hpp"

namespace odrpo::app {

/// A word as a shell takes it: in quotes where it must be. Controls are escaped as everywhere, so that no terminal obeys them.
std::string shell_word(const std::string& text);

/// The lines of a text, without their ends.
std::vector<std::string> lines_of(const std::string& text);

/// A name of a file as a shell takes it, which no command takes for a flag.
std::string file_word(const std::string& name);

/// What --set and --only changed for the file's runs. Of an older file, whose provenance has no `only`, the words of the call that made it;
/// of one without those --set alone.
std::vector<std::string> suite_changes(const ResultFile& file);

/// Three lines: the suite out of the file at `path`, the run, and the comparison of both results.
std::string reproduction_commands(const ResultFile& file, const std::string& path);

}  // namespace odrpo::app
