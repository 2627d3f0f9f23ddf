// What a WorkFolder knows while it is open. Private to results/store/.
#pragma once
#include <sys/stat.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "results/store/file/layout.hpp"
#include "results/store/store.hpp"
#include "results/store/work/files.hpp"
#include "results/store/work/lock.hpp"
#include "results/store/work/row_file.hpp"

namespace odrpo {
namespace store {

/// HDF5 1.10 does not look at what malloc returns everywhere, so it is asked only when there is room for it.
inline constexpr std::size_t hdf5_room = std::size_t{32} << 20;
/// Of the temporary file of the new output.
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
  /// Removes those of the names that are there, unless the lock is lost: nothing that a later owner has written under such a name.
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

/// Of each run the latest that worked, else the latest.
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
