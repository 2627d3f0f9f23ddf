// Reads a file in a child process, since HDF5 1.10 crashes or hangs on some damaged files. The child sends frames of bytes through a pipe;
// the parent reads no file but a small one that it has just written itself (ReadLimits::here). Private to results/store/.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/shared/failure.hpp"
#include "results/store/file/read.hpp"
#include "results/store/store.hpp"

namespace odrpo::store {

/// Sends a frame (one message of bytes) from the child process to the parent.
using Send = std::function<void(const std::string& frame)>;

/// An untrusted file that this process has opened: all later reads use this open file, even if its name changes.
struct UntrustedFile {
  std::string path;
  File file;
  struct stat info {};
  std::uint64_t size() const { return static_cast<std::uint64_t>(info.st_size); }
};
/// Opens a file by path. Failure `io` if it cannot be opened, or is not a regular file.
UntrustedFile open_untrusted(const System& system, const std::string& path);
/// Opens a file by its name in a folder that is held open; follows no link. `path` is for messages.
UntrustedFile open_untrusted(const Folder& folder, const std::string& name, const std::string& path);

/// Calls `read` with a reader of the file in a child process (in this one if limits.here), and `receive` in this process with every frame that the child sends, in
/// order. The child may use `memory` bytes. Failure as with_reader(); `limits` if the child takes too long or too much memory.
void in_child(const UntrustedFile& file, const ReadLimits& limits, std::size_t memory,
              const std::function<void(Reader&, const Send&)>& read, const std::function<void(std::string_view frame)>& receive);

/// Passes all runs of a file in file order to `slab`. Failure `bad_input` if its digest or a checksum is wrong. Calls `head` first.
/// `with_records`: whole records; otherwise the texts, axes and final values of each run, without its curves.
void read_checked_runs(const UntrustedFile& file, const ReadLimits& limits, bool with_records,
                       const std::function<void(const ResultFile& head)>& head, const std::function<void(std::vector<RunRecord>&)>& slab);

/// Compares every data set with its checksum and computes the result digest. Reads the columns that `choose` names, if it is given, and those
/// that are always read.
Verification verify(const UntrustedFile& file, const ReadLimits& limits, const ChooseColumns& choose = {});

/// Calls `call`. If that throws a Failure `limits`, adds to its message the flags that raise the limits.
template <class Call>
auto with_limit_hint(Call call) try {
  return call();
} catch (const Failure& failure) {
  if (failure.code != Exit::limits) throw;
  throw Failure(Exit::limits, std::string(failure.what()) + "; --max-seconds and --max-memory raise the limits");
}

/// Returns generous limits on time and memory for reading an output file that the user's own suite wrote.
ReadLimits own_limits(const UntrustedFile& file);

/// True if the file is an HDF5 file that this program did not write, so that no command may replace it. Such a file can be opened by HDF5,
/// and lacks the root attributes of result files.
bool is_foreign(const UntrustedFile& file);

// The transfer of the root table from the reading process to this one: first its head, then slabs of columns. Private to results/store/.

/// Sends the head, and the columns that `choose` names. Throws what the reader or `choose` throws.
void send_table(Reader& reader, const ChooseColumns& choose, const Send& send);

/// Rebuilds the root table from frames. Stores each different text once, and a code per run (Column). A malicious file may hold very many
/// different texts, so their memory is counted.
class TableReceiver {
 public:
  /// Columns may take at most `room` bytes; above that take() throws TooLarge.
  explicit TableReceiver(std::size_t room) : room_(room) {}
  /// Takes one frame. Throws Hdf5Error for a frame that send_table() cannot have sent.
  void take(std::string_view frame);
  ResultFile result;

 private:
  Column& column(std::uint32_t number);
  void add(Column& column, const std::vector<std::string>& texts);
  void add(Column& column, const std::vector<double>& numbers);
  void charge(std::size_t bytes);
  std::size_t room_;
  bool has_head_ = false;
  std::map<std::string, std::uint32_t> codes_;  ///< of the current column; a sorted map, since a file could make a hash table slow
};

}  // namespace odrpo::store
