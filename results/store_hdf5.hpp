// The HDF5 handles and small writers that the store's files share. Private to results/store*.
#pragma once
#include <hdf5.h>

#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace odrpo::store {

/// Any refusal by the HDF5 library or by our checks; the doors turn it into a Failure with the path and the right exit code.
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

/// Keeps the library's error stack off the user's stderr and filter plugins unloaded. Call at every door: the stack is per thread.
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
void write_all(hid_t dataset, hid_t memory_type, const void* data);
/// A data set of strings (empty shape: one string).
Hid write_strings(hid_t parent, const std::string& name, std::span<const std::string> texts, std::span<const hsize_t> shape);
void set_attribute(hid_t object, const std::string& name, const std::string& text);
void set_attribute(hid_t object, const std::string& name, long long value);

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
