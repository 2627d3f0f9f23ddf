// Stores records one after the other, each behind its length and a checksum.
#include <algorithm>
#include <cerrno>
#include <cstring>

#include "kernels/shared/failure.hpp"
#include "results/store/file/pack.hpp"
#include "results/store/work/work_folder.hpp"

namespace odrpo::store {
namespace {

constexpr std::size_t buffer_bytes = std::size_t{1} << 20;

/// The header of each record: its length and checksum.
struct RowHead {
  std::uint64_t size = 0, sum = 0;
};

/// A checksum against disk damage: multiplies and folds words of eight bytes.
std::uint64_t checksum_of(std::string_view bytes) {
  std::uint64_t sum = bytes.size();
  while (!bytes.empty()) {
    std::uint64_t word = 0;
    const std::size_t count = std::min(bytes.size(), sizeof word);
    std::memcpy(&word, bytes.data(), count);
    sum = (sum ^ word) * 0x9e3779b97f4a7c15;
    sum ^= sum >> 32;
    bytes.remove_prefix(count);
  }
  return sum;
}

}  // namespace

RowFile::RowFile(const Folder& folder) : path_(folder.path_of(temporary(folder, name))), file_(make_file(folder, temporary(folder, name))) {
  remove_file(folder, temporary(folder, name));
}

std::uint64_t RowFile::add(const RunRecord& run) {
  RunRecord copy = run;
  const std::string bytes = packed(copy);
  const RowHead head{bytes.size(), checksum_of(bytes)};
  const std::uint64_t at = written_ + waiting_.size();
  waiting_.append(reinterpret_cast<const char*>(&head), sizeof head);
  waiting_ += bytes;
  if (waiting_.size() >= buffer_bytes) flush();
  return at;
}

void RowFile::flush() {
  if (const int error = write_all(file_, waiting_, written_); error < 0) fail_io("write", path_, -error);
  written_ += waiting_.size();
  waiting_.clear();
}

void RowFile::get(std::uint64_t at, RunRecord& run) const {
  // one read of this size holds most records
  std::string bytes(8192, '\0');
  RowHead head;
  const auto read = [&](char* to, std::size_t count, std::uint64_t from) {
    const ssize_t got = read_some(file_, to, count, from);
    if (got < 0) fail_io("read", path_, static_cast<int>(-got));
    return static_cast<std::size_t>(got);
  };
  const std::size_t first = read(bytes.data(), bytes.size(), at);
  if (first < sizeof head) fail_io("read", path_, EIO);
  std::memcpy(&head, bytes.data(), sizeof head);
  if (head.size > written_) fail_io("read", path_, EIO);
  bytes.resize(sizeof head + head.size);
  if (bytes.size() > first && read(bytes.data() + first, bytes.size() - first, at + first) < bytes.size() - first)
    fail_io("read", path_, EIO);
  Unpack unpack{std::string_view(bytes).substr(sizeof head)};
  if (checksum_of(unpack.bytes) != head.sum) fail_io("read", path_, EIO);
  try {
    exchange(unpack, run);
  } catch (const Hdf5Error&) {
    fail_io("read", path_, EIO);
  }
}

}  // namespace odrpo::store
