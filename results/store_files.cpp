// Files that survive a kill, by POSIX calls.
#include "results/store_files.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "kernels/failure.hpp"

namespace odrpo::store {
namespace {

/// A file descriptor that closes itself.
struct File {
  int number;
  explicit File(int n) : number(n) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
    if (number >= 0) ::close(number);
  }
};

}  // namespace

std::string one_line(std::string_view text) {
  std::string line;
  for (const char c : text)
    if (c == '\n') line += "\\x0a";
    else line += c;
  return line;
}
std::string quoted(std::string_view name) { return "'" + one_line(name) + "'"; }

void fail_io(const std::string& what, const std::string& path, int error) {
  throw Failure(Exit::io, "cannot " + what + " " + quoted(path) + ": " + std::strerror(error));
}

std::string folder_of(const std::string& path) {
  const auto slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

void sync_path(const std::string& path) {
  const File file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.number < 0) fail_io("open", path, errno);
  if (::fsync(file.number) != 0 && errno != EINVAL) fail_io("sync", path, errno);
}

void make_empty(const std::string& path) {
  const File file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (file.number < 0) fail_io("write", path, errno);
}

void write_safely(const std::string& path, std::string_view bytes, std::string_view more) {
  const std::string aside = path + ".tmp";
  try {
    File file(::open(aside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
    if (file.number < 0) fail_io("write", aside, errno);
    for (std::string_view part : {bytes, more})
      while (!part.empty()) {
        const ssize_t count = ::write(file.number, part.data(), part.size());
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) fail_io("write", aside, errno);
        part.remove_prefix(static_cast<std::size_t>(count));
      }
    if (::fsync(file.number) != 0) fail_io("sync", aside, errno);
    if (::close(std::exchange(file.number, -1)) != 0) fail_io("close", aside, errno);
    if (::rename(aside.c_str(), path.c_str()) != 0) fail_io("rename to", path, errno);
  } catch (const Failure&) {
    ::unlink(aside.c_str());  // what fills the disk helps nobody
    throw;
  }
  sync_path(folder_of(path));
}

std::vector<std::string> names_in(const std::string& folder) {
  DIR* directory = ::opendir(folder.c_str());
  if (!directory) fail_io("list", folder, errno);
  std::vector<std::string> names;
  while (const dirent* entry = ::readdir(directory))
    if (std::strcmp(entry->d_name, ".") != 0 && std::strcmp(entry->d_name, "..") != 0) names.emplace_back(entry->d_name);
  ::closedir(directory);
  std::sort(names.begin(), names.end());
  return names;
}

std::string read_small(const std::string& path, std::size_t limit) {
  const File file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.number < 0) return "";
  std::string text(limit, '\0');
  const ssize_t count = ::read(file.number, text.data(), limit);
  text.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  return text;
}

std::string head_of(const std::string& path, std::size_t size) {
  const File file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.number < 0) fail_io("read", path, errno);
  std::string bytes(size, '\0');
  const ssize_t count = ::read(file.number, bytes.data(), size);
  if (count < 0) fail_io("read", path, errno);
  bytes.resize(static_cast<std::size_t>(count));
  return bytes;
}

void check_opens(const std::string& path) {
  const File file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.number < 0) fail_io("read", path, errno);
}

std::optional<std::string> read_whole(const std::string& path, std::size_t limit) {
  const File file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW));
  struct stat info {};
  if (file.number < 0 || ::fstat(file.number, &info) != 0 || !S_ISREG(info.st_mode)) return std::nullopt;
  if (info.st_size < 0 || static_cast<std::size_t>(info.st_size) > limit) return std::nullopt;
  std::string bytes(static_cast<std::size_t>(info.st_size), '\0');
  for (std::size_t at = 0; at < bytes.size();) {
    const ssize_t count = ::read(file.number, bytes.data() + at, bytes.size() - at);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return std::nullopt;
    at += static_cast<std::size_t>(count);
  }
  return bytes;
}

Lock::Lock(const std::string& path, const std::string& message) {
  for (int tries = 0;; ++tries) {
    const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (file < 0) fail_io("write", path, errno);
    if (::flock(file, LOCK_EX | LOCK_NB) != 0) {
      const int error = errno;
      ::close(file);
      if (error == EWOULDBLOCK && tries < 10) {  // a killed holder may still be going
        ::usleep(20'000);
        continue;
      }
      if (error == EWOULDBLOCK) throw Failure(Exit::io, message);
      fail_io("lock", path, error);
    }
    struct stat ours {
    }, now{};  // the holder before us may have removed the file between our open and our lock
    if (::fstat(file, &ours) == 0 && ::stat(path.c_str(), &now) == 0 && ours.st_ino == now.st_ino && ours.st_dev == now.st_dev) {
      file_ = file;
      return;
    }
    ::close(file);
  }
}
Lock& Lock::operator=(Lock&& other) noexcept {
  std::swap(file_, other.file_);
  return *this;
}
Lock::~Lock() {
  if (file_ >= 0) ::close(file_);
}

}  // namespace odrpo::store
