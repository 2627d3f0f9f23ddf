// Defines the state of an open WorkFolder; its small texts, checkpoints and row file. Private to results/store/.
#pragma once
#include <sys/stat.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "results/store/file/layout.hpp"
#include "results/store/record.hpp"
#include "results/store/store.hpp"
#include "results/store/work/files.hpp"
#include "results/store/work/lock.hpp"

// The row file: all records of a suite in one unnamed file of the work folder, read in any order while the output is made. Private to
// results/store/.

namespace odrpo::store {

class RowFile {
 public:
  /// Makes the file and removes its name at once, so that nothing is left after a kill. Failure io.
  explicit RowFile(const Folder& folder);
  static constexpr const char* name = "rows";  ///< of the temporary file
  /// Appends a record; returns its place. Failure io.
  std::uint64_t add(const RunRecord& run);
  /// Writes what add() holds back, before a get(). Failure io.
  void flush();
  /// The record at this place, which is written. Failure io, also when its bytes are not those that were added.
  void get(std::uint64_t at, RunRecord& run) const;

 private:
  std::string path_;
  File file_;
  std::string waiting_;       ///< not written yet
  std::uint64_t written_ = 0;  ///< bytes in the file
};

}  // namespace odrpo::store

namespace odrpo {
namespace store {

/// HDF5 1.10 does not check every malloc, so it is called only when there is room for it.
inline constexpr std::size_t hdf5_room = std::size_t{32} << 20;
/// Name of the temporary file of the new output.
inline constexpr const char* new_output = "output";

/// The place of a run's id among the suite's runs, in 16 bytes a run.
class PlaceIndex {
 public:
  /// Failure internal when two runs have one id.
  explicit PlaceIndex(const SuiteFacts& facts);
  std::optional<std::size_t> find(const std::string& id) const;

 private:
  const SuiteFacts& facts_;
  std::vector<std::pair<std::uint64_t, std::uint32_t>> hashes_;  ///< sorted
};

/// A shard's file name: its number and the first 16 digits of the SHA-256 of its bytes, "shard-000012-0123456789abcdef.h5".
std::string shard_name(std::size_t number, std::string_view image);
bool is_shard(const std::string& name);
std::size_t shard_number(const std::string& name);
/// The shard's bytes; nothing when it is gone or is not what was committed. Failure io when it cannot be read.
std::optional<std::string> read_shard(const Folder& folder, const std::string& name);
struct Merged;
struct UntrustedFile;
/// The fingerprint of the suite of a shard.
std::string fingerprint_of(const std::string& image, const std::string& path);
/// Calls `visit` with the runs of a shard, whole records or their words alone.
void read_image(const std::string& image, const std::string& path, bool with_records,
                const std::function<void(std::vector<RunRecord>&)>& visit);

}  // namespace store

struct WorkFolder::State {
  System system;
  SuiteFacts facts;
  std::string output;       ///< at the end of all links
  std::string name;         ///< of the output in its folder
  std::string folder_name;  ///< of the work folder there
  store::Folder beside;     ///< the output's folder
  store::Folder folder;     ///< open while the lock is held
  store::Lock lock;
  store::PlaceIndex index;
  std::vector<bool> done;           ///< by place: committed, status ok
  std::vector<std::string> shards;  ///< names of good shards, oldest first
  std::vector<std::string> notes;
  std::size_t next_shard = 0;
  bool member = false;  ///< another process holds the lock …
  struct stat leader_lock {};  ///< … which was this file when the folder was joined
  bool complete = false, keep_output = false;  ///< keep_output: the output's good runs count as committed
  bool forced = false;                         ///< the same call again would begin anew
  bool not_ours_aside = false;                 ///< somebody else's file lies where the new output was
  std::optional<struct stat> found;            ///< the file at the output, as it was when it was looked at
  const std::atomic<bool>* stop;               ///< set = give up making the output, and watching a lock
  bool merging = false;                        ///< the runs come from parts elsewhere
  std::vector<std::pair<std::string, std::string>> output_provenance;  ///< of the output, when it was looked at
  mutable std::atomic<bool> provenance_due{false};  ///< the folder says who trained until now, not that this call does

  State(const std::string& output, const SuiteFacts& facts, const System& system, const std::atomic<bool>* stop = nullptr);
  void open(bool force);
  void join();
  void look_at_output(bool force);
  /// Opens (or makes) the folder and takes its lock. False when somebody is just removing it: look again.
  bool take_folder(bool make, bool force);
  std::string held_by_another(const store::LockState& other) const;
  void check_owner(const struct stat& info) const;
  void settle_folder(bool force);
  void say_who_trains() const;
  void load_shards();
  bool holds_work() const;
  bool shards_are_of_suite() const;
  bool is_left_over() const;
  std::vector<std::string> checkpoints(bool of_finished) const;
  bool lock_stands() const;
  /// Failure io when it does not.
  void check_lock(const std::string& lost) const;
  /// Removes the named files, unless the lock is lost. Never removes what a later owner has written under such a name.
  void remove_own(const std::vector<std::string>& names) const;
  void remove_folder();

  // assemble.cpp
  ReadLimits own_limits(const store::UntrustedFile& file) const;
  void look_at_stop() const;
  bool collect_own(store::Merged& merged);
  void need_all(const store::Merged& merged) const;
  std::string digest_of(const store::Merged& merged) const;
  void write_output(const store::Merged& merged, const std::string& digest);
  void check_written(const std::string& digest);
  struct NewOutput {
    std::string digest;
    bool all_ok = false;  ///< no run failed
  };
  NewOutput make_output(store::Merged& merged);
  std::string finish(const std::function<bool(store::Merged&)>& collect);
  std::string aside() const { return store::temporary(folder, store::new_output); }
  void put_into_place();
  void clean_up();
  bool is_found(const struct stat& now) const;
  std::string saved() const;
};

}  // namespace odrpo

// All records of a suite while its output is made: in a row file, by their place. Private to results/store/.
namespace odrpo::store {

/// Of each run the latest record that ended well, else the latest.
struct Merged {
  RowFile rows;
  Outline outline;
  std::vector<std::uint64_t> at;  ///< in the row file
  std::vector<std::uint32_t> shape;
  std::vector<bool> ok;
  static constexpr std::uint64_t nowhere = ~std::uint64_t{0};

  Merged(const Folder& folder, const SuiteFacts& facts);
  bool has(std::size_t place) const { return at[place] != nowhere; }
  void add(const RunRecord& run, std::size_t place);
};

}  // namespace odrpo::store

// What a work folder says of its suite: the marker that names the suite, and the provenance of the call that writes there. Private to
// results/store/.

namespace odrpo::store {

inline constexpr const char *lock_name = "lock", *marker_name = "suite", *provenance_name = "provenance";

/// The marker: the suite's fingerprint and its name.
struct FolderMarker {
  std::string fingerprint, suite;  ///< both empty where there is none, or a damaged one
  bool none = false;               ///< there is no such file, or an empty one
};
/// Failure io.
FolderMarker read_marker(const Folder& folder);
/// Writes it unless it is there. Failure io.
void write_marker(const Folder& folder, const FolderMarker& marker);

using Provenance = std::vector<std::pair<std::string, std::string>>;
/// Writes it unless it is there, behind a checksum. Failure io.
void write_provenance(const Folder& folder, Provenance provenance);
/// Joins the texts that say who trained: lines of earlier calls, then this one's, each line once.
void join_trainers(const Provenance& earlier, Provenance& now);
/// Nothing when it is missing or damaged. Throws nothing but std::bad_alloc.
std::optional<Provenance> read_provenance(const Folder& folder);

// Checkpoints of runs and what runs start from, as files of the work folder: a header with their digest, then the bytes. Private to
// results/store/.

/// The file's name in the folder: "checkpoint-" or "start-" and 16 hex digits of the SHA-256 of what it belongs to.
std::string checkpoint_name(CheckpointKind kind, const std::string& of);
bool is_checkpoint(std::string_view name, CheckpointKind kind);
bool is_checkpoint(std::string_view name);  ///< of any kind

/// File names of the checkpoints of the suite's runs that are `wanted`, by their place.
std::vector<std::string> checkpoints_in(const Folder& folder, const SuiteFacts& facts, const std::function<bool(std::size_t)>& wanted);
/// Would the run do better when it is tried again from its checkpoint? Memory may be free then; a run that diverged does so again.
bool may_go_on(const RunRecord& run);

/// write_safely behind a header; leaves nothing half-written. Failure io.
void write_checkpoint(const Folder& folder, const std::string& name, std::string_view bytes);
/// The bytes behind a good header.
CheckpointBytes read_checkpoint(const Folder& folder, const std::string& name);

}  // namespace odrpo::store
