// Where this program runs: for --version, for the provenance of result files, and for the gate.
#pragma once
#include <string>

namespace odrpo {

/// What this machine is.
struct HostFacts {
  std::string cpu, isa, system, node;  ///< isa: which copy of the stage files runs; node: the machine's name
  int cores = 1;                 ///< that this process may use
};
HostFacts host_facts();
/// Which numbers of processes this one sees: containers may share a host's name, and number processes anew. "" where it cannot be told.
std::string process_space();
/// What --jobs says, or the number of cores.
int jobs_or_cores(int jobs);

}  // namespace odrpo
