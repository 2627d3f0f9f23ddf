// Writes files that survive a kill, and reaches files through the descriptor of their folder.
#include "results/store/work/files.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "kernels/shared/failure.hpp"

namespace odrpo::store {

static_assert(EINTR == 4);

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
std::string name_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

int File::close() {
  if (number_ < 0) return 0;
  const int result = system_->close(std::exchange(number_, -1));
  return result == -EINTR ? 0 : result;
}

File open_file(const System& system, int folder, const std::string& name, int flags, mode_t mode) {
  return {system, again([&] { return system.open(folder, name.c_str(), flags, mode); })};
}

int write_all(const File& file, std::string_view bytes, std::uint64_t at) {
  while (!bytes.empty()) {
    const ssize_t count =
        again([&] { return file.system().write(file.number(), bytes.data(), bytes.size(), static_cast<off_t>(at)); });
    if (count < 0) return static_cast<int>(count);
    if (count == 0) return -EIO;  // POSIX allows 0 for no regular file
    bytes.remove_prefix(static_cast<std::size_t>(count));
    at += static_cast<std::uint64_t>(count);
  }
  return 0;
}

ssize_t read_some(const File& file, void* to, std::size_t size, std::uint64_t at) {
  std::size_t done = 0;
  while (done < size) {
    const ssize_t count = again([&] {
      return file.system().read(file.number(), static_cast<char*>(to) + done, size - done, static_cast<off_t>(at + done));
    });
    if (count < 0) return count;
    if (count == 0) break;
    done += static_cast<std::size_t>(count);
  }
  return static_cast<ssize_t>(done);
}

Folder open_folder(const System& system, const std::string& path, const std::string& what) {
  File file = open_file(system, AT_FDCWD, path, O_RDONLY | O_DIRECTORY);
  if (!file) fail_io(what, path, -file.number());
  return {path, std::move(file)};
}

std::string place_now(const Folder& folder) {
  std::string path(4096, '\0');
  const ssize_t size = ::readlink(("/proc/self/fd/" + std::to_string(folder.number())).c_str(), path.data(), path.size());
  return size > 0 ? path.substr(0, static_cast<std::size_t>(size)) : folder.path;
}

File make_file(const Folder& folder, const std::string& name, mode_t mode) {
  remove_file(folder, name);
  File file = open_file(folder.system(), folder.number(), name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, mode);
  if (!file) fail_io("write", folder.path_of(name), -file.number());
  return file;
}

std::optional<struct stat> file_at(const Folder& folder, const std::string& name) {
  struct stat info {};
  if (::fstatat(folder.number(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) return std::nullopt;
  return info;
}

Placed place_file(const Folder& folder, const std::string& from, const Folder& to_folder, const std::string& to,
                  const std::optional<struct stat>& seen, const std::string& what) {
  const auto rename = [&](unsigned flags) {
    return again([&] { return folder.system().rename(folder.number(), from.c_str(), to_folder.number(), to.c_str(), flags); });
  };
  const auto unsupported = [](int error) { return error == -EINVAL || error == -ENOSYS || error == -EOPNOTSUPP || error == -EPERM; };
  const auto there = file_at(to_folder, to);
  if (there && !(seen && unchanged(*seen, *there))) return Placed::taken;
  int error = rename(there ? RENAME_EXCHANGE : RENAME_NOREPLACE);
  if (error == -EEXIST) return Placed::taken;
  if (there && error == -ENOENT) error = rename(RENAME_NOREPLACE);  // it was removed just now
  if (there && error == 0) {
    if (const auto out = file_at(folder, from); out && !unchanged(*seen, *out))  // another file replaced it just now: exchange back
      return rename(RENAME_EXCHANGE) == 0 ? Placed::taken : Placed::displaced;
  } else if (!there && unsupported(error)) {
    error = again([&] { return folder.system().link(folder.number(), from.c_str(), to_folder.number(), to.c_str()); });
    if (error == -EEXIST) return Placed::taken;
  }
  if (unsupported(error)) {  // neither exchange nor link is supported: check once more, then rename
    const auto now = file_at(to_folder, to);
    if (now && !(seen && unchanged(*seen, *now))) return Placed::taken;
    error = rename(0);
  }
  if (error < 0) fail_io(what, to_folder.path_of(to), -error);
  return Placed::done;
}

void remove_if_unchanged(const Folder& folder, const std::string& name, const struct stat& seen, const std::string& away) {
  const System& system = folder.system();
  const int error = again([&] { return system.rename(folder.number(), name.c_str(), folder.number(), away.c_str(), 0); });
  if (error == -ENOENT) return;
  if (error < 0) fail_io("remove", folder.path_of(name), -error);
  const auto moved = file_at(folder, away);
  if (!moved || same_file(seen, *moved)) return remove_file(folder, away);
  if (place_file(folder, away, folder, name, std::nullopt, "put back") == Placed::done) remove_file(folder, away);
}

void write_safely(const Folder& folder, const std::string& name, std::initializer_list<std::string_view> parts) {
  const auto seen = file_at(folder, name);
  const std::string aside = temporary(folder, name);
  const System& system = folder.system();
  File file = make_file(folder, aside);
  Placed placed;
  try {
    std::uint64_t at = 0;
    for (const std::string_view part : parts) {
      if (const int error = write_all(file, part, at); error < 0) fail_io("write", folder.path_of(aside), -error);
      at += part.size();
    }
    if (const int error = again([&] { return system.sync(file.number()); }); error < 0) fail_io("sync", folder.path_of(aside), -error);
    if (const int error = file.close(); error < 0) fail_io("close", folder.path_of(aside), -error);
    placed = place_file(folder, aside, folder, name, seen, "rename to");
  } catch (const Failure&) {
    system.unlink(folder.number(), aside.c_str(), 0);  // a partial file would only fill the disk
    throw;
  }
  if (placed == Placed::displaced) throw Failure(Exit::io, "another file took the place of " + quoted(folder.path_of(name)) + " at the last moment");
  sync_folder(folder);
  if (file_at(folder, aside)) remove_file(folder, aside);
}

void sync_folder(const Folder& folder) {
  const int error = again([&] { return folder.system().sync(folder.number()); });
  if (error < 0 && error != -EINVAL) fail_io("sync", folder.path, -error);
}

void remove_file(const Folder& folder, const std::string& name) {
  const int error = again([&] { return folder.system().unlink(folder.number(), name.c_str(), 0); });
  if (error < 0 && error != -ENOENT) fail_io("remove", folder.path_of(name), -error);
}

std::vector<std::string> names_in(const Folder& folder) {
  const int copy = again([&] { return folder.system().open(folder.number(), ".", O_RDONLY | O_DIRECTORY, 0); });
  if (copy < 0) {
    if (copy == -ENOENT) return {};  // the folder was removed
    fail_io("list", folder.path, -copy);
  }
  DIR* directory = ::fdopendir(copy);
  if (!directory) {
    const int error = errno;
    folder.system().close(copy);
    fail_io("list", folder.path, error);
  }
  std::vector<std::string> names;
  errno = 0;
  while (const dirent* entry = ::readdir(directory))
    if (std::strcmp(entry->d_name, ".") != 0 && std::strcmp(entry->d_name, "..") != 0) names.emplace_back(entry->d_name);
  const int error = errno;
  ::closedir(directory);
  if (error != 0) fail_io("list", folder.path, error);
  std::sort(names.begin(), names.end());
  return names;
}

std::optional<std::string> read_whole(const Folder& folder, const std::string& name, std::size_t limit) {
  const std::string path = folder.path_of(name);
  const File file = open_file(folder.system(), folder.number(), name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW);
  if (file.number() == -ENOENT) return std::nullopt;
  struct stat info {};
  if (!file) fail_io("read", path, -file.number());
  if (::fstat(file.number(), &info) != 0) fail_io("read", path, errno);
  if (!S_ISREG(info.st_mode)) throw Failure(Exit::io, "cannot read " + quoted(path) + ": not a regular file");
  if (info.st_size < 0 || static_cast<std::size_t>(info.st_size) > limit) fail_io("read", path, EFBIG);
  std::string bytes(static_cast<std::size_t>(info.st_size), '\0');
  const ssize_t count = read_some(file, bytes.data(), bytes.size(), 0);
  if (count < 0) fail_io("read", path, static_cast<int>(-count));
  bytes.resize(static_cast<std::size_t>(count));
  return bytes;
}

std::string head_of(const System& system, const std::string& path, std::size_t size) {
  const File file = open_file(system, AT_FDCWD, path, O_RDONLY | O_NONBLOCK);
  if (!file) fail_io("read", path, -file.number());
  std::string bytes(size, '\0');
  const ssize_t count = read_some(file, bytes.data(), size, 0);
  if (count < 0) fail_io("read", path, static_cast<int>(-count));
  bytes.resize(static_cast<std::size_t>(count));
  return bytes;
}

}  // namespace odrpo::store

// Binds the table of the store's system calls to POSIX and Linux.

namespace odrpo {
namespace {

template <class T>
T checked(T result) {
  return result < 0 ? static_cast<T>(-errno) : result;
}

}  // namespace

System posix_system() {
  System s;
  s.open = [](int folder, const char* name, int flags, mode_t mode) { return checked(::openat(folder, name, flags | O_CLOEXEC, mode)); };
  s.close = [](int file) { return checked(::close(file)); };
  s.read = [](int file, void* to, std::size_t size, off_t at) { return checked(::pread(file, to, size, at)); };
  s.write = [](int file, const void* from, std::size_t size, off_t at) { return checked(::pwrite(file, from, size, at)); };
  s.resize = [](int file, off_t size) { return checked(::ftruncate(file, size)); };
  s.sync = [](int file) { return checked(::fsync(file)); };
  s.rename = [](int folder, const char* from, int to_folder, const char* to, unsigned flags) {
    return checked(flags == 0 ? ::renameat(folder, from, to_folder, to) : ::renameat2(folder, from, to_folder, to, flags));
  };
  s.link = [](int folder, const char* from, int to_folder, const char* to) { return checked(::linkat(folder, from, to_folder, to, 0)); };
  s.unlink = [](int folder, const char* name, int flags) { return checked(::unlinkat(folder, name, flags)); };
  s.mkdir = [](int folder, const char* name, mode_t mode) { return checked(::mkdirat(folder, name, mode)); };
  s.flock = [](int file) { return checked(::flock(file, LOCK_EX | LOCK_NB)); };
  return s;
}

}  // namespace odrpo
