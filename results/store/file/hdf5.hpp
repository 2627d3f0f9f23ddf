// Declares the HDF5 handles and small writers that the files of this folder share. Private to results/store/.
#pragma once
#include <hdf5.h>

#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "results/store/digest.hpp"

namespace odrpo::store {

/// An error from the HDF5 library or from our checks of a file. The store's public functions turn it into a Failure with path and exit
/// code.
struct Hdf5Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// An owner of an HDF5 identifier, which closes it. Throws Hdf5Error if the library returned an invalid one.
class Hid {
 public:
  using Close = herr_t (*)(hid_t);
  Hid(hid_t id, Close close, const std::string& what) : id_(id), close_(close) {
    if (id < 0) throw Hdf5Error("HDF5 refused: " + what);
  }
  Hid(Hid&& other) noexcept : id_(std::exchange(other.id_, H5I_INVALID_HID)), close_(other.close_) {}
  Hid& operator=(Hid&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
    return *this;
  }
  ~Hid() {
    if (id_ >= 0) close_(id_);
  }
  operator hid_t() const { return id_; }
  /// Closes now and returns whether that worked, since a close may perform the write that fails.
  bool close() { return close_(std::exchange(id_, H5I_INVALID_HID)) >= 0; }

 private:
  hid_t id_;
  Close close_;
};

/// Keeps HDF5's error messages off stderr and its filter plugins unloaded. Each public function calls it first, since the error stack is
/// per thread.
void quiet();

/// Throws Hdf5Error when a call returned a negative status.
void need(herr_t status, const std::string& what);

Hid string_type();                          ///< variable-length UTF-8
/// A transfer list for texts. HDF5 clears two buffers of 1 MiB for every read or write of texts, unless the list has a smaller size.
Hid text_transfer();
Hid space(std::span<const hsize_t> shape);  ///< empty shape = scalar
Hid make_group(hid_t parent, const std::string& name);
/// Makes a data set in `parent`. `packed`: chunked with shuffle, deflate and fletcher32. `fill` (may be null) points to one element of
/// `type`; it is stored as HDF5 fill value and as attribute _FillValue.
Hid make_dataset(hid_t parent, const std::string& name, hid_t type, std::span<const hsize_t> shape, bool packed = false,
                 const void* fill = nullptr);
/// Writes one text as a data set without dimensions.
Hid write_text(hid_t parent, const std::string& name, const std::string& text);
void set_attribute(hid_t object, const std::string& name, const std::string& text);
void set_attribute(hid_t object, const std::string& name, long long value);

/// HDF5's type of a data set's elements in the file and in memory, and the type's word in checksums.
struct ElementType {
  hid_t stored, memory;
  const char* word;
};
ElementType int32_type();
ElementType int64_type();
ElementType double_type();
ElementType float_type();

/// Checksum of a data set: SHA-256 over type word, NUL, shape ("3,20"), NUL, and the elements in row-major order. Numbers count as stored
/// (little-endian); a NUL follows each text. The attribute `sha256` of the data set holds it.
class ContentSum {
 public:
  ContentSum(const char* word, std::span<const hsize_t> shape);
  void numbers(const void* data, std::size_t bytes) { sum_.add(data, bytes); }
  void text(std::string_view text);
  std::string hex() { return sum_.hex(); }

 private:
  Sha256 sum_;
};
inline constexpr const char* content_sum_name = "sha256";
inline constexpr const char* text_word = "utf8";

/// Writes a data set in slabs of whole rows (along its first dimension), in order.
class SlabWriter {
 public:
  /// Makes a data set of numbers. `packed` is for curves, which have dimensions runs x steps (x stages).
  SlabWriter(hid_t parent, const std::string& name, ElementType type, std::vector<hsize_t> shape, bool packed = false,
             const void* fill = nullptr);
  /// Makes a data set of texts.
  SlabWriter(hid_t parent, const std::string& name, std::vector<hsize_t> shape);
  hid_t id() const { return dataset_; }
  void rows(const void* data, std::size_t count);
  void rows(std::span<const std::string> texts);
  /// Writes the attribute `sha256` after the last row, and returns it.
  std::string finish();

 private:
  void write(hid_t memory_type, const void* data, hsize_t count);
  std::vector<hsize_t> shape_;
  hid_t memory_;  ///< invalid for texts
  std::size_t row_bytes_ = 0;
  Hid text_type_, dataset_;
  hsize_t next_ = 0;
  ContentSum sum_;
};

/// The HDF5 dimension scales (data sets with a dimension's coordinates) of one group, written as HDF5's dimension-scale specification says.
/// HDF5's own high-level library is not used: it writes uninitialised padding into REFERENCE_LIST, so that equal files would differ.
class Scales {
 public:
  /// Makes a one-dimensional data set an HDF5 dimension scale. Returns its index for attach().
  std::size_t add(hid_t dataset, const std::string& name);
  /// Attaches an HDF5 dimension scale to each dimension of a data set. `scales`: indices from add().
  void attach(hid_t dataset, std::span<const std::size_t> scales);
  /// Writes, for every HDF5 dimension scale, the list of data sets that use it. Call it once, at the end.
  void finish();

 private:
  struct Use {
    hobj_ref_t dataset;
    int dimension;
  };
  struct Scale {
    Hid dataset;
    hobj_ref_t reference;
    std::vector<Use> uses;
  };
  std::vector<Scale> scales_;
};

}  // namespace odrpo::store
