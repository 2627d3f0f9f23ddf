// Names the result file that `run` writes without -o.
#pragma once
#include <string>
#include <vector>

#include "train/machines/suite_part.hpp"

namespace odrpo::app {

/// "SUITE.h5", of a part "SUITE.part-03-of-16.h5". If --set changed the runs (`set`, its arguments), a suffix has the keys: "SUITE-seeds=3.h5".
/// If --name gave a `name`, "SUITE-NAME.h5". Arguments that set suite.name, [table], [gate], [limits] or [label] change no run and no name.
std::string default_output(const std::string& suite, const std::vector<std::string>& set, const std::string& name, PartOfSuite part);

}  // namespace odrpo::app
