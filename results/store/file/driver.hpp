// The virtual file driver by which HDF5 reaches its bytes: a file through the store's System, or memory. Private to results/store/.
// A driver of our own, because HDF5's exit handlers crash after a write has failed: this one keeps the first error and answers success from
// then on, so that the library always closes what it has opened.
#pragma once
#include <cstdint>
#include <string>

#include "results/store/work/files.hpp"
#include "results/store/file/hdf5.hpp"

namespace odrpo::store {

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

}  // namespace odrpo::store
