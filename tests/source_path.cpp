// Knows the root of the source tree, which CMake passes to this file alone.
#include "tests/source_path.hpp"

std::string source_path(const std::string& path) { return ODRPO_SOURCE_DIR "/" + path; }
