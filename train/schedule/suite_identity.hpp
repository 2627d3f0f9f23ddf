// What the result store must know of a suite.
#pragma once
#include <string>

#include "results/store/store.hpp"

namespace odrpo {

struct Suite;

/// What the store must know of a suite, without provenance. The fingerprint covers every run's canonical text and the program's version.
SuiteFacts suite_facts(const Suite& suite, const std::string& program_version);

}  // namespace odrpo
