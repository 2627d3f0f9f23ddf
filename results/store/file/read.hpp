// Reads the layout of a result file in slabs, with suspicion: nothing in it is believed before it is checked. Private to results/store/.
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

// Reading HDF5 that somebody else may have written: every link, type, filter, layout and size is checked before a byte is read.
// Private to results/store/.

/// Bytes of memory that a reader may still take; what it keeps or allocates is charged first. Throws TooLarge.
struct Budget {
  unsigned long long left;
  void charge(unsigned long long bytes, const std::string& what);
  void give_back(unsigned long long bytes) { left += bytes; }
};
/// The file is perhaps right, but reading it takes more memory than is allowed.
struct TooLarge : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Names in a group, in creation order when the file keeps it, else sorted. Only hard links are accepted.
std::vector<std::string> link_names(hid_t group, const std::string& what);
/// Is there a hard link of this name? (Any other kind of link is refused.)
bool has_link(hid_t group, const std::string& name);
Hid open_group(hid_t parent, const std::string& name);

/// Some whole rows of a data set (its first dimension); a data set without dimensions has one row.
struct Rows {
  hsize_t from = 0, count = 0;
};

/// A data set opened with suspicion. A read leaves nothing charged to the budget: a caller that keeps the values charges them.
class Source {
 public:
  Source(hid_t parent, const std::string& name);
  const std::vector<hsize_t>& shape() const { return shape_; }
  const std::string& name() const { return name_; }
  Rows all() const { return {0, shape_.empty() ? 1 : shape_[0]}; }
  /// Refuses another shape.
  void expect(const std::vector<hsize_t>& shape) const;
  bool is_text() const;
  bool is(hid_t type) const;
  bool is_integer() const { return is(H5T_STD_I32LE) || is(H5T_STD_I64LE); }
  /// The type's word in checksums. Throws Hdf5Error for a type that no result file has.
  const char* word() const;
  std::vector<std::int32_t> int32s(Rows rows, Budget& budget) const;
  std::vector<std::int64_t> int64s(Rows rows, Budget& budget) const;  ///< from int32 or int64
  std::vector<double> doubles(Rows rows, Budget& budget) const;
  std::vector<float> floats(Rows rows, Budget& budget) const;
  std::vector<std::string> texts(Rows rows, Budget& budget) const;
  /// Adds these rows to a checksum, as they are stored.
  void add_to(ContentSum& sum, Rows rows, Budget& budget) const;
  /// How many rows are about a slab.
  hsize_t rows_of_slab() const;
  /// Text attribute of this data set; empty when absent.
  std::string attribute(const std::string& name) const;

 private:
  template <class T>
  std::vector<T> read(hid_t stored, hid_t memory, Rows rows, Budget& budget) const;
  void read_rows(hid_t memory, Rows rows, hid_t transfer, void* to) const;
  unsigned long long row_count() const;  ///< elements of a row
  std::string name_;
  Hid dataset_, type_;
  std::vector<hsize_t> shape_;
  unsigned long long count_ = 1, stored_ = 0;
};

/// Text attribute; empty when absent. Throws when it is something else.
std::string text_attribute(hid_t object, const std::string& name);
/// Integer attribute; throws when absent or something else.
long long integer_attribute(hid_t object, const std::string& name);

/// A result file of a later program.
struct Newer : Hdf5Error {
  explicit Newer(long long schema);
};

/// An open result file: what it says of its suite, and its runs on demand. Throws Hdf5Error or TooLarge whenever something is not as it
/// should be. Files of schema 1 have no checksums: only digest() tells whether their numbers are right.
class Reader {
 public:
  /// Checks attributes, columns, provenance, the counts and, from schema 2 on, the root checksum.
  Reader(hid_t root, Budget& budget);
  const ResultFile& head() const { return head_; }
  bool has_checksums() const { return schema_ >= 2; }

  /// A column of the root table from the first run to the last: one of the visitors gets it in slabs. Compares its checksum at the end.
  void column(const std::string& name, const std::function<void(const std::vector<double>&)>& numbers,
              const std::function<void(const std::vector<std::string>&)>& texts);
  /// Which parts of a run are wanted besides its words, axes and finals.
  enum class Parts { words, values, all };  ///< values: curves and evaluations; all: seconds too
  /// Some runs of the file.
  std::vector<RunRecord> runs(std::size_t from, std::size_t count, Parts parts);
  /// Names of the curves (or evaluations) of all worlds, each once.
  std::vector<std::string> value_names(Sheets sheet);
  /// Calls visit(run, steps or prompts of its world, values at them) for each of `rows` whose world has these values. `rows` ascend.
  /// Compares the checksums of the values.
  void values(Sheets sheet, const std::string& name, const std::vector<std::uint32_t>& rows,
              const std::function<void(std::uint32_t run, const std::vector<std::int32_t>& places, const double* values)>& visit);
  /// All runs in file order, in slabs.
  void each_slab(Parts parts, const std::function<void(std::vector<RunRecord>&)>& visit);
  /// Throws where a run contradicts itself or comes twice, or the suite's name is none (contradiction_in()). Curves are looked at when they
  /// are read.
  void check_runs();
  /// Compares every data set with its checksum (from schema 2 on).
  void check_contents();
  /// The result digest of the runs, whatever the file claims. Throws when two runs have one id. `sense` gets what check_runs() would throw:
  /// of the suite's name, or of the first run, by id, that contradicts itself. Else it is left empty.
  std::string digest(std::string* sense = nullptr);

 private:
  struct World {
    Sheets sheet;
    std::string name, path;                  ///< of the env, and "curves/NAME/"
    std::vector<std::int32_t> rows, places;  ///< of the root table; on the sheet's scale, ascending
    std::vector<std::pair<std::string, std::unique_ptr<Source>>> values;
    std::unique_ptr<Source> seconds;  ///< null where the sheet has none
  };
  void read_head(hid_t root);
  void read_columns(hid_t root);
  void read_provenance(hid_t root);
  void check_root_sum(hid_t root);
  std::string fault_of_suite() const;
  void check_status();
  void open_worlds();
  /// Calls visit(group of the root, env, group of the world) for every group of a world, those of the curves first.
  void each_world(const std::function<void(const std::string& kind, const std::string& env, const Hid& group)>& visit) const;
  World open_scales(Sheets sheet, const std::string& env, hid_t group);
  void open_world(Sheets sheet, const std::string& env, hid_t group);
  void open_seconds(const std::string& env, hid_t group);
  void read_values(const World& world, std::size_t from, std::vector<RunRecord>& runs, Parts parts);
  void check_values(const World& world, const std::string& name, std::span<const double> values) const;
  const Source& source(const std::string& column) const;
  void check_sum(const Source& source, const std::string& path);
  std::size_t slab(Parts parts);

  Budget& budget_;
  ResultFile head_;
  long long schema_ = 0;
  Hid root_;
  std::map<std::string, std::string> sums_;            ///< of every data set, by path
  std::vector<std::unique_ptr<Source>> columns_;       ///< as head_.all
  std::vector<World> worlds_;
  bool worlds_open_ = false;
};

/// Opens the HDF5 file in these bytes and calls `use` with its reader. Failure io when a read failed, bad_input when it is not a result
/// file or is damaged, limits when it needs more than `memory` bytes. `path` is for messages.
void with_reader(Bytes& bytes, const std::string& path, std::size_t memory, const std::function<void(Reader&)>& use);

// Does a run of a result file make sense? Its words, values and ranges must agree, whoever wrote them and whatever checksums they have. Private to
// results/store/.

/// Larger values mean nothing.
inline constexpr double largest_value = 1e30;

/// "run 'ID' contradicts itself: …", of words and final values; empty where the run makes sense. Then its id is made of its words, and
/// numbers lie in their ranges. Gain and regret follow from the qualities within roundings.
std::string contradiction_in(const RunRecord& run);

/// Why no curve (or evaluation) of this name has these values; empty where one can. NaN is undefined.
std::string contradiction_in(const std::string& curve, std::span<const double> values);

}  // namespace odrpo::store
