// Implements HDF5's virtual file driver interface on top of Bytes. Works with HDF5 1.10 to 1.14, whose driver tables differ by two fields.
#include "results/store/file/layout.hpp"

#if __has_include(<H5FDdevelop.h>)
#include <H5FDdevelop.h>
#endif

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

namespace odrpo::store {
namespace {

/// An open file of this driver. HDF5 expects its own struct first.
struct OpenFile {
  H5FD_t base{};
  Bytes* bytes = nullptr;
  haddr_t end_of_allocation = 0;
  bool writing = false;
};

Bytes& bytes_of(H5FD_t* file) { return *reinterpret_cast<OpenFile*>(file)->bytes; }
const Bytes& bytes_of(const H5FD_t* file) { return *reinterpret_cast<const OpenFile*>(file)->bytes; }

/// What HDF5's list of access properties holds for this driver: the address of the Bytes.
struct Access {
  Bytes* bytes;
};

H5FD_t* open(const char*, unsigned flags, hid_t list, haddr_t) {
  const auto* access = static_cast<const Access*>(H5Pget_driver_info(list));
  if (!access) return nullptr;
  auto* file = new (std::nothrow) OpenFile;
  if (!file) return nullptr;
  file->bytes = access->bytes;
  file->writing = flags & H5F_ACC_RDWR;
  if (flags & H5F_ACC_TRUNC) {
    file->bytes->size = 0;
    if (file->bytes->written) file->bytes->written->clear();
  }
  return &file->base;
}

herr_t close(H5FD_t* file) {
  delete reinterpret_cast<OpenFile*>(file);
  return 0;
}

herr_t query(const H5FD_t*, unsigned long* flags) {
  if (flags) *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_DATA_SIEVE | H5FD_FEAT_AGGREGATE_SMALLDATA;
  return 0;
}

haddr_t get_eoa(const H5FD_t* file, H5FD_mem_t) { return reinterpret_cast<const OpenFile*>(file)->end_of_allocation; }
herr_t set_eoa(H5FD_t* file, H5FD_mem_t, haddr_t address) {
  reinterpret_cast<OpenFile*>(file)->end_of_allocation = address;
  return 0;
}
haddr_t get_eof(const H5FD_t* file, H5FD_mem_t) { return bytes_of(file).size; }

/// Bytes beyond the end read as zeros, as HDF5 expects.
herr_t read(H5FD_t* file, H5FD_mem_t, hid_t, haddr_t address, std::size_t size, void* buffer) {
  Bytes& bytes = bytes_of(file);
  std::size_t count = 0;
  if (bytes.file) {
    const ssize_t got = read_some(*bytes.file, buffer, size, address);
    if (got < 0 && bytes.error == 0) bytes.error = static_cast<int>(-got);
    if (got < 0 && !reinterpret_cast<OpenFile*>(file)->writing) return -1;
    count = static_cast<std::size_t>(std::max<ssize_t>(got, 0));
  } else {
    const std::string_view all = bytes.written ? std::string_view(*bytes.written) : bytes.image;
    count = address < all.size() ? std::min<std::size_t>(size, all.size() - address) : 0;
    if (count > 0) std::memcpy(buffer, all.data() + address, count);
  }
  std::memset(static_cast<char*>(buffer) + count, 0, size - count);
  return 0;
}

herr_t write(H5FD_t* file, H5FD_mem_t, hid_t, haddr_t address, std::size_t size, const void* buffer) {
  Bytes& bytes = bytes_of(file);
  bytes.size = std::max<std::uint64_t>(bytes.size, address + size);
  if (bytes.written) {
    if (bytes.written->size() < bytes.size) try {
        bytes.written->resize(bytes.size);
      } catch (const std::bad_alloc&) {
        bytes.error = ENOMEM;
      }
    if (bytes.error == 0) std::memcpy(bytes.written->data() + address, buffer, size);
  } else if (bytes.error == 0) {
    bytes.error = -write_all(*bytes.file, {static_cast<const char*>(buffer), size}, address);
  }
  return 0;  // also after an error
}

/// Gives the stored file the length that HDF5 has allocated.
herr_t truncate(H5FD_t* file, hid_t, hbool_t) {
  Bytes& bytes = bytes_of(file);
  const haddr_t end = reinterpret_cast<OpenFile*>(file)->end_of_allocation;
  if (bytes.size == end || (!bytes.written && !bytes.file) || bytes.error != 0) return 0;
  bytes.size = end;
  if (bytes.written) try {
      bytes.written->resize(end);
    } catch (const std::bad_alloc&) {
      bytes.error = ENOMEM;
    }
  else bytes.error = -std::min(0, again([&] { return bytes.file->system().resize(bytes.file->number(), static_cast<off_t>(end)); }));
  return 0;
}

/// The id of the driver; it is registered once for the life of the library.
hid_t driver() {
  static const hid_t registered = [] {
    static H5FD_class_t c{};
    c.name = "odrpo";
    c.maxaddr = (haddr_t{1} << 62);
    c.fc_degree = H5F_CLOSE_STRONG;
    c.fapl_size = sizeof(Access);
    c.open = open;
    c.close = close;
    c.query = query;
    c.get_eoa = get_eoa;
    c.set_eoa = set_eoa;
    c.get_eof = get_eof;
    c.read = read;
    c.write = write;
    c.truncate = truncate;
    const H5FD_mem_t map[] = H5FD_FLMAP_DICHOTOMY;
    std::copy(std::begin(map), std::end(map), c.fl_map);
#ifdef H5FD_CLASS_VERSION
    c.version = H5FD_CLASS_VERSION;
    c.value = 600;  // any number from 512 on that no registered driver has
#endif
    return H5FDregister(&c);
  }();
  return registered;
}

Hid access_list(Bytes& bytes) {
  Hid list(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "access list");
  const Access access{&bytes};
  need(H5Pset_driver(list, driver(), &access), "driver");
  return list;
}

}  // namespace

Hid create_hdf5(Bytes& bytes) {
  Hid list(H5Pcreate(H5P_FILE_CREATE), H5Pclose, "creation list");
  need(H5Pset_link_creation_order(list, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED), "link order");
  need(H5Pset_attr_creation_order(list, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED), "attribute order");
  need(H5Pset_obj_track_times(list, false), "object times");
  return {H5Fcreate("odrpo", H5F_ACC_TRUNC, list, access_list(bytes)), H5Fclose, "creating a file"};
}

hid_t open_hdf5(Bytes& bytes) { return H5Fopen("odrpo", H5F_ACC_RDONLY, access_list(bytes)); }

void close_hdf5(Hid& file) {
  need(H5Fflush(file, H5F_SCOPE_GLOBAL), "writing the file");
  if (!file.close()) throw Hdf5Error("HDF5 refused: closing the file");
}

}  // namespace odrpo::store
