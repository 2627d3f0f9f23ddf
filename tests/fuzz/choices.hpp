// Choices that a program of edits makes, byte by byte: texts, numbers, types, shapes, layouts (tests/fuzz/edits.cpp).
#pragma once
#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "results/store/file/hdf5.hpp"

namespace odrpo::fuzz {

inline constexpr std::size_t most_bytes = std::size_t{1} << 20;  ///< of one data set or chunk that is written

/// Reads a program: zeros behind its end.
struct Cursor {
  std::span<const std::uint8_t> rest;
  bool more() const { return !rest.empty(); }
  unsigned byte() {
    if (rest.empty()) return 0;
    const unsigned value = rest[0];
    rest = rest.subspan(1);
    return value;
  }
  std::string bytes(std::size_t n) {
    n = std::min(n, rest.size());
    std::string text(reinterpret_cast<const char*>(rest.data()), n);
    rest = rest.subspan(n);
    return text;
  }
  std::string text();  ///< a word, any bytes, or something long
  double number();     ///< a usual or an odd one, or any bits
};

store::Hid choose_type(Cursor& from);
void choose_shape(std::vector<hsize_t>& shape, Cursor& from);
/// A creation list: contiguous, compact, chunked with filters, external, virtual. `foreign`: nothing may be written, since it
/// would leave this file, fill the memory or take long, or since libhdf5 1.10 crashes in the filter when it writes some types.
store::Hid choose_layout(const std::vector<hsize_t>& shape, hid_t type, Cursor& from, bool& foreign);

}  // namespace odrpo::fuzz
