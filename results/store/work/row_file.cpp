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
  if (!file_) {
    file_ = make_file(folder_, temporary(folder_, name));
    remove_file(folder_, temporary(folder_, name));
  }
  if (const int error = write_all(file_, waiting_, written_); error < 0) fail_io("write", folder_.path_of(name), -error);
  written_ += waiting_.size();
  waiting_.clear();
}

/// Up to `count` bytes from offset `at`; fewer at the end of the file.
std::string RowFile::bytes_at(std::uint64_t at, std::size_t count) const {
  if (at >= written_) return waiting_.substr(at - written_, count);
  std::string bytes(std::min<std::uint64_t>(count, written_ - at), '\0');
  const ssize_t got = read_some(file_, bytes.data(), bytes.size(), at);
  if (got < 0) fail_io("read", folder_.path_of(name), static_cast<int>(-got));
  bytes.resize(static_cast<std::size_t>(got));
  return bytes;
}

void RowFile::get(std::uint64_t at, RunRecord& run) const {
  constexpr std::size_t usual = 8192;  // one read of this size holds most records
  std::string bytes = bytes_at(at, usual);
  RowHead head;
  const auto damaged = [&] { fail_io("read", folder_.path_of(name), EIO); };
  if (bytes.size() < sizeof head) damaged();
  std::memcpy(&head, bytes.data(), sizeof head);
  if (head.size > written_ + waiting_.size()) damaged();
  const std::size_t size = sizeof head + head.size;
  if (bytes.size() < size) bytes += bytes_at(at + bytes.size(), size - bytes.size());
  if (bytes.size() < size) damaged();
  Unpack unpack{std::string_view(bytes).substr(sizeof head, head.size)};
  if (checksum_of(unpack.bytes) != head.sum) damaged();
  try {
    exchange(unpack, run);
  } catch (const Hdf5Error&) {
    damaged();
  }
}

}  // namespace odrpo::store
