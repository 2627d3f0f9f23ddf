// Takes subnormal numbers for zero while an object lives: on many processors arithmetic with them is ten times slower, and training has no use for them.
#pragma once
#include <cstdint>

namespace odrpo {

/// In this thread subnormal operands and results are zeros of their sign (x86: flush-to-zero and denormals-are-zero; ARM: FZ; other processors
/// go on as they are) until the destructor gives back the mode that the caller had. Objects may be nested. Where training computes, each
/// thread has one, so that all of them give the same bits; definitions in double and statistics keep subnormal numbers.
class FlushSubnormals {
 public:
  FlushSubnormals();
  ~FlushSubnormals();
  FlushSubnormals(const FlushSubnormals&) = delete;
  FlushSubnormals& operator=(const FlushSubnormals&) = delete;

 private:
  const std::uint64_t before_;  ///< the bits of the mode, as they were
};

}  // namespace odrpo
