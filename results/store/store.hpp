// Stores results: writes finished runs crash-safely into a work folder, assembles them into one HDF5 file, and reads files without trusting
// them.
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

/// The newest layout version of result files (docs/results.md); older versions are read too. Version 2 added checksums of every data set, 3
/// evaluations per prompt, 4 a separate group for the times of the stages, 5 rollouts. A file gets the lowest version that can hold its contents.
inline constexpr long long schema_version = 5;

/// What a result file stores about its suite, besides the runs.
struct SuiteFacts {
  std::string name;
  std::string fingerprint;              ///< SHA-256 of all canonical run texts and the program's version; if equal, work can be resumed
  std::size_t runs = 0;                 ///< planned runs
  std::function<std::string(std::size_t)> run_id;  ///< id of planned run i, in canonical order; all ids differ
  std::vector<std::string> axis_names;  ///< extra axes, in suite order
  /// provenance datasets (name, text): suite, resolved, argv, version, revision, compiler, cpu, gpu, device, host, jobs, table
  std::vector<std::pair<std::string, std::string>> provenance;
};

/// The bytes of a checkpoint; empty if there is none. `damaged`: the file exists, but its checksum is wrong.
struct CheckpointBytes {
  std::string bytes;
  bool damaged = false;
};

/// The first bytes of every HDF5 file.
inline constexpr std::string_view hdf5_signature = "\x89HDF\r\n\x1a\n";

/// Returns the path of the file that `run -o PATH` writes, after following links, even a link to a file that does not exist. Failure `io`
/// if no result file can be written there, even with --force: a loop of links, a folder, a device or pipe, a path whose folder is missing,
/// a file that is neither empty nor HDF5.
std::string output_target(const std::string& path);

/// The runs of a part to merge: the part's name, and a function that passes its runs to a visitor, in slabs (some runs at a time).
struct RunSource {
  std::string name;
  std::function<void(const std::function<void(std::vector<RunRecord>& slab)>&)> read;
};
/// A run of which two sources have records that differ.
struct RunConflict {
  std::string id, env;
  std::size_t first = 0, second = 0;       ///< indices of the two sources; own_source = this work folder or its output
  std::string first_digest, second_digest;  ///< digests of the two records
  std::vector<std::string> values;          ///< the first values that differ, e.g. "final_quality 7.25 and 7.5"
  static constexpr std::size_t own_source = ~std::size_t{0};
};
struct MergeReport {
  std::string digest;                    ///< result digest of the output; empty if no output was made
  std::size_t equal = 0;                 ///< repeated runs with equal numbers
  std::size_t differing = 0;             ///< repeated runs with different numbers
  std::vector<RunConflict> conflicts;    ///< the first of the differing runs, at most conflicts_kept
  std::vector<std::uint32_t> missing;    ///< indices, in the suite, of the runs that no source has
  std::size_t failed = 0;                ///< runs that failed in every source that has them
  static constexpr std::size_t conflicts_kept = 5;
};
/// A function that names the columns to read besides those that are always read (ResultFile::columns). It receives the attributes of the
/// file, whose columns are not read yet, and may throw Failure.
using ChooseColumns = std::function<std::vector<std::string>(const ResultFile& head)>;
using CheckRun = std::function<void(const RunRecord& run, std::optional<std::size_t> place, std::size_t source)>;

/// The work folder next to the output file, "NAME.h5.work". Runs committed to it survive a kill at any instant. It has one writer at a time
/// (results/store/work/lock.hpp). Only save_checkpoint() and load_checkpoint() may be called from several threads.
class WorkFolder {
 public:
  /// Opens or makes the work folder of `output`, a path from output_target(). Takes up every committed shard that has this suite's
  /// fingerprint. A folder or an output file of another suite is a Failure `io`; with `force`, that work is discarded. An HDF5 file that
  /// this program did not write is refused even with `force`, an empty file never. If the output already holds the complete suite,
  /// complete() is true and no folder is made. A folder that is a link, has another owner, or can be written by others is a Failure `io`.
  /// Once `stop` is set, assemble(), merge() and the wait for a lock dated in the future end with Failure `stopped`. Committed runs stay
  /// saved.
  WorkFolder(const std::string& output, const SuiteFacts& facts, bool force, const System& system = posix_system(),
             const std::atomic<bool>* stop = nullptr);
  /// Joins the work folder of another process, which holds its lock. A member commits runs and saves checkpoints. The holder of the lock
  /// takes up the members' shards by adopt() and assembles the output. Failure `io` if there is no such folder.
  struct Member {};
  WorkFolder(const std::string& output, const SuiteFacts& facts, Member, const System& system = posix_system());
  ~WorkFolder();
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;

  /// Messages for the user about what was ignored (damaged shards, half-written files), one sentence each. assemble() may add some.
  const std::vector<std::string>& notes() const;
  /// True if the output already exists, is verified, has this fingerprint, and lacks no run.
  bool complete() const;
  /// Indices, in the suite, of the committed runs with status ok, ascending.
  std::vector<std::size_t> finished() const;
  /// Writes these runs to the work folder as one shard. When it returns, they survive a crash. Removes their checkpoints,
  /// except those of failed runs that may still continue (may_go_on() in work_folder.hpp). Returns the shard's name, or "" if `runs` is
  /// empty. Failure `io`, also if somebody removed the folder.
  std::string commit(std::span<const RunRecord> runs);
  /// Keeps these runs in memory for assemble(), which must follow at once. If that fails, the caller commits them.
  void hold(std::span<const RunRecord> runs);
  /// Says in the folder whose it is, as the first commit() or save_checkpoint() does. Call it before a member joins. Failure `io`.
  void sign() const;
  /// Takes over a shard that a member process committed. `places`: indices, in the suite, of the shard's runs with status ok.
  void adopt(const std::string& shard, std::span<const std::uint32_t> places);
  /// Index of a run in the suite. Failure `internal` if the suite has no such run.
  std::size_t place_of(const RunRecord& run) const;
  /// Saves a checkpoint (at most checkpoint_limit bytes); replaces an earlier one of this name. Any thread may call it, but no two threads
  /// at once with the same name. Failure `io`.
  void save_checkpoint(CheckpointKind kind, const std::string& name, std::string_view bytes) const;
  /// The checkpoint of this name. Any thread may call it. Throws nothing but std::bad_alloc.
  CheckpointBytes load_checkpoint(CheckpointKind kind, const std::string& name) const;
  /// Number of unfinished runs that have a checkpoint, whether or not this build can read it.
  std::size_t checkpoints() const;
  /// Number of stored checkpoints of kind `start`, from which several runs start.
  std::size_t starts() const;
  static constexpr std::size_t checkpoint_limit = std::size_t{1} << 30;
  /// Merges all shards into the output: writes a new file, reads it back, verifies it, renames it into place. Then removes the folder,
  /// unless failed runs have checkpoints. Returns the result digest. Returns "" if a shard is damaged by now: notes() then says so, and
  /// finished() lacks its runs, which must be trained again. Never replaces a file that appeared or changed at the output path meanwhile:
  /// Failure `io`, and all runs stay saved in the folder.
  /// `table` (may be null) gets the root table of the output, with the columns that `choose` names.
  std::string assemble(const ChooseColumns& choose = {}, ResultFile* table = nullptr);
  /// Merges the runs of `sources`, trained on other machines, with those of this folder and its output. Calls `check` for every incoming
  /// run with its index in the suite, or none for a run of another suite, which is left out. `check` may refuse a run by a Failure. A
  /// repeated run with equal numbers counts once. If repeated runs differ, or runs are missing, no output is written and the report says
  /// which.
  MergeReport merge(std::span<const RunSource> sources, const CheckRun& check);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Limits on the cost of reading a file that somebody else may have written.
struct ReadLimits {
  double seconds = 0;                      ///< CPU time; 0 = 2 s plus 10 s per 100 MB of file
  std::size_t memory_bytes = 300'000'000;  ///< of the child process that reads and of this one together, beyond the program's usual memory
  const std::atomic<bool>* stop = nullptr;  ///< set = end with Failure `stopped`
  bool here = false;  ///< read in this process, without limits on time: only a small file that this process has just written
};

/// Returns the limits that the flags --max-seconds and --max-memory set; 0 = the default. Failure `usage` below 32 MB.
ReadLimits read_limits(double seconds, double megabytes);

/// Reads the root table of a result file (one row per run). Refuses external links and storage, virtual data sets, and filters other than
/// deflate, shuffle and fletcher32. Checks sizes before reading, and every column and text by its checksum. Failure `io` if the file is
/// missing or unreadable; `bad_input` if it is damaged or no result file of ours; `limits` if reading takes more than `limits`.
ResultFile read_results(const std::string& path, const ChooseColumns& choose = {}, const ReadLimits& limits = {});

/// One curve of one run, at the recorded steps where it is defined.
struct RunCurve {
  std::uint32_t run;  ///< row of the root table
  std::vector<std::int32_t> step;
  std::vector<double> value;
};
/// Reads one curve of some runs (ascending rows of the root table); leaves out runs without it. `digest` is the result digest under which
/// the caller chose the runs: a file with another digest is refused. Failure as read_results(); `usage`, which lists the existing curves,
/// if no world has this curve.
std::vector<RunCurve> read_curve(const std::string& path, const std::string& curve, std::span<const std::uint32_t> runs,
                                 const std::string& digest, const ReadLimits& limits = {});

/// Reads evaluations per prompt of some runs: for each name a list as from read_curve(), with the prompt's index as `step`. Failure `usage`
/// if no world has one of these names.
std::vector<std::vector<RunCurve>> read_evaluated(const std::string& path, const std::vector<std::string>& names,
                                                  std::span<const std::uint32_t> runs, const std::string& digest,
                                                  const ReadLimits& limits = {});

/// Finds the curve of this name, or the one whose name differs in - and _ alone. Failure `usage`, which lists the existing curves.
std::string curve_named(const std::vector<std::string>& names, const std::string& wanted);

/// Passes all runs in file order to `slab` (some runs at a time), with their curves, evaluations and seconds, after comparing the whole
/// file with its checksums. Calls `head` first. Failure as read_results().
void read_runs(const std::string& path, const std::function<void(const ResultFile& head)>& head,
               const std::function<void(std::vector<RunRecord>& slab)>& slab, const ReadLimits& limits = {});

/// A result file that was compared with all of its checksums. The caller compares head.digest with `computed`.
struct Verification {
  ResultFile head;
  std::string computed;  ///< the result digest of the file's numbers
};
/// Reads and checks a whole result file. Failure as read_results().
Verification verify_results(const std::string& path, const ReadLimits& limits = {});

// Provenance texts that say where runs were trained, one line for each place.

/// Names of the provenance texts that differ between the machines that trained a suite.
inline constexpr std::string_view trainer_texts[] = {"revision", "compiler", "cpu", "isa", "gpu", "device", "host"};

/// Joins the lines of all texts in their order, and keeps each different line once.
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

// Parts of a suite that several machines trained: result files, or work folders of parts that are not finished. Below: what such a part
// states about itself.

/// Provenance texts that only parts have: which runs a part has; the fingerprint of the whole suite.
inline constexpr const char *part_text = "part", *whole_text = "whole";

/// A part on disk: a result file or a work folder.
struct Part {
  std::string path;
  bool folder = false;  ///< a work folder
  std::string suite;
  std::string fingerprint;                                      ///< of the part's own runs
  std::string digest;                                           ///< result digest of the part's own runs; empty for a folder
  std::size_t runs = 0;                                         ///< rows of the file; 0 for a folder, whose runs are not counted yet
  std::vector<std::pair<std::string, std::string>> provenance;  ///< as SuiteFacts::provenance, from the last call that trained it
  std::vector<std::string> shards;                              ///< of a folder: names of its shards, oldest first

  std::string text(const std::string& name) const;  ///< the provenance text of this name; empty = absent
  /// Fingerprint of the whole suite that it is a part of; its own fingerprint if it is the whole suite.
  std::string whole() const { return text(whole_text).empty() ? fingerprint : text(whole_text); }
};

/// Opens a part without reading its runs. A folder may belong to anybody; nothing is written to it. Failure `io` if it is missing, cannot be
/// read, or is still being written; `bad_input` if it is no part; `limits` as read_results().
Part open_part(const std::string& path, const ReadLimits& limits = {});

/// Passes the runs of a part to `slab`, each file after comparison with its checksums. Returns notes on damaged shards of a folder, which
/// are left out. Failure as open_part(), also if the part has changed since.
std::vector<std::string> read_part(const Part& part, const std::function<void(std::vector<RunRecord>& slab)>& slab,
                                   const ReadLimits& limits = {});

}  // namespace odrpo
