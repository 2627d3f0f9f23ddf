// `odrpo-bench --version`: which program this is, how it was built, and on what it runs.
#include <fmt/format.h>
#include <sched.h>
#include <sys/utsname.h>

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "app/build_facts.hpp"
#include "app/command.hpp"
#include "built.hpp"
#include "kernels/isa.hpp"
#include "results/store/digest.hpp"
#include "results/store/store.hpp"
#include "revision.hpp"

namespace odrpo::app {
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

BuildFacts build_facts() {
  return {built::version, built::revision, built::compiler,          built::flags,           built::build_type, built::hdf5,
          built::mpi,     built::cuda,     built::suites_of_sources, built::suites_installed};
}

std::string build_name() {
  const BuildFacts build = build_facts();
  const std::string text = fmt::format("{} {} {} {} {}", build.version, build.revision, build.compiler, build.build_type, build.flags);
  std::ifstream program("/proc/self/exe", std::ios::binary);
  Sha256 hash;
  std::vector<char> part(std::size_t{1} << 16);
  std::streamsize size = 0;
  while (program.good()) {
    program.read(part.data(), static_cast<std::streamsize>(part.size()));
    hash.add(part.data(), static_cast<std::size_t>(program.gcount()));
    size += program.gcount();
  }
  return size > 0 && program.eof() ? text + ' ' + hash.hex().substr(0, 16) : text;
}

HostFacts host_facts() {
  HostFacts host;
  host.cpu = cpu_model();
  host.isa = isa_name(best_isa());
  host.cores = usable_cores();
  utsname name{};
  const bool known = uname(&name) == 0;
  if (known) host.system = fmt::format("{} {} {}", name.sysname, name.release, name.machine);
  host.node = known ? name.nodename : "unknown";
  return host;
}

int jobs_or_cores(int jobs) { return jobs > 0 ? jobs : usable_cores(); }

int version(bool json) {
  const BuildFacts b = build_facts();
  const HostFacts h = host_facts();
  if (json) {
    const nlohmann::ordered_json out = {{"name", "odrpo-bench"},  {"version", b.version},
                                        {"revision", b.revision}, {"compiler", b.compiler},
                                        {"flags", b.flags},       {"build_type", b.build_type},
                                        {"isa", h.isa},           {"cuda", b.cuda},
                                        {"hdf5", b.hdf5},         {"schema_version", schema_version},
                                        {"mpi", b.mpi}};
    fmt::print("{}\n", out.dump(2));
    return 0;
  }
  fmt::print("odrpo-bench {} (revision {})\n", b.version, b.revision);
  fmt::print("built with {} ({}), HDF5 {}, result schema {}, CUDA {}, MPI {}\n", b.compiler, b.build_type, b.hdf5, schema_version,
             b.cuda ? "yes" : "no", b.mpi.empty() ? "no" : b.mpi);
  fmt::print("runs here on {}, {} core{}, instruction set {}\n", h.cpu, h.cores, h.cores == 1 ? "" : "s", h.isa);
  return 0;
}

}  // namespace odrpo::app
