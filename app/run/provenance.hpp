// What a result file says of its suite and of who trained it: its provenance; and the commands that repeat its runs.
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

/// Who trained: texts of the provenance, by name.
using TrainedBy = std::vector<std::pair<std::string, std::string>>;
TrainedBy this_machine(int jobs, const ChosenDevices& where);

/// Facts of a whole suite. `options` are those that the suite was read with.
SuiteFacts facts_of(const Suite& suite, const SuiteOptions& options, const TrainedBy& by, const std::vector<std::string>& argv);

/// The provenance of one part besides: which, of what (the fingerprint of the whole suite), and on which machine.
void add_part(SuiteFacts& facts, PartOfSuite part, const std::string& whole);

}  // namespace odrpo::app

// From what a result file says of its making to the shell commands that repeat it.

namespace odrpo::app {

/// A word as a shell takes it: in quotes where it must be. Controls are escaped as everywhere, so that no terminal obeys them.
std::string shell_word(const std::string& text);

/// A name of a file as a shell takes it, which no command takes for a flag.
std::string file_word(const std::string& name);

/// What --set and --only changed for the file's runs. Of an older file, whose provenance has no `only`, the words of the call that made it;
/// of one without those --set alone.
std::vector<std::string> suite_changes(const ResultFile& file);

/// Three lines: the suite out of the file at `path`, the run, and the comparison of both results.
std::string reproduction_commands(const ResultFile& file, const std::string& path);

}  // namespace odrpo::app
