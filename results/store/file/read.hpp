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

#include "results/store/file/layout.hpp"
#include "results/store/file/source.hpp"
#include "results/store/record.hpp"
#include "results/store/result_file.hpp"

namespace odrpo::store {

/// A result file of a later program.
struct Newer : Hdf5Error {
  explicit Newer(long long schema);
};

/// An open result file: what it says of its suite, and its runs on demand. Throws Hdf5Error or TooLarge whenever something is not as it
/// should be. Files of schema 1 have no checksums: only digest() tells whether their numbers are right.
class Reader {
 public:
  /// Checks attributes, columns, provenance, the counts and, in schema 2, the root checksum.
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
  /// Calls visit(run, steps or prompts of its world, values at them) for those of the rows that are in a world which has these values.
  /// `rows` ascend. Compares the checksums of the values.
  void values(Sheets sheet, const std::string& name, const std::vector<std::uint32_t>& rows,
              const std::function<void(std::uint32_t run, const std::vector<std::int32_t>& places, const double* values)>& visit);
  /// All runs in file order, in slabs.
  void each_slab(Parts parts, const std::function<void(std::vector<RunRecord>&)>& visit);
  /// Throws where a run contradicts itself or comes twice, or the suite's name is none (contradiction_in()). Curves are looked at when they
  /// are read.
  void check_runs();
  /// Compares every data set with its checksum (schema 2).
  void check_contents();
  /// The result digest of the runs, whatever the file claims. Throws when two runs have one id. `sense` also gets what check_runs() would throw
  /// of a suite's name or of the first run, by id, that contradicts itself; else it is left empty.
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

/// No value that means anything is as large.
inline constexpr double largest_value = 1e30;

/// "run 'ID' contradicts itself: …", of words and final values; empty where they do not: its id is made of its words, numbers lie in their
/// ranges, gain and regret follow from the qualities within roundings.
std::string contradiction_in(const RunRecord& run);

/// Why no curve (or evaluation) of this name has these values; empty where one can. NaN is undefined.
std::string contradiction_in(const std::string& curve, std::span<const double> values);

}  // namespace odrpo::store
