// Writes a file so that it appears complete or not at all: writes it without a name or under a temporary name, then renames it.
#include "kernels/system/output_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>

#include "kernels/shared/failure.hpp"
#include "kernels/shared/utf8.hpp"
#include "kernels/system/host.hpp"
#include "kernels/system/text.hpp"

namespace odrpo {
namespace {

[[noreturn]] void cannot_write(const std::string& path, const std::string& reason) {
  throw Failure(Exit::io, fmt::format("cannot write '{}': {}", printable_line(path), reason));
}

/// The absolute path of the file that a path means, with links followed.
std::string target_of(const std::string& path) {
  std::error_code error;
  const auto whole = std::filesystem::absolute(path, error);
  const auto target = error ? whole : std::filesystem::weakly_canonical(whole, error);
  if (error) cannot_write(path, error.message());
  return target.string();
}

/// The first part of a target's temporary name, which tells machines and process namespaces apart; process number and ".tmp" follow.
std::string aside_begin(const std::string& target) {
  utsname system{};
  std::string digits = process_space();
  std::erase_if(digits, [](char c) { return c < '0' || c > '9'; });
  return fmt::format("{}.{}-{}.", target, ::uname(&system) == 0 ? system.nodename : "", digits);
}
std::string aside_name(const std::string& target) { return fmt::format("{}{}.tmp", aside_begin(target), ::getpid()); }

/// Removes temporary files of a target that were left by killed processes of this machine and user.
void remove_left_over(const std::string& target) {
  const std::filesystem::path begin = aside_begin(target);
  std::error_code error;
  for (std::filesystem::directory_iterator entry(begin.parent_path(), error), end; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename(), start = begin.filename();
    if (!name.starts_with(start) || !name.ends_with(".tmp")) continue;
    const std::string_view number = std::string_view(name).substr(start.size(), name.size() - start.size() - 4);
    const pid_t process = number_from<pid_t>(number).value_or(0);
    if (process <= 0) continue;
    struct stat info {};
    const bool dead = process == ::getpid() || (::kill(process, 0) != 0 && errno == ESRCH);
    if (dead && ::lstat(entry->path().c_str(), &info) == 0 && S_ISREG(info.st_mode) && info.st_uid == ::geteuid()) ::unlink(entry->path().c_str());
  }
}

}  // namespace

bool write_fully(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto n = ::write(file, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

bool exists(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

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

OutputFile::OutputFile(const std::string& path) : path_(path), target_(target_of(path)) {
  remove_left_over(target_);
  struct stat old {};
  const mode_t mode = ::stat(target_.c_str(), &old) == 0 ? old.st_mode & 0666 : 0666;  // keeps a stricter mode of the replaced file
  const std::string folder = std::filesystem::path(target_).parent_path().string();
  // a file without a name (O_TMPFILE) vanishes if the program is killed. Not every file system has it; commit() names it through /proc
  if (::access("/proc/self/fd", X_OK) == 0) file_ = ::open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, mode);
  if (file_ < 0) open_named(mode);
}

void OutputFile::open_named(unsigned mode) {
  aside_ = aside_name(target_);
  file_ = ::open(aside_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
  if (file_ < 0) {
    const int error = errno;
    aside_.clear();  // the destructor must not delete a file that another process made
    cannot_write(path_, std::strerror(error));
  }
}

OutputFile::~OutputFile() {
  if (file_ >= 0) ::close(file_);
  if (!aside_.empty()) ::unlink(aside_.c_str());
}

void OutputFile::write(std::string_view text) {
  if (!write_fully(file_, text)) cannot_write(path_, std::strerror(errno));
}

void OutputFile::commit() {
  if (::fsync(file_) != 0 && errno != EINVAL) cannot_write(path_, std::strerror(errno));
  if (aside_.empty()) {
    const std::string name = aside_name(target_);
    if (::linkat(AT_FDCWD, fmt::format("/proc/self/fd/{}", file_).c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) != 0)
      cannot_write(path_, std::strerror(errno));
    aside_ = name;
  }
  if (::close(std::exchange(file_, -1)) != 0) cannot_write(path_, std::strerror(errno));
  if (std::rename(aside_.c_str(), target_.c_str()) != 0) cannot_write(path_, std::strerror(errno));
  aside_.clear();
}

void write_output(const std::string& path, std::string_view text) {
  OutputFile file(path);
  file.write(text);
  file.commit();
}

}  // namespace odrpo
