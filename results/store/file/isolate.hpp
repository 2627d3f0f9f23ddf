// Reads a file in a child process: HDF5 1.10 crashes or hangs on some damaged files, and that must not take this program along. The child
// sends frames of bytes through a pipe; this process never looks into the file. Private to results/store/.
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

/// Sends a frame to the parent.
using Send = std::function<void(const std::string& frame)>;

/// An untrusted file, opened by this process: every later read is of this very file.
struct UntrustedFile {
  std::string path;
  File file;
  struct stat info {};
  std::uint64_t size() const { return static_cast<std::uint64_t>(info.st_size); }
};
/// Failure io when it cannot be opened, or is not a regular file.
UntrustedFile open_untrusted(const System& system, const std::string& path);
/// The same of a name in a folder that is held open, not through a link.
UntrustedFile open_untrusted(const Folder& folder, const std::string& name, const std::string& path);

/// Calls `read` with a reader of the file in a child process, and `receive` with every frame that it sends, in order. The child may take
/// `memory` bytes. Failure as with_reader(); limits when the child takes too long or too much memory.
void in_child(const UntrustedFile& file, const ReadLimits& limits, std::size_t memory,
              const std::function<void(Reader&, const Send&)>& read, const std::function<void(std::string_view frame)>& receive);

/// All runs of a file in file order, slab by slab, when its digest and checksums are right (bad_input otherwise). `head` comes first.
/// `with_records`: whole records; else only their words.
void read_checked_runs(const UntrustedFile& file, const ReadLimits& limits, bool with_records,
                       const std::function<void(const ResultFile& head)>& head, const std::function<void(std::vector<RunRecord>&)>& slab);

/// Everything compared with its checksum, and the digest computed.
Verification verify(const UntrustedFile& file, const ReadLimits& limits);

/// Calls `call`; a Failure limits names the flags that raise the limits.
template <class Call>
auto with_limit_hint(Call call) try {
  return call();
} catch (const Failure& failure) {
  if (failure.code != Exit::limits) throw;
  throw Failure(Exit::limits, std::string(failure.what()) + "; --max-seconds and --max-memory raise the limits");
}

/// Generous limits, for a file that this user's suite writes.
ReadLimits own_limits(const UntrustedFile& file);

/// Is this an HDF5 file of somebody else's, which nothing may replace? HDF5 can open it, and it lacks the root attributes of ours.
bool is_foreign(const UntrustedFile& file);

// The root table on its way from the reading process to this one: its head first, then slabs of columns. Private to results/store/.

/// Sends the head and the columns that `choose` names. Throws what the reader throws, and what `choose` throws.
void send_table(Reader& reader, const ChooseColumns& choose, const Send& send);

/// Puts frames together again. Texts become codes; an odd file may have very many different ones, which are counted.
class TableReceiver {
 public:
  /// At most `room` bytes of columns: TooLarge otherwise.
  explicit TableReceiver(std::size_t room) : room_(room) {}
  /// Throws Hdf5Error for what send_table() does not send.
  void take(std::string_view frame);
  ResultFile result;

 private:
  Column& column(std::uint32_t number);
  void add(Column& column, const std::vector<std::string>& texts);
  void add(Column& column, const std::vector<double>& numbers);
  void charge(std::size_t bytes);
  std::size_t room_;
  bool has_head_ = false;
  std::map<std::string, std::uint32_t> codes_;  ///< of the column that is coming; a hash table could be made slow by the file
};

}  // namespace odrpo::store
