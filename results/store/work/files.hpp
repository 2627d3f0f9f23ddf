// Keeps files and folders of the store open by descriptors. Writes survive a kill or a power cut, and go through no link that somebody
// planted. Private to results/store/.
#pragma once
#include <sys/stat.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// The system calls that change or read what the store keeps. One table of functions, so that tests can make any call fail. Private to
// results/store/.

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

namespace odrpo::store {

/// Escapes line ends, so that no name, of a file or in it, can forge a line of a message; `quoted` adds quotes.
std::string one_line(std::string_view text);
std::string quoted(std::string_view name);
/// Throws Failure io: "cannot WHAT PATH: reason" with the reason of `error` (an errno).
[[noreturn]] void fail_io(const std::string& what, const std::string& path, int error);

/// Calls again while a signal interrupts the call (-EINTR), at most 100 times.
template <class Call>
auto again(Call call) {
  auto result = call();
  for (int tries = 0; result == -4 /* EINTR */ && tries < 100; ++tries) result = call();
  return result;
}

/// An open file or folder that closes itself.
class File {
 public:
  File() = default;
  File(const System& system, int number) : system_(&system), number_(number) {}
  File(File&& other) noexcept : system_(other.system_), number_(std::exchange(other.number_, -1)) {}
  File& operator=(File&& other) noexcept {
    std::swap(system_, other.system_);
    std::swap(number_, other.number_);
    return *this;
  }
  ~File() { close(); }
  int number() const { return number_; }
  explicit operator bool() const { return number_ >= 0; }
  const System& system() const { return *system_; }
  /// Closes it now: 0, or minus errno. An interrupted close has closed.
  int close();

 private:
  const System* system_ = nullptr;
  int number_ = -1;
};

/// Opens a file: >= 0, or minus errno in number().
File open_file(const System& system, int folder, const std::string& name, int flags, mode_t mode = 0);
/// All of these bytes, at this place: 0, or minus errno.
int write_all(const File& file, std::string_view bytes, std::uint64_t at);
/// Up to `size` bytes at this place (fewer at the end of the file), or minus errno.
ssize_t read_some(const File& file, void* to, std::size_t size, std::uint64_t at);

/// Begins the mark that tells temporary files of several processes apart; 16 digits of own_mark() follow.
inline constexpr std::string_view mark_begin = "-r";

/// A folder held open. Its files are reached through its descriptor, whatever happens to its name.
struct Folder {
  std::string path;  ///< for messages
  File file;
  std::string mark{};  ///< in names of temporary files: whose they are, where several processes write the folder
  int number() const { return file.number(); }
  const System& system() const { return file.system(); }
  std::string path_of(std::string_view name) const { return path + "/" + std::string(name); }
};

/// Opens a folder; Failure io, with `what` in the message.
Folder open_folder(const System& system, const std::string& path, const std::string& what);
/// Where an open folder is now, even if it was renamed; its path at opening where the system does not say.
std::string place_now(const Folder& folder);
/// Makes a new empty file of this name, in place of any file or link that has it. Failure io.
File make_file(const Folder& folder, const std::string& name, mode_t mode = 0644);
/// The name of this process's temporary file of a name.
inline std::string temporary(const Folder& folder, const std::string& name) { return name + folder.mark + ".tmp"; }
/// The file at a name, if there is one.
std::optional<struct stat> file_at(const Folder& folder, const std::string& name);

enum class Placed { done, taken, displaced };  ///< taken: another file is there, and stays; displaced: another one is now where ours was
/// Gives a folder's file `from` the name `to` in a folder of the same file system. Replaces the very file `seen` there, or none. After
/// `done` a file that was replaced, or a second name of ours, may be left at `from`. Failure io where it cannot be, with `what` before the
/// reason. A race between look and rename remains on file systems that can neither exchange names nor refuse to replace.
Placed place_file(const Folder& folder, const std::string& from, const Folder& to_folder, const std::string& to,
                  const std::optional<struct stat>& seen, const std::string& what);
/// Removes the file `name` if it is the very file `seen`, by way of the name `away`, which nobody else uses. Another file that has the name
/// by then gets it back. Failure io.
void remove_if_unchanged(const Folder& folder, const std::string& name, const struct stat& seen, const std::string& away);

/// Writes a temporary file, fsync, close, rename, fsync of the folder; leaves nothing half-written. A file that another process has put there in
/// the meantime stays. Failure io. Several threads may write different files.
void write_safely(const Folder& folder, const std::string& name, std::initializer_list<std::string_view> parts);
/// fsync; Failure io. File systems that cannot sync a folder are left alone.
void sync_folder(const Folder& folder);
/// Removes a file, if it is there. Failure io.
void remove_file(const Folder& folder, const std::string& name);
/// Names in the folder, sorted, without "." and "..". Failure io.
std::vector<std::string> names_in(const Folder& folder);
/// A regular file, whole; nothing when it is not there. Failure io when it cannot be read, also when it is no regular file or has more than
/// `limit` bytes.
std::optional<std::string> read_whole(const Folder& folder, const std::string& name, std::size_t limit);
/// The first `size` bytes of a file, fewer when it is shorter. Failure io.
std::string head_of(const System& system, const std::string& path, std::size_t size);
/// Folder part of a path ("." when it has none), and the rest.
std::string folder_of(const std::string& path);
std::string name_of(const std::string& path);
/// Do both describe one file?
inline bool same_file(const struct stat& a, const struct stat& b) { return a.st_ino == b.st_ino && a.st_dev == b.st_dev; }
/// One file that has not changed?
inline bool unchanged(const struct stat& a, const struct stat& b) {
  return same_file(a, b) && a.st_size == b.st_size && a.st_mtim.tv_sec == b.st_mtim.tv_sec && a.st_mtim.tv_nsec == b.st_mtim.tv_nsec;
}

}  // namespace odrpo::store
