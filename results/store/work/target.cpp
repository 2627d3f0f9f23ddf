// Where a run's output goes: links are followed, and what is no result file is never replaced.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "kernels/shared/failure.hpp"
#include "results/store/store.hpp"
#include "results/store/work/files.hpp"

namespace odrpo {
namespace {

constexpr int most_links = 40;  // as the kernel's own limit

[[noreturn]] void cannot_write(const std::string& path, const std::string& why) {
  throw Failure(Exit::io, "cannot write " + store::quoted(path) + ": " + why);
}

/// The name at the end of the links, whether or not something is there.
std::string followed(std::string path) {
  const std::string asked = path;
  for (int links = 0; links < most_links; ++links) {
    struct stat info {};
    if (::lstat(path.c_str(), &info) != 0 || !S_ISLNK(info.st_mode)) return path;
    if (struct stat around{}; ::stat(store::folder_of(path).c_str(), &around) == 0 && (around.st_mode & S_ISVTX) &&
                              (around.st_mode & S_IWOTH) && info.st_uid != ::geteuid() && info.st_uid != around.st_uid)
      cannot_write(asked, store::quoted(path) + " is a link that another user made in a folder where everybody may write");
    std::string to(4096, '\0');
    const ssize_t size = ::readlink(path.c_str(), to.data(), to.size());
    if (size <= 0) store::fail_io("write", asked, errno);
    to.resize(static_cast<std::size_t>(size));
    path = to.front() == '/' || path.find('/') == std::string::npos ? to : store::folder_of(path) + "/" + to;
  }
  store::fail_io("write", asked, ELOOP);
}

}  // namespace

std::string output_target(const std::string& path) {
  if (path.empty() || path.back() == '/') throw Failure(Exit::io, store::quoted(path) + " is not a file name");
  struct stat info {
  }, end{};
  const bool there = ::stat(path.c_str(), &info) == 0;
  if (!there && errno != ENOENT) store::fail_io("write", path, errno);
  if (there && !S_ISREG(info.st_mode)) cannot_write(path, "it exists and is not a regular file");
  const std::string target = followed(path);
  if (there) {  // links of /proc name files that have no name
    if (::stat(target.c_str(), &end) != 0 || end.st_ino != info.st_ino || end.st_dev != info.st_dev)
      cannot_write(path, "it is a link to a file without a name");
    if (const std::string head = store::head_of(posix_system(), target, hdf5_signature.size()); !head.empty() && head != hdf5_signature)
      throw Failure(Exit::io, store::quoted(path) + " is not a result file; choose another -o");
    for (int stream = 0; stream <= 2; ++stream)  // still empty, but the table goes there
      if (struct stat open{}; info.st_size == 0 && ::fstat(stream, &open) == 0 && open.st_ino == info.st_ino && open.st_dev == info.st_dev)
        cannot_write(path, "it is this program's own input or output");
  } else if (const std::string folder = store::folder_of(target); ::stat(folder.c_str(), &info) != 0) {
    cannot_write(target, "its folder " + store::quoted(folder) + ": " + std::strerror(errno));
  }
  return target;
}

}  // namespace odrpo
