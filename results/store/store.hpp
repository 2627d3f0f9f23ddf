// Stores results: commits shards crash-safely in a work folder, assembles them into one HDF5 file, and reads files back with suspicion.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/shared/words.hpp"
#include "results/store/record.hpp"
#include "results/store/work/files.hpp"

namespace odrpo {

/// The newest layout of result files (docs/results.md). Older ones are read too; 2 brought checksums of every data set, 3 evaluations per
/// prompt, 4 a group of their own for the times of the stages. A file has the lowest version that holds what it has.
inline constexpr long long schema_version = 4;

/// What the file says about the suite, besides its runs.
struct SuiteFacts {
  std::string name;
  std::string fingerprint;              ///< SHA-256 of all canonical run texts and the program's version: equal = resumable
  std::size_t runs = 0;                 ///< planned runs
  std::function<std::string(std::size_t)> run_id;  ///< id of the i-th of them, in canonical order; all different
  std::vector<std::string> axis_names;  ///< extra axes, in suite order
  /// provenance datasets (name, text): suite, resolved, argv, version, revision, compiler, cpu, gpu, device, host, jobs, table
  std::vector<std::pair<std::string, std::string>> provenance;
};

/// A checkpoint that was read; empty when there is none. `damaged`: the file is there, but not as it was written.
struct CheckpointBytes {
  std::string bytes;
  bool damaged = false;
};

/// What every result file begins with.
inline constexpr std::string_view hdf5_signature = "\x89HDF\r\n\x1a\n";

/// The file that a run with this output writes. Links are followed, also one to nothing. Failure io when it cannot be a result file,
/// whatever may be discarded. Such are links in a circle, a folder, a device or pipe, a path without its folder, a file that is neither
/// empty nor HDF5.
std::string output_target(const std::string& path);

/// Runs from elsewhere: a name for messages, and a function that gives all of them, slab by slab.
struct RunSource {
  std::string name;
  std::function<void(const std::function<void(std::vector<RunRecord>& slab)>&)> read;
};
/// A run whose records in two sources differ.
struct RunConflict {
  std::string id, env;
  std::size_t first = 0, second = 0;       ///< the sources; own_source = this folder or its output
  std::string first_digest, second_digest;  ///< of this run alone
  std::vector<std::string> values;          ///< the first that differ: "final_quality 7.25 and 7.5"
  static constexpr std::size_t own_source = ~std::size_t{0};
};
struct MergeReport {
  std::string digest;                    ///< of the output; empty when it was not made
  std::size_t equal = 0;                 ///< runs that came again
  std::size_t differing = 0;             ///< runs that came again with other numbers
  std::vector<RunConflict> conflicts;    ///< the first of those
  std::vector<std::uint32_t> missing;    ///< places of runs that no source has
  std::size_t failed = 0;                ///< runs that failed wherever they were trained
  static constexpr std::size_t conflicts_kept = 5;
};
using CheckRun = std::function<void(const RunRecord& run, std::optional<std::size_t> place, std::size_t source)>;

/// The work folder beside the output ("NAME.h5.work"). Runs committed here survive a kill at any instant. One writer at a time
/// (results/store/work/lock.hpp); all members but save_checkpoint() and load_checkpoint() may be called from one thread only.
class WorkFolder {
 public:
  /// Opens or makes the folder for `output`, the output of output_target(). Picks up every committed shard when the fingerprint matches.
  /// Refuses a folder or an output file of another suite (Failure io) unless `force`, which discards it. Even then refuses an HDF5 file
  /// that is none of ours; never refuses an empty file. An output that already holds this very suite complete is kept and reported by
  /// complete(); no folder is made then. Refuses a folder that is a link, has another owner or can be written by others. Never touches
  /// anything it did not make.
  /// Once `stop` is set, assemble() and merge() end with a Failure `stopped`, and what is committed stays. So does this constructor while
  /// it watches a lock that is dated in the future.
  WorkFolder(const std::string& output, const SuiteFacts& facts, bool force, const System& system = posix_system(),
             const std::atomic<bool>* stop = nullptr);
  /// One of several processes that write into the folder of a process that holds its lock. This one commits and keeps checkpoints. The
  /// holder adopt()s its shards and assembles. Failure io when there is no such folder.
  struct Member {};
  WorkFolder(const std::string& output, const SuiteFacts& facts, Member, const System& system = posix_system());
  ~WorkFolder();
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;

  /// What was found and ignored (damaged shards, half-written files), one sentence each, for the user. Grows when assemble() finds more.
  const std::vector<std::string>& notes() const;
  /// Is the output already there, verified, with this fingerprint and no missing run?
  bool complete() const;
  /// Indices of the runs that are committed (status ok), in order.
  std::vector<std::size_t> finished() const;
  /// Commits runs as one shard: HDF5 image in memory, write, fsync, rename, fsync of the folder. Returns when they are safe. Removes their
  /// checkpoints, but those of runs that failed and did not diverge. Returns the shard's name; empty without runs. Failure io, also when
  /// somebody removed the folder.
  std::string commit(std::span<const RunRecord> runs);
  /// Takes up a shard that a member has committed. The member says that the runs of these places ended well.
  void adopt(const std::string& shard, std::span<const std::uint32_t> places);
  /// The place of a run in the suite. Failure internal when the suite lacks it.
  std::size_t place_of(const RunRecord& run) const;
  /// Stores a checkpoint (at most checkpoint_limit bytes) in place of the earlier one of this name. From any thread, but not two at once of
  /// one name.
  /// Failure io.
  void save_checkpoint(CheckpointKind kind, const std::string& name, std::string_view bytes) const;
  /// The checkpoint of this name. From any thread. Throws nothing but std::bad_alloc.
  CheckpointBytes load_checkpoint(CheckpointKind kind, const std::string& name) const;
  /// How many runs that are not finished have a checkpoint, whether or not this build can read it.
  std::size_t checkpoints() const;
  /// How many starts are stored that runs share.
  std::size_t starts() const;
  static constexpr std::size_t checkpoint_limit = std::size_t{1} << 30;
  /// Merges all shards into the output (written aside, re-opened, verified, put into place). Removes the folder, unless failed runs have
  /// checkpoints. Returns the result digest; empty when a shard is no longer what was committed. Then notes() says so, and finished() lacks
  /// its runs, which must be trained again. Never replaces a file that appeared at the output meanwhile, or another than the one found
  /// there at first. In that case Failure io, and all runs stay saved in the folder.
  std::string assemble();
  /// Merges runs that other machines trained: those of `sources`, beside what the folder and the output hold already. Calls `check` for every run
  /// that comes, with its place in the suite (none = not of this suite, and left out). `check` may refuse the run by a Failure. A run that comes
  /// twice with equal numbers counts once. Where numbers differ, and where runs are missing, nothing is written.
  MergeReport merge(std::span<const RunSource> sources, const CheckRun& check);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// What reading a file from elsewhere may cost.
struct ReadLimits {
  double seconds = 0;                      ///< CPU time; 0 = 2 s, and 10 s more per 100 MB of file
  std::size_t memory_bytes = 300'000'000;  ///< of the reading process and this one together, beyond what the program takes anyway
  const std::atomic<bool>* stop = nullptr;  ///< set = Failure `stopped`
};

/// --max-seconds and --max-memory as limits; 0 = the default. Failure usage.
ReadLimits read_limits(double seconds, double megabytes);

/// Says which columns of the root table are wanted besides those that are always read (ResultFile::columns); `head` has no columns yet. May
/// throw Failure.
using ChooseColumns = std::function<std::vector<std::string>(const ResultFile& head)>;

/// Reads the root table of a result file. Refuses external links and storage, virtual data sets, and filters but deflate, shuffle and
/// fletcher32. Checks sizes before reading, and every column and text by its checksum. Failure io when missing or unreadable; bad_input
/// when it is no result file of ours or damaged; limits when it needs more than it may.
ResultFile read_results(const std::string& path, const ChooseColumns& choose = {}, const ReadLimits& limits = {});

/// One curve of one run: its recorded steps at which it is defined.
struct RunCurve {
  std::uint32_t run;  ///< row of the root table
  std::vector<std::int32_t> step;
  std::vector<double> value;
};
/// A curve of some runs (ascending rows of the root table); runs without it are left out. `digest` is that of the table which named the runs:
/// a file that has another one by now is refused. Failure as read_results(); usage, with the curves there are, when no world has this one.
std::vector<RunCurve> read_curve(const std::string& path, const std::string& curve, std::span<const std::uint32_t> runs,
                                 const std::string& digest, const ReadLimits& limits = {});

/// Named values per evaluated prompt of some runs, as read_curve() of each name; `step` is the prompt. Failure usage when no world has
/// such values.
std::vector<std::vector<RunCurve>> read_evaluated(const std::string& path, const std::vector<std::string>& names,
                                                  std::span<const std::uint32_t> runs, const std::string& digest,
                                                  const ReadLimits& limits = {});

/// The curve of this name, or the one whose name differs in - and _ alone. Failure usage, with the curves there are.
std::string curve_named(const std::vector<std::string>& names, const std::string& wanted);

/// All runs in file order with their curves, evaluations and seconds, slab by slab, once everything has been compared with its checksum;
/// the head first.
/// Failure as read_results().
void read_runs(const std::string& path, const std::function<void(const ResultFile& head)>& head,
               const std::function<void(std::vector<RunRecord>& slab)>& slab, const ReadLimits& limits = {});

/// A whole file, all of it compared with its checksums. The caller compares the digest.
struct Verification {
  ResultFile head;
  std::string computed;  ///< the result digest of its numbers
};
/// Reads all of a result file. Failure as read_results().
Verification verify_results(const std::string& path, const ReadLimits& limits = {});

// Texts of the provenance that say who trained: a line for each place where runs were trained.

/// Names of texts that differ from place to place.
inline constexpr std::string_view trainer_texts[] = {"revision", "compiler", "cpu", "isa", "gpu", "device", "host"};

/// The lines of all texts in their order, each once.
inline std::string join_lines(const std::vector<std::string>& texts) {
  std::vector<std::string_view> lines;
  for (const std::string_view text : texts)
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      if (const std::string_view line = text.substr(at, end - at); std::find(lines.begin(), lines.end(), line) == lines.end()) lines.push_back(line);
      at = end + 1;
    }
  std::string text;
  for (const std::string_view line : lines) add_item(text, line, "\n");
  return text;
}

// Parts of a suite that several machines trained: result files, and work folders of unfinished parts. What a part says of itself.

/// Names of provenance texts that parts have.
inline constexpr const char *part_text = "part", *whole_text = "whole";

/// A part as it lies on a disk.
struct Part {
  std::string path;
  bool folder = false;  ///< a work folder
  std::string suite;
  std::string fingerprint;                                      ///< of its own runs
  std::string digest;                                           ///< of its own runs; empty of a folder
  std::size_t runs = 0;                                         ///< rows of the file; 0 of a folder, which has not counted them
  std::vector<std::pair<std::string, std::string>> provenance;  ///< as SuiteFacts::provenance, of the call that trained it (last)
  std::vector<std::string> shards;                              ///< of a folder: its committed runs, oldest first

  std::string text(const std::string& name) const;  ///< of the provenance; empty = absent
  /// Fingerprint of the suite that it is a part of: its own where it is all of it.
  std::string whole() const { return text(whole_text).empty() ? fingerprint : text(whole_text); }
};

/// Looks at a part, and reads no run. A folder may belong to anybody, and nothing is written there. Failure io when it is missing, cannot be
/// read, or is still being written; bad_input when it is no part; limits as read_results().
Part open_part(const std::string& path, const ReadLimits& limits = {});

/// Its runs, slab by slab, once each file has been compared with its checksums. Returns notes: damaged shards of a folder, which are left
/// out. Failure as open_part(), also when the part is no longer what it was.
std::vector<std::string> read_part(const Part& part, const std::function<void(std::vector<RunRecord>& slab)>& slab,
                                   const ReadLimits& limits = {});

}  // namespace odrpo
