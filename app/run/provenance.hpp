// Writes the provenance texts of a result file (its suite, and what trained it), and the shell commands that repeat its runs.
#pragma once
#include <string>
#include <vector>

#include "app/command.hpp"
#include "app/run/device_choice.hpp"
#include "results/store/record.hpp"
#include "results/store/store.hpp"
#include "train/machines/suite_part.hpp"

namespace odrpo {
struct Suite;
}

namespace odrpo::app {

/// Provenance texts (name, text) about what trained runs: revision, compiler, CPU, device, ... this_machine() returns those of this process.
using TrainedBy = std::vector<std::pair<std::string, std::string>>;
TrainedBy this_machine(int jobs, const ChosenDevices& where);

/// Name of the provenance text about programs that compute advantages: only of suites that name some.
inline constexpr const char* programs_text = "programs";
/// Starts each such program once, and loads each library in a process of its own, which the user is told unless `quiet`. Returns the text: a line for each estimator, with tabs
/// between its name, command or library, files with their SHA-256, and what the program said of itself or why it failed. Failure `suite`, at its line, where a library
/// cannot be loaded.
std::string start_programs(const Suite& suite, bool quiet);

/// What a result file says about its suite besides the runs. `options` = how the suite was read; `by` = what trained it; `argv` = command line.
SuiteFacts facts_of(const Suite& suite, const SuiteOptions& options, const TrainedBy& by, const std::vector<std::string>& argv);

/// Adds the provenance of a file that holds one part of a suite: which part, `whole` = the fingerprint of the whole suite, the machine.
void add_part(SuiteFacts& facts, PartOfSuite part, const std::string& whole);

}  // namespace odrpo::app

// Writes shell commands that repeat the runs of a result file, from its provenance.

namespace odrpo::app {

/// A word for a shell command, in quotes where needed. Control characters are escaped, since a terminal would obey them.
std::string shell_word(const std::string& text);

/// A file name for a shell command, in quotes where needed. A name that begins with - becomes ./-NAME, so that it is not read as a flag.
std::string file_word(const std::string& name);

/// The --set and --only flags with which the file's runs were trained. Older files lack the provenance text `only`. For them the flags come
/// from the command line that wrote the file; where that is missing too, only --set is known.
std::vector<std::string> suite_changes(const ResultFile& file);

/// Three commands, one a line: export the suite from the file at `path`, run it, and compare the new result file with the old.
std::string reproduction_commands(const ResultFile& file, const std::string& path);

}  // namespace odrpo::app
