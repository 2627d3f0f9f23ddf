// What this binary is: for --version and for the provenance of result files.
#pragma once
#include <string>

namespace odrpo::app {

/// Known when the program was built.
struct BuildFacts {
  std::string version, revision;  ///< of the program; git revision, "-dirty" when the tree had changes, "unknown" without git
  std::string compiler, flags, build_type;
  std::string hdf5;  ///< version of the headers compiled against
  std::string mpi;   ///< version of the standard, "3.1"; empty = built without MPI
  bool cuda = false;
  std::string suites_of_sources, suites_installed;  ///< folders of shipped suites, from the program's own: built, installed
};
BuildFacts build_facts();
/// Names this build for what only the same build takes over: two that git does not tell apart differ in the program's bytes.
std::string build_name();

}  // namespace odrpo::app
