// Computes SHA-256 of text and of streams of bytes, and base64, by OpenSSL; and the digest of results.
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
  /// 64 lower-case hex digits. Call it once, at the end.
  std::string hex();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// 64 lower-case hex digits of the SHA-256 of a text.
std::string sha256_hex(std::string_view text);
/// Bytes as base64 (RFC 4648).
std::string base64(std::string_view bytes);

// The result digest, run by run: for files whose runs do not all fit in memory.

/// SHA-256 (hex) over runs sorted by id and variables sorted by name: name, dtype, shape, little-endian bytes; without seconds,
/// modelled_seconds, status, provenance, device, jobs (docs/results.md). Runs are added in the order of id_order().
class ResultDigest {
 public:
  void add(const RunRecord& run);
  std::string hex() { return sum_.hex(); }

 private:
  Sha256 sum_;
};

/// Many texts, in pieces of memory that never move, so that growing needs no second copy.
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

/// The places of the ids in the order of their bytes; equal ones in the order of their places.
std::vector<std::uint32_t> id_order(const TextList& ids);

/// The digest of runs in memory.
std::string result_digest(std::span<const RunRecord> runs);

}  // namespace odrpo
