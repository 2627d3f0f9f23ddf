// Prints the program's version, how it was built, and the machine that it runs on: `odrpo-bench --version`.
#include <fmt/format.h>

#include <cstdio>
#include <string>

#include "app/command.hpp"
#include "built.hpp"
#include "kernels/shared/json.hpp"
#include "kernels/system/host.hpp"
#include "kernels/system/text.hpp"
#include "results/store/digest.hpp"
#include "results/store/store.hpp"
#include "revision.hpp"

namespace odrpo::app {
BuildFacts build_facts() {
  return {built::version, built::revision, built::compiler,          built::flags,           built::build_type, built::hdf5,
          built::mpi,     built::cuda,     built::suites_of_sources, built::suites_installed};
}

std::string build_name() {
  const BuildFacts build = build_facts();
  const std::string text = fmt::format("{} {} {} {} {}", build.version, build.revision, build.compiler, build.build_type, build.flags);
  const std::string hash = sha256_of_file("/proc/self/exe");
  return hash.empty() ? text : text + ' ' + hash.substr(0, 16);
}

int version(bool json) {
  const BuildFacts b = build_facts();
  const HostFacts h = host_facts();
  if (json) {
    const Json out = {{"name", "odrpo-bench"},  {"version", b.version},
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
  fmt::print("runs here on {}, {}, instruction set {}\n", h.cpu, counted(h.cores, "core"), h.isa);
  return 0;
}

}  // namespace odrpo::app
