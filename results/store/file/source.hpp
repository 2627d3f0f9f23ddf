// Reading HDF5 that somebody else may have written: every link, type, filter, layout and size is checked before a byte is read.
// Private to results/store/.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "results/store/file/hdf5.hpp"

namespace odrpo::store {

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

/// A data set opened with suspicion. Nothing that a read returns stays charged to the budget: who keeps it charges it.
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

}  // namespace odrpo::store
