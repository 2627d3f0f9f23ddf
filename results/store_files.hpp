// Files that survive a kill: write aside, fsync, rename, fsync of the folder; and the lock of a work folder. Private to results/store*.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace odrpo::store {

/// Line ends escaped, so that no name, of a file or in it, can forge a line of a message; and the same in quotes.
std::string one_line(std::string_view text);
std::string quoted(std::string_view name);
/// Throws Failure io: "cannot WHAT PATH: reason" with the reason of `error` (an errno).
[[noreturn]] void fail_io(const std::string& what, const std::string& path, int error);

/// Writes bytes (and `more` behind them) to `path` with a suffix .tmp beside it, fsync, rename, fsync of the folder; leaves nothing
/// half-written. Failure io. Several threads may write different files.
void write_safely(const std::string& path, std::string_view bytes, std::string_view more = {});
/// Makes a file, or empties it. Failure io.
void make_empty(const std::string& path);
/// fsync of a file or folder by name. Failure io.
void sync_path(const std::string& path);
/// Names in a folder, sorted, without "." and "..". Failure io.
std::vector<std::string> names_in(const std::string& folder);
/// A small text file of at most `limit` bytes; empty when it is not there.
std::string read_small(const std::string& path, std::size_t limit);
/// The first `size` bytes of a file, fewer when it is shorter. Failure io.
std::string head_of(const std::string& path, std::size_t size);
/// Can it be opened? HDF5 does not tell a file that is damaged from one that cannot be opened now. Failure io.
void check_opens(const std::string& path);
/// A regular file of at most `limit` bytes, whole; nothing when it is not there, is something else or larger, or cannot be read.
std::optional<std::string> read_whole(const std::string& path, std::size_t limit);
/// Folder part of a path, "." when it has none.
std::string folder_of(const std::string& path);

/// An exclusive flock on a file that it creates; released at destruction or when the process dies.
class Lock {
 public:
  Lock() = default;
  /// Failure io when another process holds it (`message` is shown then) or when it cannot be made.
  Lock(const std::string& path, const std::string& message);
  Lock& operator=(Lock&& other) noexcept;
  ~Lock();
  explicit operator bool() const { return file_ >= 0; }  ///< held

 private:
  int file_ = -1;
};

}  // namespace odrpo::store
