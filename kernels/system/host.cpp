// Reads the facts about this machine from the operating system.
#include "kernels/system/host.hpp"

#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "kernels/isa.hpp"

namespace odrpo {
namespace {

std::string cpu_model() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);)
    if (line.starts_with("model name")) {
      const auto colon = line.find(": ");
      if (colon != std::string::npos) return line.substr(colon + 2);
    }
  return "unknown";
}

int usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return CPU_COUNT(&set) > 0 ? CPU_COUNT(&set) : 1;
}

}  // namespace

HostFacts host_facts() {
  HostFacts host;
  host.cpu = cpu_model();
  host.isa = isa_name(best_isa());
  host.cores = usable_cores();
  utsname name{};
  const bool known = uname(&name) == 0;
  if (known) host.system = std::string(name.sysname) + ' ' + name.release + ' ' + name.machine;
  host.node = known ? name.nodename : "unknown";
  return host;
}

std::string process_space() {
  char space[64] = {};
  return ::readlink("/proc/self/ns/pid", space, sizeof space - 1) > 0 ? space : "";
}

bool is_set(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

int jobs_or_cores(int jobs) { return jobs > 0 ? jobs : usable_cores(); }

}  // namespace odrpo
