// Defines the state of an open WorkFolder, its small text files, checkpoints and row file. Private to results/store/.
#pragma once
#include <sys/stat.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "results/store/file/layout.hpp"
#include "results/store/record.hpp"
#include "results/store/store.hpp"
#include "results/store/work/files.hpp"
#include "results/store/work/lock.hpp"

// The row file: all records of a suite while the output is being made, the last of them in memory, the others in one nameless file of the
// work folder. They can be read in any order. Private to results/store/.

namespace odrpo::store {

class RowFile {
 public:
  explicit RowFile(const Folder& folder) : folder_(folder) {}
  static constexpr const char* name = "rows";  ///< name of the file before it is removed
  /// Appends a record and returns its offset. Failure `io`.
  std::uint64_t add(const RunRecord& run);
  /// Reads the record at this offset. Failure `io`, also if its checksum is wrong.
  void get(std::uint64_t at, RunRecord& run) const;

 private:
  void flush();
  std::string bytes_at(std::uint64_t at, std::size_t count) const;
  const Folder& folder_;
  File file_;                 ///< made when memory is full; its name is removed at once, so that a kill leaves no file behind
  std::string waiting_;       ///< appended, but not written yet
  std::uint64_t written_ = 0;  ///< bytes in the file
};

}  // namespace odrpo::store

namespace odrpo {
namespace store {

/// Bytes of memory that must be free before a call of HDF5, since HDF5 1.10 does not check every malloc.
inline constexpr std::size_t hdf5_room = std::size_t{32} << 20;
/// Base name of the temporary file in which the new output is written.
inline constexpr const char* new_output = "output";

/// Finds a run's index in the suite by its id. Takes 16 bytes per run.
class PlaceIndex {
 public:
  /// Failure `internal` if two runs have the same id.
  explicit PlaceIndex(const SuiteFacts& facts);
  std::optional<std::size_t> find(const std::string& id) const;

 private:
  const SuiteFacts& facts_;
  std::vector<std::pair<std::uint64_t, std::uint32_t>> hashes_;  ///< (hash of the id, index), sorted
};

struct FolderMarker;
struct Merged;
struct UntrustedFile;

// A shard: a text that says whose it is and how many runs it has, and the packed records of these runs (pack.hpp).

/// The bytes of a shard with these runs. Failure `internal` if a record contradicts itself.
std::string shard_image(std::span<const RunRecord> runs, const SuiteFacts& facts);
/// The file name of a shard: its number, and the first 16 digits of the SHA-256 of its bytes, e.g. "shard-000012-0123456789abcdef.runs".
std::string shard_name(std::size_t number, std::string_view image);
bool is_shard(const std::string& name);
std::size_t shard_number(const std::string& name);
/// Reads a shard; nothing if it is missing or its bytes do not match its name. Failure `io` if it cannot be read or has more than `most`
/// bytes.
std::optional<std::string> read_shard(const Folder& folder, const std::string& name, std::size_t most = std::size_t{64} << 30);
/// Passes the runs of a shard to `visit`, and returns whose they are. Failure `bad_input` if the bytes are no shard; `path` is for messages.
FolderMarker read_image(const std::string& image, const std::string& path, const std::function<void(const RunRecord& run)>& visit);

}  // namespace store

struct WorkFolder::State {
  System system;
  SuiteFacts facts;
  std::string output;       ///< path of the output file, after following all links
  std::string name;         ///< name of the output in its folder
  std::string folder_name;  ///< name of the work folder, in the same folder as the output
  store::Folder beside;     ///< the folder that holds the output and the work folder
  store::Folder folder;     ///< the work folder; open while the lock is held
  store::Lock lock;
  store::PlaceIndex index;
  std::vector<bool> done;           ///< by index of the run: committed with status ok
  std::vector<std::string> shards;  ///< names of the undamaged shards, oldest first
  std::vector<std::string> held;    ///< bytes of shards that are not written, for assemble() to read (WorkFolder::hold)
  std::vector<std::string> notes;
  std::size_t next_shard = 0;
  bool member = false;  ///< another process holds the lock …
  struct stat leader_lock {};  ///< … and this was its file when this process joined
  bool complete = false, keep_output = false;  ///< keep_output: the ok runs of the existing output count as committed
  bool forced = false;                         ///< --force was given; the same call again would discard the work
  bool not_ours_aside = false;                 ///< a file of somebody else lies at the name of our temporary output file
  std::optional<struct stat> found;            ///< the file at the output path, when it was last checked
  const std::atomic<bool>* stop;               ///< set = give up making the output or watching a lock
  bool merging = false;                        ///< the runs come from parts of other machines
  std::vector<std::pair<std::string, std::string>> output_provenance;  ///< provenance in the existing output
  mutable std::mutex signing;
  mutable bool signature_due = false;  ///< sign() must still say whose folder this is; under `signing`

  State(const std::string& output, const SuiteFacts& facts, const System& system, const std::atomic<bool>* stop = nullptr);
  void open(bool force);
  void join();
  void look_at_output(bool force);
  /// Opens (or makes) the work folder and takes its lock. Returns false if another process is just removing the folder: try again.
  bool take_folder(bool make, bool force);
  std::string held_by_another(const store::LockState& other) const;
  void check_owner(const struct stat& info) const;
  void settle_folder(bool force);
  void sign() const;
  void load_shards();
  bool holds_work() const;
  bool shards_are_of_suite() const;
  bool is_left_over() const;
  std::vector<std::string> checkpoints(bool of_finished) const;
  bool lock_stands() const;
  /// Failure `io` if the lock is lost.
  void check_lock(const std::string& lost) const;
  /// Removes the named files, unless the lock is lost. Never removes a file that a later owner of the lock has written under such a name.
  void remove_own(const std::vector<std::string>& names) const;
  void remove_folder();

  // Defined in assemble.cpp.
  ReadLimits own_limits(const store::UntrustedFile& file) const;
  void look_at_stop() const;
  bool collect_own(store::Merged& merged);
  void need_all(const store::Merged& merged) const;
  std::string digest_of(const store::Merged& merged) const;
  store::File write_output(const store::Merged& merged, const std::string& digest);
  ResultFile check_written(const std::string& digest, const ChooseColumns& choose);
  struct NewOutput {
    std::string digest;
    bool all_ok = false;  ///< true if no run failed
    ResultFile table;
  };
  NewOutput make_output(store::Merged& merged, const ChooseColumns& choose);
  NewOutput finish(const std::function<bool(store::Merged&)>& collect, const ChooseColumns& choose = {});
  std::string aside() const { return store::temporary(folder, store::new_output); }
  void put_into_place();
  void clean_up();
  bool is_found(const struct stat& now) const;
  std::string saved() const;
};

}  // namespace odrpo

// The records of all runs of a suite while its output is made: in a row file, found by the run's index. Private to results/store/.
namespace odrpo::store {

/// Collects records. For each run it keeps the latest record with status ok; if there is none, the latest record.
struct Merged {
  RowFile rows;
  Outline outline;
  std::vector<std::uint64_t> at;  ///< offset of each run's record in the row file
  std::vector<std::uint32_t> shape;
  std::vector<bool> ok;
  static constexpr std::uint64_t nowhere = ~std::uint64_t{0};

  Merged(const Folder& folder, const SuiteFacts& facts);
  bool has(std::size_t place) const { return at[place] != nowhere; }
  void add(const RunRecord& run, std::size_t place);
};

}  // namespace odrpo::store

// Small files of a work folder that describe its suite: the marker, which names the suite, and the provenance of the call that writes
// there. Private to results/store/.

namespace odrpo::store {

inline constexpr const char *lock_name = "lock", *marker_name = "suite", *provenance_name = "provenance";

/// The marker file: the suite's fingerprint and its name.
struct FolderMarker {
  std::string fingerprint, suite;  ///< both empty if the file is missing or damaged
  bool none = false;               ///< the file is missing or empty
};
/// Reads the marker. Failure `io`.
FolderMarker read_marker(const Folder& folder);
/// Writes the marker unless the file holds it already. Failure `io`.
void write_marker(const Folder& folder, const FolderMarker& marker);

using Provenance = std::vector<std::pair<std::string, std::string>>;
/// Writes a checksum and the provenance, unless the file holds them already. Failure `io`.
void write_provenance(const Folder& folder, Provenance provenance);
/// Adds to the trainer_texts in `now` the lines of `earlier` calls, which come first. Each different line stays once.
void join_trainers(const Provenance& earlier, Provenance& now);
/// Reads the provenance; nothing if it is missing or damaged. Throws nothing but std::bad_alloc.
std::optional<Provenance> read_provenance(const Folder& folder);

// Checkpoint files of the work folder: the state of a run, or a state from which several runs start. A header with their SHA-256 comes
// before the bytes. Private to results/store/.

/// File name of a checkpoint: "checkpoint-" or "start-", and 16 hex digits of the SHA-256 of `of`, the name of its run or start.
std::string checkpoint_name(CheckpointKind kind, const std::string& of);
bool is_checkpoint(std::string_view name, CheckpointKind kind);
bool is_checkpoint(std::string_view name);  ///< of any kind

/// File names of the checkpoints of those runs of the suite for which `wanted(index)` is true.
std::vector<std::string> checkpoints_in(const Folder& folder, const SuiteFacts& facts, const std::function<bool(std::size_t)>& wanted);
/// True if the run failed but may succeed when continued from its checkpoint. Memory may be free then; a run that diverged would diverge
/// again.
bool may_go_on(const RunRecord& run);

/// Writes a checkpoint by write_safely, behind its header. Failure `io`.
void write_checkpoint(const Folder& folder, const std::string& name, std::string_view bytes);
/// The bytes of a checkpoint; empty if there is none, `damaged` if the header does not match.
CheckpointBytes read_checkpoint(const Folder& folder, const std::string& name);

}  // namespace odrpo::store
