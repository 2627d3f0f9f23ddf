// Reading HDF5 that somebody else may have written: every link, type, filter, layout and size is checked before a byte is read.
// Private to results/store*.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "results/store_hdf5.hpp"

namespace odrpo::store {

/// Bytes that may still be read from this file; every read is charged first.
struct Budget {
  unsigned long long left;
  void charge(unsigned long long bytes, const std::string& what);
};

/// Names in a group, in creation order when the file keeps it, else sorted. Only hard links are accepted.
std::vector<std::string> link_names(hid_t group, const std::string& what);
/// Is there a hard link of this name? (Any other kind of link is refused.)
bool has_link(hid_t group, const std::string& name);
Hid open_group(hid_t parent, const std::string& name);

/// A data set opened with suspicion.
class Source {
 public:
  Source(hid_t parent, const std::string& name);
  const std::vector<hsize_t>& shape() const { return shape_; }
  /// Refuses another shape.
  void expect(const std::vector<hsize_t>& shape) const;
  bool is_text() const;
  bool is(hid_t type) const;
  std::vector<std::int32_t> int32s(Budget& budget) const;
  std::vector<std::int64_t> int64s(Budget& budget) const;  ///< from int32 or int64
  std::vector<double> doubles(Budget& budget) const;
  std::vector<float> floats(Budget& budget) const;
  std::vector<std::string> texts(Budget& budget) const;
  /// Text attribute of this data set; empty when absent.
  std::string attribute(const std::string& name) const;

 private:
  template <class T>
  std::vector<T> read(hid_t stored, hid_t memory, Budget& budget) const;
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
