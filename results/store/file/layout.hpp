// Defines the layout of a result file, which writer and reader must agree on. Private to results/store/. In words: docs/results.md.
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

// The virtual file driver by which HDF5 reaches its bytes: a file through the store's System, or memory. Private to results/store/.
// HDF5's exit handlers crash after a failed write. So this driver keeps the first error and answers success from then on, and the library
// always closes what it has opened.

/// What one HDF5 file lies in. Outlives the HDF5 file.
struct Bytes {
  const File* file = nullptr;     ///< a file, read or written through its System …
  std::string* written = nullptr;  ///< … or memory that a new HDF5 file grows in …
  std::string_view image = {};     ///< … or memory that is only read
  std::uint64_t size = 0;          ///< bytes there are; of a file to read its length
  int error = 0;                   ///< errno of the first call that failed; 0 = none
};

/// Makes an empty HDF5 file in these bytes, links and attributes in creation order, no object times. Throws Hdf5Error.
Hid create_hdf5(Bytes& bytes);
/// Opens it to read; negative when HDF5 finds none.
hid_t open_hdf5(Bytes& bytes);
/// Flushes and closes a file that was made. Throws Hdf5Error; look at bytes.error first, which says why.
void close_hdf5(Hid& file);

/// What a reader refuses to read, stated in docs/results.md.
inline constexpr unsigned long long max_runs = 2'000'000;
inline constexpr unsigned long long max_steps = 10'000'001;
inline constexpr unsigned long long max_objects = 4096;  ///< links in one group
inline constexpr unsigned long long max_chunk_bytes = 16ULL << 20;
inline constexpr unsigned long long max_bytes = 64ULL << 30;  ///< of one data set, uncompressed
inline constexpr unsigned long long max_ratio = 1100;         ///< uncompressed / stored; deflate cannot exceed 1032

/// Runs are written and read in slabs of so many bytes in memory, roughly.
inline constexpr std::size_t slab_bytes = std::size_t{8} << 20;
/// Runs of a slab, where a run has `bytes` of numbers besides its row of the root table.
std::size_t slab_rows(std::size_t bytes);

/// A group of the file with one group per world in it: named values of the world's runs over a scale.
struct SheetKind {
  const char *group, *scale;  ///< "curves", "step"
  bool timed;                 ///< the places are recorded steps, for which there are times of the stages too
  long long since;            ///< the first schema version that has it
  std::vector<Curve> RunRecord::*values;
};
inline constexpr SheetKind sheet_kinds[] = {
    {"curves", "step", true, 1, &RunRecord::curves},
    {"evaluated", "prompt", false, 3, &RunRecord::evaluated},
};
enum Sheets { sheet_curves, sheet_evaluated };
inline constexpr int sheet_count = sheet_evaluated + 1;
static_assert(sizeof sheet_kinds / sizeof sheet_kinds[0] == sheet_count);
/// The times of the stages: a group per world, over the scales of its curves and `stage`, and the name of its one data set. (So a frame of
/// the curves repeats no value for each stage. Up to schema 3 the times lay among the curves.)
inline constexpr const char* seconds_name = "seconds";
inline constexpr const char* stage_scale = "stage";
inline constexpr long long seconds_since = 4;  ///< schema version
/// Groups of the root with one group per world in them; only the first is in every file.
inline constexpr const char* world_groups[] = {sheet_kinds[sheet_curves].group, sheet_kinds[sheet_evaluated].group, seconds_name};
/// Is this the name of one?
bool is_world_group(const std::string& name);
/// Does a world's group have this data set beside its values?
bool is_of_sheet(const SheetKind& kind, const std::string& name);
/// Bytes of one run in the group of its world.
std::size_t sheet_bytes(const SheetKind& kind, std::size_t places, std::size_t names);
/// The places of a run on the scale, ascending: its recorded steps, or its prompts 0, 1, 2, …
std::vector<std::int32_t> places_of(const SheetKind& kind, const RunRecord& run);

/// Name of an axis's column: its key with every character outside [A-Za-z0-9_] replaced by '_', made unique.
std::vector<std::string> axis_columns(std::span<const std::string> axis_names);

/// Runs to write, in the order of the file. `get` returns the run, which may lie in `scratch` until the next call.
struct Records {
  std::size_t count = 0;
  std::function<const RunRecord&(std::size_t i, RunRecord& scratch)> get;
};

/// What must be known of all runs before the first is written: their columns, worlds, steps and curves. Runs that are alike share a shape.
class Outline {
 public:
  explicit Outline(std::vector<std::string> axis_names);
  /// Checks the record (Failure internal when it contradicts itself), and says which shape it has.
  std::uint32_t shape_of(const RunRecord& run);
  /// All runs are known: `shapes[i]` is the shape of the i-th run of the file. Failure internal when the columns do not go together.
  void settle(std::vector<std::uint32_t> shapes);

  enum class AxisKind { text, integer, number };
  struct Sheet {
    std::vector<std::int32_t> places;  ///< union of those of its runs; empty = no group
    std::vector<std::string> names;
  };
  struct World {
    std::vector<std::int32_t> rows;  ///< places of its runs
    Sheet sheets[sheet_count];
  };
  const std::vector<std::string>& axis_names() const { return axis_names_; }
  AxisKind kind(std::size_t axis) const;
  const std::vector<std::string>& finals() const { return finals_; }
  const std::map<std::string, World>& worlds() const { return worlds_; }
  std::size_t failed() const { return failed_; }
  /// Does any run of the file have such values?
  bool has(Sheets sheet) const;
  /// The lowest schema version that has all that is to be written, so that older programs read what they can.
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
  std::map<std::string, std::uint32_t> numbers_;  ///< of a shape's text
  std::vector<std::string> finals_;
  std::map<std::string, World> worlds_;
  std::size_t failed_ = 0;
};

/// Writes runs, curves, provenance and root attributes into an empty file. Throws Hdf5Error, or Failure internal. Failed runs become rows of
/// NaN without curves. `go_on` is asked after every slab and may throw.
void write_layout(hid_t file, const Records& runs, const Outline& outline, const SuiteFacts& facts, const std::string& digest,
                  const std::function<void()>& go_on);

/// Root attributes that the root checksum covers, in its order.
inline constexpr const char* checked_texts[] = {"Conventions", "suite", "status", "result_digest", "fingerprint"};
inline constexpr const char* checked_integers[] = {"runs", "runs_failed", "runs_ok", "schema_version"};
inline constexpr const char* root_sum_name = "contents_sha256";
/// The root checksum: SHA-256 over three lists. First come the attributes above, "NAME NUL VALUE NUL" each. Then the names of the root
/// table's columns in their order, "NAME NUL" each. Then every data set by its path (as bytes), "PATH NUL SUM NUL AXIS NUL" each; SUM is
/// its attribute `sha256`, AXIS its attribute `axis` or empty.
class RootSum {
 public:
  void attribute(const std::string& name, const std::string& value);
  /// The next column of the root table, `run` too.
  void column(const std::string& name);
  void dataset(const std::string& path, const std::string& sum, const std::string& axis);
  std::string hex() const;

 private:
  std::string attributes_, columns_;
  std::map<std::string, std::string> datasets_;
};

}  // namespace odrpo::store
