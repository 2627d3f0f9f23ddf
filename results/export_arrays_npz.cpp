// Named arrays as numpy's .npz: .npy files (format 1.0) in a zip archive that minizip makes in memory.
#include <fmt/format.h>
#include <minizip/zip.h>

#include <algorithm>
#include <bit>
#include <cstdio>

#include "kernels/failure.hpp"
#include "kernels/utf8.hpp"
#include "results/export_arrays.hpp"

namespace odrpo {
namespace {

static_assert(std::endian::native == std::endian::little, "the headers of .npy files say that numbers are little-endian");

/// What numpy calls the type, and the bytes.
struct NpyData {
  std::string type, bytes;
};

template <class T>
NpyData npy_numbers(const char* type, const std::vector<T>& values) {
  return {type, std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T))};
}

struct ToNpy {
  /// numpy's texts have four bytes a character, and end before trailing zeros.
  NpyData operator()(const std::string& text) const {
    std::vector<char32_t> points;
    for (std::string_view rest = text; !rest.empty();) {
      const Character c = first_character(rest);
      if (c.bytes == 0) throw Failure(Exit::internal, "a text of an array is no UTF-8");
      points.push_back(c.point);
      rest.remove_prefix(c.bytes);
    }
    if (points.empty()) points.push_back(0);
    return npy_numbers(fmt::format("<U{}", points.size()).c_str(), points);
  }
  NpyData operator()(const std::vector<std::int64_t>& values) const { return npy_numbers("<i8", values); }
  NpyData operator()(const std::vector<std::uint8_t>& values) const { return npy_numbers("|u1", values); }
  NpyData operator()(const std::vector<double>& values) const { return npy_numbers("<f8", values); }
};

/// A file in memory, as minizip writes one.
struct MemoryFile {
  std::string bytes;
  std::size_t place = 0;
};
MemoryFile& file_of(voidpf opaque) { return *static_cast<MemoryFile*>(opaque); }
voidpf open_file(voidpf opaque, const void*, int) { return opaque; }
uLong read_file(voidpf opaque, voidpf, void* to, uLong size) {
  MemoryFile& file = file_of(opaque);
  const std::size_t n = std::min<std::size_t>(size, file.bytes.size() - file.place);
  std::copy_n(file.bytes.data() + file.place, n, static_cast<char*>(to));
  file.place += n;
  return n;
}
uLong write_file(voidpf opaque, voidpf, const void* from, uLong size) {
  MemoryFile& file = file_of(opaque);
  if (file.place + size > file.bytes.size()) file.bytes.resize(file.place + size);
  std::copy_n(static_cast<const char*>(from), size, file.bytes.data() + file.place);
  file.place += size;
  return size;
}
ZPOS64_T tell_file(voidpf opaque, voidpf) { return file_of(opaque).place; }
long seek_file(voidpf opaque, voidpf, ZPOS64_T offset, int origin) {
  MemoryFile& file = file_of(opaque);
  const std::size_t from = origin == ZLIB_FILEFUNC_SEEK_CUR ? file.place : origin == ZLIB_FILEFUNC_SEEK_END ? file.bytes.size() : 0;
  if (from + offset > file.bytes.size()) return -1;
  file.place = from + offset;
  return 0;
}
int end_file(voidpf, voidpf) { return 0; }

}  // namespace

std::string array_npy(const NamedArray& array) {
  constexpr std::size_t before = 10, aligned = 64;  // magic, version and length of the header; numpy aligns what follows it
  const NpyData data = std::visit(ToNpy(), array.values);
  std::string shape;
  for (const std::size_t n : array.shape) shape += fmt::format("{},", n);
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", data.type, shape);
  header.append(aligned - 1 - (before + header.size()) % aligned, ' ');
  header += '\n';
  const auto size = static_cast<unsigned>(header.size());
  std::string bytes("\x93NUMPY\x01\x00", 8);
  bytes += static_cast<char>(size & 0xFF);
  bytes += static_cast<char>(size >> 8);
  return bytes + header + data.bytes;
}

std::string arrays_npz(std::span<const NamedArray> arrays) {
  std::vector<std::string> npy;  // before the archive is open: a text may be refused
  for (const NamedArray& array : arrays) npy.push_back(array_npy(array));
  MemoryFile file;
  zlib_filefunc64_def memory{open_file, read_file, write_file, tell_file, seek_file, end_file, end_file, &file};
  const zipFile zip = zipOpen2_64("", APPEND_STATUS_CREATE, nullptr, &memory);
  if (zip == nullptr) throw Failure(Exit::internal, "minizip cannot make an archive in memory");
  zip_fileinfo made{};
  made.tmz_date.tm_mday = 1;
  made.tmz_date.tm_year = 1980;  // the first date of a zip archive: no time of day in the bytes
  int answer = ZIP_OK;
  for (std::size_t i = 0; i < npy.size() && answer == ZIP_OK; ++i) {
    const int method = i > 0 ? Z_DEFLATED : 0;
    answer = zipOpenNewFileInZip(zip, (arrays[i].name + ".npy").c_str(), &made, nullptr, 0, nullptr, 0, nullptr, method,
                                 i > 0 ? Z_DEFAULT_COMPRESSION : 0);
    if (answer == ZIP_OK) answer = zipWriteInFileInZip(zip, npy[i].data(), static_cast<unsigned>(npy[i].size()));
    if (answer == ZIP_OK) answer = zipCloseFileInZip(zip);
  }
  const int closed = zipClose(zip, nullptr);  // frees what it holds, whatever came before
  if (answer != ZIP_OK || closed != ZIP_OK)
    throw Failure(Exit::internal, fmt::format("minizip answers {} while it makes an archive in memory", answer != ZIP_OK ? answer : closed));
  return std::move(file.bytes);
}

}  // namespace odrpo
