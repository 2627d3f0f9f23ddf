// The system calls that change or read what the store keeps. One table of functions, so that tests can make any call fail. Private to
// results/store/.
#pragma once
#include <sys/types.h>

#include <cstddef>
#include <functional>

namespace odrpo {

/// Every function returns what its system call returns, or minus errno. Names are relative to a folder's descriptor (or AT_FDCWD).
struct System {
  std::function<int(int folder, const char* name, int flags, mode_t mode)> open;                     ///< openat
  std::function<int(int file)> close;                                                                ///< close
  std::function<ssize_t(int file, void* to, std::size_t size, off_t at)> read;                       ///< pread
  std::function<ssize_t(int file, const void* from, std::size_t size, off_t at)> write;              ///< pwrite
  std::function<int(int file, off_t size)> resize;                                                   ///< ftruncate
  std::function<int(int file)> sync;                                                                 ///< fsync
  std::function<int(int folder, const char* from, int to_folder, const char* to, unsigned)> rename;  ///< renameat2
  std::function<int(int folder, const char* from, int to_folder, const char* to)> link;              ///< linkat
  std::function<int(int folder, const char* name, int flags)> unlink;                                ///< unlinkat
  std::function<int(int folder, const char* name, mode_t mode)> mkdir;                               ///< mkdirat
  std::function<int(int file)> flock;                                                                ///< flock, LOCK_EX | LOCK_NB
};

/// The calls themselves.
System posix_system();

}  // namespace odrpo
