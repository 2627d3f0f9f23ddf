// Reads a suite file with suspicion.
#include "suites/read_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "kernels/failure.hpp"
#include "suites/diagnostics.hpp"
#include "suites/text.hpp"

namespace odrpo {

namespace {

[[noreturn]] void cannot_read(const std::string& path) {
  throw Failure(Exit::io, fmt::format("{}: {}", shown(path, 4096), std::strerror(errno)));
}

void must_be_regular(const std::string& path, const struct stat& s) {
  if (S_ISREG(s.st_mode)) return;
  const char* kind = S_ISDIR(s.st_mode) ? "a directory" : S_ISFIFO(s.st_mode) ? "a pipe" : S_ISSOCK(s.st_mode) ? "a socket" : "a device";
  throw Failure(Exit::suite, fmt::format("{}: is {}, not a suite file", shown(path, 4096), kind));
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

std::string read_bytes(const std::string& path) {
  struct stat s {};
  if (::stat(path.c_str(), &s) != 0) cannot_read(path);
  must_be_regular(path, s);
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (file.fd < 0 || ::fstat(file.fd, &s) != 0) cannot_read(path);
  must_be_regular(path, s);
  std::string text(max_suite_bytes + 1, '\0');
  std::size_t size = 0;
  while (size < text.size()) {
    const auto n = ::read(file.fd, text.data() + size, text.size() - size);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) cannot_read(path);
    if (n == 0) break;
    size += static_cast<std::size_t>(n);
  }
  text.resize(size);
  return text;
}

}  // namespace

std::string read_suite_file(const std::string& path) {
  std::string text = read_bytes(path);
  Diagnostics errors(shown(path, 4096), text, {});
  if (text.size() > max_suite_bytes) errors.add({}, "larger than 1 MiB, which no suite needs");
  else if (text.find_first_not_of(" \t\r\n") == std::string::npos)
    errors.add({0, 1, 1}, "the file is empty; a suite needs [suite] and [grid]");
  else if (const auto bad = first_bad_utf8(text); bad != std::string::npos) {
    const std::string_view before = std::string_view(text).substr(0, bad);
    const auto line_begin = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
    int line = 1;
    for (const char c : before) line += c == '\n';
    const auto column = static_cast<int>(code_points(before.substr(line_begin))) + 1;
    errors.add({0, line, column}, fmt::format("byte 0x{:02x} is not UTF-8", static_cast<unsigned char>(text[bad])));
  }
  errors.finish();
  return text;
}

}  // namespace odrpo
