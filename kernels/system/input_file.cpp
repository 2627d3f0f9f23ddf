// Implements input_file.hpp.
#include "kernels/system/input_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "kernels/system/fail.hpp"
#include "kernels/system/text.hpp"

namespace odrpo {

void cannot_read(const std::string& path) { fail(Exit::io, "{}: {}", shown(path, 4096), std::strerror(errno)); }

namespace {

void must_be_regular(const std::string& path, const struct stat& s, const PathUse& use) {
  if (S_ISREG(s.st_mode)) return;
  const char* kind = S_ISDIR(s.st_mode) ? "a directory" : S_ISFIFO(s.st_mode) ? "a pipe" : S_ISSOCK(s.st_mode) ? "a socket" : "a device";
  fail(use.wrong, "{}: is {}, not {}", shown(path, 4096), kind, use.what);
}

// a file descriptor that closes itself
struct Descriptor {
  int fd;
  explicit Descriptor(int f) : fd(f) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
};

}  // namespace

std::string read_bytes(const std::string& path, const PathUse& use) {
  struct stat s {};
  if (::stat(path.c_str(), &s) != 0) cannot_read(path);
  must_be_regular(path, s, use);
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (file.fd < 0 || ::fstat(file.fd, &s) != 0) cannot_read(path);
  must_be_regular(path, s, use);
  std::string text(std::min(use.most, static_cast<std::size_t>(s.st_size)) + 1, '\0');
  std::size_t size = 0;
  while (size < text.size()) {
    const auto n = ::read(file.fd, text.data() + size, text.size() - size);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) cannot_read(path);
    if (n == 0) break;
    size += static_cast<std::size_t>(n);
    // some files (of /proc) are longer than their reported size
    if (size == text.size() && size <= use.most) text.resize(std::min(use.most + 1, 2 * size + 4096));
  }
  text.resize(size);
  return text;
}

}  // namespace odrpo
