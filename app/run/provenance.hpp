// What a result file says of its suite and of who trained it: its provenance.
#pragma once
#include <string>
#include <vector>

#include "app/command.hpp"
#include "app/run/device_choice.hpp"
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
