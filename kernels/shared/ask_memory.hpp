// Asks for memory before a library does that does not look at what it gets.
#pragma once
#include <cstddef>
#include <memory>

namespace odrpo {

/// Throws std::bad_alloc when `bytes` more cannot be had now; keeps nothing.
inline void need_room(std::size_t bytes) {
  const std::unique_ptr<char[]> trial(new char[bytes]);
  static_cast<volatile char*>(trial.get())[bytes - 1] = 1;  // so that no compiler leaves the allocation out
}

}  // namespace odrpo
