// Declares the HDF5 handles and small writers that the store's files share. Private to results/store/.
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

/// Any refusal by the HDF5 library or by our checks. Public functions turn it into a Failure with the path and the right exit code.
struct Hdf5Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// An HDF5 identifier that closes itself. Throws Hdf5Error when the library returned none.
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
  /// Closes now and says whether it worked (a close may be the write that fails).
  bool close() { return close_(std::exchange(id_, H5I_INVALID_HID)) >= 0; }

 private:
  hid_t id_;
  Close close_;
};

/// Keeps the library's error stack off stderr and filter plugins unloaded. Public functions call it first: the stack is per thread.
void quiet();

/// Throws Hdf5Error when a call returned a negative status.
void need(herr_t status, const std::string& what);

Hid string_type();                          ///< variable-length UTF-8
Hid space(std::span<const hsize_t> shape);  ///< empty shape = scalar
Hid make_group(hid_t parent, const std::string& name);
/// A data set without object times. Chunked with shuffle + deflate + fletcher32 when `packed`; `fill` (may be null) points to one
/// element of `type`, stored as HDF5 fill value and as attribute _FillValue.
Hid make_dataset(hid_t parent, const std::string& name, hid_t type, std::span<const hsize_t> shape, bool packed = false,
                 const void* fill = nullptr);
/// One text as a data set without dimensions.
Hid write_text(hid_t parent, const std::string& name, const std::string& text);
void set_attribute(hid_t object, const std::string& name, const std::string& text);
void set_attribute(hid_t object, const std::string& name, long long value);

/// How elements lie in the file and in memory, and their name in checksums.
struct ElementType {
  hid_t stored, memory;
  const char* word;
};
ElementType int32_type();
ElementType int64_type();
ElementType double_type();
ElementType float_type();

/// Checksum of a data set's contents: SHA-256 over type word, NUL, shape ("3,20"), NUL, and the elements in row-major order. Numbers count
/// as stored (little-endian), each text followed by NUL. Kept as attribute `sha256` of the data set.
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

/// A data set that is written in slabs of whole rows (its first dimension), in order.
class SlabWriter {
 public:
  /// Numbers. Packed ones are for curves: rows x steps (x stages).
  SlabWriter(hid_t parent, const std::string& name, ElementType type, std::vector<hsize_t> shape, bool packed = false,
             const void* fill = nullptr);
  /// Texts.
  SlabWriter(hid_t parent, const std::string& name, std::vector<hsize_t> shape);
  hid_t id() const { return dataset_; }
  void rows(const void* data, std::size_t count);
  void rows(std::span<const std::string> texts);
  /// Writes the attribute `sha256`, once all rows are there; returns it.
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

/// Dimension scales of one group, written as the HDF5 dimension-scale specification says. (The high-level library writes
/// uninitialised padding into REFERENCE_LIST, which would make equal files differ.)
class Scales {
 public:
  /// Makes a one-dimensional data set a scale. Returns its index.
  std::size_t add(hid_t dataset, const std::string& name);
  /// Gives each dimension of a data set its scale.
  void attach(hid_t dataset, std::span<const std::size_t> scales);
  /// Writes every scale's list of users. Call once, at the end.
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
