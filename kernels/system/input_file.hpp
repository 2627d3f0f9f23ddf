// Reads a file that the user named, after a check of what the path is.
#pragma once
#include <cstddef>
#include <string>

#include "kernels/shared/failure.hpp"

namespace odrpo {

/// What a file is for.
struct PathUse {
  const char* what;  ///< its name in messages: "a suite file"
  Exit wrong;        ///< the exit code if the path is no regular file
  std::size_t most;  ///< its largest size, bytes
};

/// Reads the file, or its first `most` + 1 bytes. Failure `io` if it is missing or unreadable, `use.wrong` if it is no regular file.
std::string read_bytes(const std::string& path, const PathUse& use);

/// Throws Failure `io` with the path and the error in errno.
[[noreturn]] void cannot_read(const std::string& path);

}  // namespace odrpo
