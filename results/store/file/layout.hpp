// Defines the layout of a result file, on which its writer and its reader agree (docs/results.md). Private to results/store/.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "results/store/digest.hpp"
#include "results/store/file/hdf5.hpp"
#include "results/store/store.hpp"
#include "results/store/work/files.hpp"

namespace odrpo::store {

// The virtual file driver through which HDF5 reads and writes: a file by the store's System, or memory. Private to results/store/. HDF5's
// exit handlers crash after a failed write. So the driver keeps the first error and reports success from then on, and the library can
// always close what it has opened.

/// The storage of one HDF5 file. It must outlive the HDF5 file.
struct Bytes {
  const File* file = nullptr;     ///< a file, read or written through its System …
  std::string* written = nullptr;  ///< … or memory that a new HDF5 file grows in …
  std::string_view image = {};     ///< … or memory that is only read
  std::uint64_t size = 0;          ///< bytes stored so far; for a file to read, its length
  int error = 0;                   ///< errno of the first call that failed; 0 = none
};

/// Makes an empty HDF5 file in this storage. Links and attributes keep creation order; no time stamps. Throws Hdf5Error.
Hid create_hdf5(Bytes& bytes);
/// Opens an HDF5 file for reading; returns a negative id if HDF5 finds none.
hid_t open_hdf5(Bytes& bytes);
/// Flushes and closes a file made by create_hdf5(). Throws Hdf5Error; bytes.error then says why.
void close_hdf5(Hid& file);

/// Upper limits on what a reader accepts (docs/results.md).
inline constexpr unsigned long long max_runs = 2'000'000;
inline constexpr unsigned long long max_steps = 10'000'001;
inline constexpr unsigned long long max_objects = 4096;  ///< links in one group
inline constexpr unsigned long long max_chunk_bytes = 16ULL << 20;
inline constexpr unsigned long long max_bytes = 64ULL << 30;  ///< of one data set, uncompressed
inline constexpr unsigned long long max_ratio = 1100;         ///< bytes uncompressed / bytes stored; deflate cannot exceed 1032

/// Runs are written and read in slabs of about this many bytes of memory.
inline constexpr std::size_t slab_bytes = std::size_t{8} << 20;
/// Number of runs in a slab, if each run has `bytes` of numbers besides its row of the root table.
std::size_t slab_rows(std::size_t bytes);

/// Describes an HDF5 group with one subgroup per world. A subgroup has data sets of the world's runs x steps (or x prompts), one for each
/// name. `scale` names the HDF5 dimension scale of the steps, prompts or rollouts.
struct SheetKind {
  const char *group, *scale;  ///< "curves", "step"
  bool timed;                 ///< `scale` is the recorded steps, for which there are seconds per stage too
  long long since;            ///< the first schema version that has it
  std::vector<Curve> RunRecord::*values;
};
inline constexpr SheetKind sheet_kinds[] = {
    {"curves", "step", true, 1, &RunRecord::curves},
    {"evaluated", "prompt", false, 3, &RunRecord::evaluated},
    {"rollouts", "rollout", false, 5, &RunRecord::rollouts},  // outside the digest
};
enum Sheets { sheet_curves, sheet_evaluated, sheet_rollouts };
inline constexpr int sheet_count = sheet_rollouts + 1;
static_assert(sizeof sheet_kinds / sizeof sheet_kinds[0] == sheet_count);
/// Seconds per stage of a training step: each world has an HDF5 group with one data set of this name, with dimensions run, step and `stage`. It is
/// apart from the curves, so that a data frame of the curves does not repeat every value for each stage. Up to schema 3 it was among the curves.
inline constexpr const char* seconds_name = "seconds";
inline constexpr const char* stage_scale = "stage";
inline constexpr long long seconds_since = 4;  ///< first schema version with this group
/// Groups of the root that have one subgroup per world. Only the first of them is in every file.
inline constexpr const char* world_groups[] = {sheet_kinds[sheet_curves].group, sheet_kinds[sheet_evaluated].group, sheet_kinds[sheet_rollouts].group,
                                               seconds_name};
/// True if `name` is one of world_groups.
bool is_world_group(const std::string& name);
/// True if a world's subgroup may have a data set of this name that is no curve or evaluation: a dimension scale, or the seconds.
bool is_of_sheet(const SheetKind& kind, const std::string& name);
/// Bytes of one run in its world's subgroup, with `names` values at each of `places` steps (or prompts).
std::size_t sheet_bytes(const SheetKind& kind, std::size_t places, std::size_t names);
/// Where a run has values, ascending: its recorded steps, or its prompts 0, 1, 2, …
std::vector<std::int32_t> places_of(const SheetKind& kind, const RunRecord& run);

/// True for the name of a final value that this program computes. A final value of another name may have any value.
bool is_final_name(std::string_view name);
/// Column names of axes: the axis's key with every character outside [A-Za-z0-9_] replaced by '_'. A name that is taken, by another axis, another
/// column or a final value, gets a '_'.
std::vector<std::string> axis_columns(std::span<const std::string> axis_names);

/// The runs to write, in file order. `get` returns run i, which may be stored in `scratch` until the next call.
struct Records {
  std::size_t count = 0;
  std::function<const RunRecord&(std::size_t i, RunRecord& scratch)> get;
};

/// Collects what the writer must know of all runs before it writes the first: columns, worlds, steps and curves. Runs with the same names
/// and steps share a "shape".
class Outline {
 public:
  explicit Outline(std::vector<std::string> axis_names);
  /// Checks the record and returns the number of its shape. Failure `internal` if the record contradicts itself.
  std::uint32_t shape_of(const RunRecord& run);
  /// Call it when all runs are known: `shapes[i]` is the shape of run i of the file. Failure `internal` if columns contradict each other.
  void settle(std::vector<std::uint32_t> shapes);

  enum class AxisKind { text, integer, number };
  struct Sheet {
    std::vector<std::int32_t> places;  ///< the steps (or prompts) of all of its runs; empty = no group is written
    std::vector<std::string> names;
  };
  struct World {
    std::vector<std::int32_t> rows;  ///< rows of its runs in the root table
    Sheet sheets[sheet_count];
  };
  const std::vector<std::string>& axis_names() const { return axis_names_; }
  AxisKind kind(std::size_t axis) const;
  const std::vector<std::string>& finals() const { return finals_; }
  const std::map<std::string, World>& worlds() const { return worlds_; }
  std::size_t failed() const { return failed_; }
  /// True if any run of the file has such values.
  bool has(Sheets sheet) const;
  /// The lowest schema version that can hold the contents, so that older programs can read the file.
  long long schema() const;

 private:
  struct Shape {
    std::string env;
    bool ok = true;
    std::vector<std::string> finals, names[sheet_count];
    std::vector<std::int32_t> places[sheet_count];
  };
  std::vector<std::string> axis_names_;
  struct Seen {
    bool text = false, number = false, fraction = false, absent = false;
  };
  std::vector<Seen> axes_;
  std::vector<Shape> shapes_;
  std::map<std::string, std::uint32_t> numbers_;  ///< shape number by the text that describes a shape
  std::vector<std::string> finals_;
  std::map<std::string, World> worlds_;
  std::size_t failed_ = 0;
};

/// Writes runs, curves, provenance and root attributes into an empty file. Failed runs become rows of NaN without curves. Calls `go_on`
/// after every slab (some runs); it may throw to stop the writing. Throws Hdf5Error, or Failure `internal`.
void write_layout(hid_t file, const Records& runs, const Outline& outline, const SuiteFacts& facts, const std::string& digest,
                  const std::function<void()>& go_on);

/// Root attributes that the root checksum covers, in the order in which it hashes them.
inline constexpr const char* checked_texts[] = {"Conventions", "suite", "status", "result_digest", "fingerprint"};
inline constexpr const char* checked_integers[] = {"runs", "runs_failed", "runs_ok", "schema_version"};
inline constexpr const char* root_sum_name = "contents_sha256";
/// The root checksum, a SHA-256 over three lists: the root attributes above, "NAME NUL VALUE NUL" each; the names of the root table's
/// columns in their order, "NAME NUL" each; all data sets sorted by path (as bytes), "PATH NUL SUM NUL AXIS NUL" each. SUM is the data
/// set's attribute `sha256`, AXIS its attribute `axis` or empty.
class RootSum {
 public:
  void attribute(const std::string& name, const std::string& value);
  /// Adds the name of the next column of the root table; the data set `run` counts as a column too.
  void column(const std::string& name);
  void dataset(const std::string& path, const std::string& sum, const std::string& axis);
  std::string hex() const;

 private:
  std::string attributes_, columns_;
  std::map<std::string, std::string> datasets_;
};

}  // namespace odrpo::store
