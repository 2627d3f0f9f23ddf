// Holds files and folders of the store open by descriptors. Its writes survive a kill or a power cut, and follow no link that somebody
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

// The system calls with which the store reads and changes files. They form one table of functions, so that tests can make any call fail.
// Private to results/store/.

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

/// The real system calls.
System posix_system();

}  // namespace odrpo

namespace odrpo::store {

/// Escapes line ends, so that no name (of a file, or read from a file) can fake a line of a message. quoted() also adds quotes.
std::string one_line(std::string_view text);
std::string quoted(std::string_view name);
/// Throws Failure `io`: "cannot WHAT PATH: reason", with the reason of `error` (an errno).
[[noreturn]] void fail_io(const std::string& what, const std::string& path, int error);

/// Repeats a call that a signal interrupted (-EINTR), at most 100 times.
template <class Call>
auto again(Call call) {
  auto result = call();
  for (int tries = 0; result == -4 /* EINTR */ && tries < 100; ++tries) result = call();
  return result;
}

/// An owner of the descriptor of a file or folder, which closes it.
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
  /// Closes the file now. Returns 0, or minus errno. An interrupted close counts as closed.
  int close();

 private:
  const System* system_ = nullptr;
  int number_ = -1;
};

/// Opens a file. number() is then its descriptor, or minus errno.
File open_file(const System& system, int folder, const std::string& name, int flags, mode_t mode = 0);
/// Writes all of these bytes at offset `at`. Returns 0, or minus errno.
int write_all(const File& file, std::string_view bytes, std::uint64_t at);
/// Reads up to `size` bytes at offset `at` (fewer at the end of the file). Returns their number, or minus errno.
ssize_t read_some(const File& file, void* to, std::size_t size, std::uint64_t at);

/// Start of the mark that tells the temporary files of several processes apart; own_mark() (lock.hpp) adds 16 digits.
inline constexpr std::string_view mark_begin = "-r";

/// A folder held open. Its files are reached through its descriptor, even if the folder is renamed.
struct Folder {
  std::string path;  ///< for messages
  File file;
  std::string mark{};  ///< mark of this process in the names of its temporary files; empty if no other process writes the folder
  int number() const { return file.number(); }
  const System& system() const { return file.system(); }
  std::string path_of(std::string_view name) const { return path + "/" + std::string(name); }
};

/// Opens a folder. Failure `io`, with `what` in the message.
Folder open_folder(const System& system, const std::string& path, const std::string& what);
/// The current path of an open folder, even if it was renamed. If the system does not tell, the path at opening.
std::string place_now(const Folder& folder);
/// Makes a new empty file of this name, after removing a file or link that has the name. Failure `io`.
File make_file(const Folder& folder, const std::string& name, mode_t mode = 0644);
/// The name of this process's temporary file for the file `name`.
inline std::string temporary(const Folder& folder, const std::string& name) { return name + folder.mark + ".tmp"; }
/// Information on the file of this name; nothing if there is none.
std::optional<struct stat> file_at(const Folder& folder, const std::string& name);

enum class Placed { done, taken, displaced };  ///< of place_file(). taken: another file has the name `to`; displaced: … the name `from`
/// Renames a folder's file `from` to the name `to` in a folder of the same file system. Replaces only the file that `seen` describes; none if it is
/// empty. After `done`, a replaced file or a second name of our file may be left at `from`. Failure `io` if renaming fails, with `what` before the
/// reason. On file systems that can neither exchange names nor refuse to replace, a file that appears between check and rename is lost.
Placed place_file(const Folder& folder, const std::string& from, const Folder& to_folder, const std::string& to,
                  const std::optional<struct stat>& seen, const std::string& what);
/// Removes the file `name` if it is still the file `seen`. First renames it to `away`, a name that no other process uses. If another file
/// had the name by then, gives it the name back. Failure `io`.
void remove_if_unchanged(const Folder& folder, const std::string& name, const struct stat& seen, const std::string& away);

/// Writes a file so that it is never half-written: temporary file, fsync, close, rename, fsync of the folder. A file that another process
/// put there meanwhile stays. Failure `io`. Several threads may write different files.
void write_safely(const Folder& folder, const std::string& name, std::initializer_list<std::string_view> parts);
/// Calls fsync on the folder. Failure `io`, except on file systems that cannot sync folders.
void sync_folder(const Folder& folder);
/// Removes a file if it exists. Failure `io`.
void remove_file(const Folder& folder, const std::string& name);
/// Names in the folder, sorted, without "." and "..". Failure `io`.
std::vector<std::string> names_in(const Folder& folder);
/// Reads all of a regular file; nothing if it does not exist. Failure `io` if it cannot be read, is not a regular file, or has more than
/// `limit` bytes.
std::optional<std::string> read_whole(const Folder& folder, const std::string& name, std::size_t limit);
/// Reads the first `size` bytes of a file, fewer if it is shorter. Failure `io`.
std::string head_of(const System& system, const std::string& path, std::size_t size);
/// folder_of: the folder part of a path, "." if it has none. name_of: the rest of the path.
std::string folder_of(const std::string& path);
std::string name_of(const std::string& path);
/// True if both describe the same file.
inline bool same_file(const struct stat& a, const struct stat& b) { return a.st_ino == b.st_ino && a.st_dev == b.st_dev; }
/// True if both describe the same file, with the same size and time of change.
inline bool unchanged(const struct stat& a, const struct stat& b) {
  return same_file(a, b) && a.st_size == b.st_size && a.st_mtim.tv_sec == b.st_mtim.tv_sec && a.st_mtim.tv_nsec == b.st_mtim.tv_nsec;
}

}  // namespace odrpo::store
