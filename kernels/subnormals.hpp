// Makes the processor treat subnormal numbers as zero, from an object's constructor to its destructor. Arithmetic with them is often ten
// times slower, and training does not need them.
#pragma once
#include <cstdint>

namespace odrpo {

/// From constructor to destructor, subnormal operands and results in this thread are zeros of their sign. On x86 it sets the modes
/// flush-to-zero and denormals-are-zero, on ARM FZ; on other processors it does nothing. Objects may be nested. Each thread that trains has
/// one, so that all threads give the same bits. Definitions in double and statistics run without it.
class FlushSubnormals {
 public:
  FlushSubnormals();
  ~FlushSubnormals();
  FlushSubnormals(const FlushSubnormals&) = delete;
  FlushSubnormals& operator=(const FlushSubnormals&) = delete;

 private:
  const std::uint64_t before_;  ///< the mode bits before the constructor
};

/// Code of others runs between its constructor and its destructor, which gives the thread's floating-point modes back: a library that was built with -ffast-math changes
/// them when it is loaded.
class KeepFloatMode {
 public:
  KeepFloatMode();
  ~KeepFloatMode();
  KeepFloatMode(const KeepFloatMode&) = delete;
  KeepFloatMode& operator=(const KeepFloatMode&) = delete;

 private:
  const std::uint64_t before_;  ///< the control register before the constructor
};

}  // namespace odrpo
