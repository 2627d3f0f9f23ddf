// Reports on which machine this program runs, for --version, for the record in result files, and for the gate.
#pragma once
#include <string>

namespace odrpo {

/// Facts about this machine.
struct HostFacts {
  std::string cpu, isa, system, node;  ///< isa: instruction set of the stage files that run; node: the machine's name
  int cores = 1;                 ///< number of cores that this process may use
};
HostFacts host_facts();
/// The process namespace of this process, "" if unknown. With it, process numbers are unique even if containers share a host's name.
std::string process_space();
/// True if an environment variable has a value that is not empty.
bool is_set(const char* variable);
/// The value of --jobs if it is above 0, else the number of cores that this process may use.
int jobs_or_cores(int jobs);

}  // namespace odrpo
