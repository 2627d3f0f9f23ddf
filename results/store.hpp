// The result store: shards committed crash-safely in a work folder, assembled into one HDF5 file, read back with suspicion.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "results/record.hpp"

namespace odrpo {

/// Of the layout of result files (docs/results.md); a reader refuses any other.
inline constexpr long long schema_version = 1;

/// What the file says about the suite, besides its runs.
struct SuiteFacts {
  std::string name;
  std::string fingerprint;              ///< SHA-256 of all canonical run texts and the tool's schema version: equal = resumable
  std::vector<std::string> run_ids;     ///< all planned runs, in canonical order
  std::vector<std::string> axis_names;  ///< extra axes, in suite order
  /// provenance datasets (name, text): suite, resolved, argv, version, revision, compiler, cpu, gpu, device, host, jobs, table
  std::vector<std::pair<std::string, std::string>> provenance;
};

/// What a work folder keeps besides finished runs, so that a later call need not do it again: how far a run is (of a run's id), and what
/// several runs start from (of whatever names it).
enum class Kept { checkpoint, start };
/// What was kept; nothing when there is none. `damaged`: there is a file, and it is not what was written.
struct KeptBytes {
  std::string bytes;
  bool damaged = false;
};

/// The file that a run with this output writes: links are followed, also one to nothing. Failure io when it cannot be a result file,
/// whatever may be discarded: links in a circle, a folder, a device or pipe, no folder around it, a file that is neither empty nor HDF5.
std::string output_target(const std::string& path);

/// The work folder beside the output ("NAME.h5.work"). Runs committed here survive a kill at any instant. One writer at a time
/// (a lock file held by flock); all members but keep() and kept() may be called from one thread only.
class WorkFolder {
 public:
  /// Opens or makes the folder for `output`. Picks up every committed shard when the fingerprint matches; a folder or an output file
  /// of another suite is refused (Failure io) unless `force`, which discards it; a readable HDF5 file that is none of ours even then, an
  /// empty one never. An output that already holds this very suite complete is kept and reported by complete(), and no folder is made then.
  /// Never touches anything it did not make. The output is that of output_target().
  WorkFolder(const std::string& output, const SuiteFacts& facts, bool force);
  ~WorkFolder();
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;

  /// What was found and ignored on opening (damaged shards, half-written files), one sentence each, for the user.
  const std::vector<std::string>& notes() const;
  /// Is the output already there, verified, with this fingerprint and no missing run?
  bool complete() const;
  /// Indices into facts.run_ids that are committed (status ok).
  const std::vector<std::size_t>& finished() const;
  /// Commits runs as one shard: HDF5 image in memory, write, fsync, rename, fsync of the folder. Returns when they are safe; their
  /// checkpoints are removed, but those of runs that failed and did not diverge.
  void commit(std::span<const RunRecord> runs);
  /// Keeps bytes for a later call (at most kept_limit), in place of what was kept before. From any thread, but not two at once of one name.
  /// Failure io.
  void keep(Kept kind, const std::string& name, std::string_view bytes) const;
  /// What keep() has kept under this name. From any thread. Throws nothing but std::bad_alloc.
  KeptBytes kept(Kept kind, const std::string& name) const;
  /// How many runs that are not finished have a checkpoint, whether or not this build can read it.
  std::size_t checkpoints() const;
  static constexpr std::size_t kept_limit = std::size_t{1} << 30;
  /// Merges all shards into the output (written aside, re-opened, verified, renamed), removes the folder, unless failed runs have
  /// checkpoints. Returns the result digest.
  std::string assemble();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// One column of the root table: numbers or strings, one entry per run.
struct Column {
  std::string name;
  bool numeric = true;
  std::vector<double> number;     ///< when numeric (int64 columns are exact below 2^53)
  std::vector<std::string> text;  ///< when not
};

/// A result file in memory: the root table and (on request) the curves.
struct ResultFile {
  std::string suite, version, status, digest;  ///< digest as stored
  std::vector<Column> columns;                 ///< id, env, rater, policy, estimator, votes, seed, axes, finals, status, key
  std::vector<RunRecord> runs;                 ///< in file order, curves filled when asked for
  std::vector<std::pair<std::string, std::string>> provenance;
  const Column* column(const std::string& name) const;  ///< nullptr when absent
  const std::string* provenance_text(const std::string& name) const;
};

/// Reads a result file. Untrusted input: no external links or storage, no virtual datasets, only deflate/shuffle/fletcher32 filters,
/// sizes checked before reading. Failure io when missing or unreadable, Failure bad_input when it is not a result file of ours.
ResultFile read_results(const std::string& path, bool with_curves);

/// SHA-256 (hex) over runs sorted by id and variables sorted by name: name, dtype, shape, little-endian bytes; without seconds,
/// status, provenance, device, jobs.
std::string result_digest(std::span<const RunRecord> runs);

}  // namespace odrpo
