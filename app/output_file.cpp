// Writes a file of text safely.
#include "app/output_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "app/printable.hpp"
#include "kernels/failure.hpp"

namespace odrpo::app {
namespace {

[[noreturn]] void cannot_write(const std::string& path, const std::string& reason) {
  throw Failure(Exit::io, fmt::format("cannot write '{}': {}", printable_line(path), reason));
}

/// The file that a path means, through links.
std::string target_of(const std::string& path) {
  std::error_code error;
  const auto whole = std::filesystem::absolute(path, error);
  const auto target = error ? whole : std::filesystem::weakly_canonical(whole, error);
  if (error) cannot_write(path, error.message());
  return target.string();
}

bool write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const auto n = ::write(file, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(n));
  }
  return ::fsync(file) == 0 || errno == EINVAL;
}

}  // namespace

void check_output(const std::string& path, const std::string& input) {
  struct stat out {
  }, in{};
  const std::string target = target_of(path);
  const std::string folder = std::filesystem::path(target).parent_path().string();
  if (::stat(folder.c_str(), &out) != 0) cannot_write(path, std::strerror(errno));
  if (::stat(target.c_str(), &out) != 0) return;
  if (!S_ISREG(out.st_mode)) cannot_write(path, S_ISDIR(out.st_mode) ? "it is a directory" : "it is not a regular file");
  if (::stat(input.c_str(), &in) == 0 && in.st_ino == out.st_ino && in.st_dev == out.st_dev) cannot_write(path, "it is the input itself");
}

void write_output(const std::string& path, std::string_view text) {
  const std::string target = target_of(path), aside = fmt::format("{}.{}.tmp", target, ::getpid());
  struct stat old {};
  const mode_t mode = ::stat(target.c_str(), &old) == 0 ? old.st_mode & 0666 : 0666;  // a stricter mode of the file that is replaced stays
  const int file = ::open(aside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
  if (file < 0) cannot_write(path, std::strerror(errno));
  int error = write_all(file, text) ? 0 : errno;
  if (::close(file) != 0 && error == 0) error = errno;
  if (error == 0 && std::rename(aside.c_str(), target.c_str()) != 0) error = errno;
  if (error == 0) return;
  ::unlink(aside.c_str());
  cannot_write(path, std::strerror(error));
}

}  // namespace odrpo::app
