// Reads a result file in slabs and trusts none of its contents before checking them. Private to results/store/.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "results/store/file/hdf5.hpp"
#include "results/store/file/layout.hpp"
#include "results/store/record.hpp"

namespace odrpo::store {

// Reading HDF5 that somebody else may have written: every link, type, filter, layout and size is checked before any data is read. Private
// to results/store/.

/// Bytes of memory that a reader may still use. It charges a size before it allocates. charge() throws TooLarge.
struct Budget {
  unsigned long long left;
  void charge(unsigned long long bytes, const std::string& what);
  void give_back(unsigned long long bytes) { left += bytes; }
};
/// Thrown if reading a file, which may be correct, takes more memory than is allowed.
struct TooLarge : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Names in a group, in creation order if the file keeps it, otherwise sorted. Throws for links that are not hard links.
std::vector<std::string> link_names(hid_t group, const std::string& what);
/// True if the group has a hard link of this name. Throws for any other kind of link.
bool has_link(hid_t group, const std::string& name);
Hid open_group(hid_t parent, const std::string& name);

/// A range of whole rows of a data set (along its first dimension). A data set without dimensions has one row.
struct Rows {
  hsize_t from = 0, count = 0;
};

/// A data set whose type, layout and size were checked when it was opened. After a read, the budget is as before; a caller that keeps the
/// values charges them itself.
class Source {
 public:
  Source(hid_t parent, const std::string& name);
  const std::vector<hsize_t>& shape() const { return shape_; }
  const std::string& name() const { return name_; }
  Rows all() const { return {0, shape_.empty() ? 1 : shape_[0]}; }
  /// Throws Hdf5Error if the data set has another shape.
  void expect(const std::vector<hsize_t>& shape) const;
  bool is_text() const;
  bool is(hid_t type) const;
  bool is_integer() const { return is(H5T_STD_I32LE) || is(H5T_STD_I64LE); }
  /// The word that stands for the type of its elements in checksums (ElementType). Throws Hdf5Error for a type that no result file has.
  const char* word() const;
  std::vector<std::int32_t> int32s(Rows rows, Budget& budget) const;
  std::vector<std::int64_t> int64s(Rows rows, Budget& budget) const;  ///< accepts int32 or int64
  std::vector<double> doubles(Rows rows, Budget& budget) const;
  std::vector<float> floats(Rows rows, Budget& budget) const;
  std::vector<std::string> texts(Rows rows, Budget& budget) const;
  /// Adds these rows, as stored, to a checksum.
  void add_to(ContentSum& sum, Rows rows, Budget& budget) const;
  /// Number of rows in a slab.
  hsize_t rows_of_slab() const;
  /// A text attribute of this data set; empty if absent.
  std::string attribute(const std::string& name) const;

 private:
  template <class T>
  std::vector<T> read(hid_t stored, hid_t memory, Rows rows, Budget& budget) const;
  void read_rows(hid_t memory, Rows rows, hid_t transfer, void* to) const;
  unsigned long long row_count() const;  ///< number of elements in a row
  std::string name_;
  Hid dataset_, type_;
  std::vector<hsize_t> shape_;
  unsigned long long count_ = 1, stored_ = 0;
};

/// A text attribute; empty if absent. Throws Hdf5Error if it is not one text.
std::string text_attribute(hid_t object, const std::string& name);
/// An integer attribute. Throws Hdf5Error if it is absent or not one 64-bit integer.
long long integer_attribute(hid_t object, const std::string& name);

/// Thrown if a newer program wrote the result file, in a layout that this one cannot read.
struct Newer : Hdf5Error {
  explicit Newer(long long schema);
};

/// An open result file: its head, and its runs on request. Throws Hdf5Error or TooLarge if the file breaks a rule. Files of schema 1 have
/// no checksums: only digest() can tell whether their numbers are right.
class Reader {
 public:
  /// Checks attributes, columns, provenance, numbers of runs and, from schema 2 on, the root checksum.
  Reader(hid_t root, Budget& budget);
  const ResultFile& head() const { return head_; }
  bool has_checksums() const { return schema_ >= 2; }

  /// Reads a whole column of the root table and passes it in slabs to `numbers` or to `texts`, by its type. Compares its checksum at the
  /// end.
  void column(const std::string& name, const std::function<void(const std::vector<double>&)>& numbers,
              const std::function<void(const std::vector<std::string>&)>& texts);
  /// Which contents of a run to read besides its texts, axes and final values.
  enum class Parts { words, values, all };  ///< words: none of them; values: curves and evaluations; all: rollouts and seconds too
  /// The `count` runs from row `from` on.
  std::vector<RunRecord> runs(std::size_t from, std::size_t count, Parts parts);
  /// Names of the curves (or evaluations) of all worlds, each once.
  std::vector<std::string> value_names(Sheets sheet);
  /// Calls visit(run, steps or prompts of its world, values there) for each of the runs `rows` (ascending) whose world has a curve `name`.
  /// Compares the checksums of the values.
  void values(Sheets sheet, const std::string& name, const std::vector<std::uint32_t>& rows,
              const std::function<void(std::uint32_t run, const std::vector<std::int32_t>& places, const double* values)>& visit);
  /// Passes all runs in file order to `visit`, in slabs.
  void each_slab(Parts parts, const std::function<void(std::vector<RunRecord>&)>& visit);
  /// Throws if a run contradicts itself (contradiction_in()), if two runs have one id, or if the suite's name is not valid. Curves are
  /// checked when they are read.
  void check_runs();
  /// Compares every data set with its checksum (from schema 2 on).
  void check_contents();
  /// Computes the result digest of the runs, whatever digest the file claims. Throws if two runs have one id. `sense` gets the
  /// message that check_runs() would throw, or stays empty. It is about the suite's name or the first run (by id) that contradicts
  /// itself.
  std::string digest(std::string* sense = nullptr);
  /// Throws if rollouts, which digest() does not read, have impossible values.
  void check_rollouts();

 private:
  struct World {
    Sheets sheet;
    std::string name, path;                  ///< the name of the world, and "curves/NAME/"
    std::vector<std::int32_t> rows, places;  ///< rows of its runs in the root table; its steps or prompts; both ascending
    std::vector<std::pair<std::string, std::shared_ptr<Source>>> values;
    std::shared_ptr<Source> seconds;  ///< null if there are none
  };
  void read_head(hid_t root);
  void read_columns(hid_t root);
  void read_provenance(hid_t root);
  void check_root_sum(hid_t root);
  std::string fault_of_suite() const;
  void check_status();
  /// Opens a data set of a world. The first ones stay open, since opening is most of the time that a small file takes; their chunks stay in
  /// HDF5's cache.
  std::shared_ptr<Source> open(hid_t group, const std::string& folder, const std::string& name);
  void open_worlds();
  /// Calls visit(name of the root group, world, the world's subgroup) for every subgroup of a world; curves come first.
  void each_world(const std::function<void(const std::string& kind, const std::string& env, const Hid& group)>& visit) const;
  World open_scales(Sheets sheet, const std::string& env, hid_t group);
  void open_world(Sheets sheet, const std::string& env, hid_t group);
  void open_seconds(const std::string& env, hid_t group);
  void read_values(const World& world, std::size_t from, std::vector<RunRecord>& runs, Parts parts);
  void check_values(const World& world, const std::string& name, std::span<const double> values) const;
  const Source& source(const std::string& column) const;
  void check_sum(const Source& source, const std::string& path);
  static bool is_among(Parts parts, Sheets sheet) { return parts == Parts::all || (parts == Parts::values && sheet != sheet_rollouts); }
  std::size_t slab(Parts parts);

  Budget& budget_;
  ResultFile head_;
  long long schema_ = 0;
  Hid root_;
  std::map<std::string, std::string> sums_;            ///< checksum of every data set, by path
  std::vector<std::unique_ptr<Source>> columns_;       ///< in the order of head_.all
  std::vector<World> worlds_;
  std::map<std::string, std::shared_ptr<Source>> kept_;  ///< data sets of worlds that stay open, by path
  bool worlds_open_ = false;
};

/// Opens the HDF5 file in these bytes and calls `use` with a reader of it. Failure `io` if a read fails; `bad_input` if it is damaged or no
/// result file; `limits` if it takes more than `memory` bytes. `path` is for messages.
void with_reader(Bytes& bytes, const std::string& path, std::size_t memory, const std::function<void(Reader&)>& use);

// Checks whether a run of a result file makes sense: its texts, values and ranges must agree, whoever wrote the file and even if its
// checksums are right. Private to results/store/.

/// Values above this are refused as meaningless.
inline constexpr double largest_value = 1e30;

/// Returns "run 'ID' contradicts itself: …" if the run's texts and final values do not agree; otherwise "". They agree if the id is made of
/// the texts, the numbers lie in their ranges, and gain and regret follow from the qualities up to rounding.
std::string contradiction_in(const RunRecord& run);

/// Returns why a curve (evaluation, column of rollouts) of this name cannot have these values; "" if it can. NaN means undefined.
std::string contradiction_in(Sheets sheet, const std::string& curve, std::span<const double> values);

/// Returns why a record that anybody may have made cannot be a run: its words, its values, or its curves; "" if it can.
std::string fault_of(const RunRecord& run);

}  // namespace odrpo::store
