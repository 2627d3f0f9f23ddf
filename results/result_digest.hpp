// The result digest, run by run: for files whose runs do not all fit in memory.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "results/digest.hpp"
#include "results/record.hpp"

namespace odrpo {

/// SHA-256 (hex) over runs sorted by id and variables sorted by name: name, dtype, shape, little-endian bytes; without seconds, status,
/// provenance, device, jobs (docs/results.md). Runs are added in the order of id_order().
class ResultDigest {
 public:
  void add(const RunRecord& run);
  std::string hex() { return sum_.hex(); }

 private:
  Sha256 sum_;
};

/// Many short texts in one piece of memory.
class TextList {
 public:
  void add(std::string_view text) {
    bytes_ += text;
    ends_.push_back(bytes_.size());
  }
  std::size_t size() const { return ends_.size(); }
  std::string_view operator[](std::size_t i) const {
    const std::size_t from = i == 0 ? 0 : ends_[i - 1];
    return std::string_view(bytes_).substr(from, ends_[i] - from);
  }

 private:
  std::string bytes_;
  std::vector<std::uint64_t> ends_;
};

/// The places of the ids in the order of their bytes; equal ones in the order of their places.
std::vector<std::uint32_t> id_order(const TextList& ids);

/// The digest of runs in memory.
std::string result_digest(std::span<const RunRecord> runs);

}  // namespace odrpo
