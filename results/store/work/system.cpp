// The store's system calls, by POSIX and Linux.
#include "results/store/work/system.hpp"

#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

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
