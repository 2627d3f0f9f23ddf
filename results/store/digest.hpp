// Computes SHA-256 and base64 with OpenSSL, and the digest of a result file.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "results/store/record.hpp"

namespace odrpo {

/// SHA-256 of bytes added piece by piece.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;
  void add(const void* bytes, std::size_t count);
  void add(std::string_view text) { add(text.data(), text.size()); }
  /// Returns the digest as 64 lower-case hex digits. Call it once, at the end.
  std::string hex();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// SHA-256 of a text, as 64 lower-case hex digits.
std::string sha256_hex(std::string_view text);
/// SHA-256 of a file's bytes, read piece by piece; empty where the file cannot be read.
std::string sha256_of_file(const std::string& path);
/// Encodes bytes as base64 (RFC 4648).
std::string base64(std::string_view bytes);

// The result digest, computed run by run, for files whose runs do not all fit in memory.

/// SHA-256 of the science of a result file, as hex. Hashes each run's variables sorted by name: name, dtype, shape, little-endian bytes.
/// Leaves out seconds, modelled_seconds, status, provenance, device and jobs (docs/results.md). The caller adds the runs in the order of
/// id_order().
class ResultDigest {
 public:
  void add(const RunRecord& run);
  std::string hex() { return sum_.hex(); }

 private:
  Sha256 sum_;
};

/// A list of many texts. Its blocks of memory never move, so that growing needs no second copy.
class TextList {
 public:
  void add(std::string_view text);
  std::size_t size() const { return places_.size(); }
  std::string_view operator[](std::size_t i) const {
    const Place& place = places_[i];
    return std::string_view(pieces_[place.piece]).substr(place.from, place.size);
  }

 private:
  struct Place {
    std::uint32_t piece, from, size;
  };
  static constexpr std::size_t piece_bytes = std::size_t{1} << 20;
  std::deque<std::string> pieces_;
  std::deque<Place> places_;
};

/// Indices of the ids, sorted by the bytes of the ids; equal ids keep their order.
std::vector<std::uint32_t> id_order(const TextList& ids);

/// The result digest of runs in memory, in any order.
std::string result_digest(std::span<const RunRecord> runs);

}  // namespace odrpo
