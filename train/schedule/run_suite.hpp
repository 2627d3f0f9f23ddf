// Runs a suite: workers and engines train, one thread owns the result store; committed runs survive a kill at any instant.
#pragma once
#include <string>

#include "results/store/store.hpp"
#include "train/run_settings.hpp"

namespace odrpo {

// What the result store must know of a suite.

struct Suite;

/// What the store must know of a suite, without provenance. The fingerprint covers every run's canonical text and the program's version.
SuiteFacts suite_facts(const Suite& suite, const std::string& program_version);

struct Suite;

/// Trains what is missing of the suite and assembles the output. The result does not depend on jobs, on the order of commits or on how
/// often the work was interrupted, nor on engines. A run that fails is recorded with its reason and the others go on. When an engine or the
/// disk fails, what is finished is committed if it can be, and the Failure is thrown with saved_text.
RunReport run_suite(const Suite& suite, const SuiteFacts& facts, const RunSettings& settings);

}  // namespace odrpo
