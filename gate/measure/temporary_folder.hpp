// A folder below TMPDIR that goes with everything in it.
#pragma once
#include <fmt/format.h>
#include <stdlib.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "kernels/shared/failure.hpp"

namespace odrpo {

/// Failure io where none can be made.
struct TemporaryFolder {
  std::filesystem::path path;
  TemporaryFolder() {
    std::error_code error;
    std::string name = (std::filesystem::temp_directory_path(error) / "odrpo-gate-XXXXXX").string();
    if (error || mkdtemp(name.data()) == nullptr)
      throw Failure(Exit::io, fmt::format("cannot make a temporary folder: {}", std::strerror(errno)));
    path = name;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code error;
    std::filesystem::remove_all(path, error);
  }
};

}  // namespace odrpo
