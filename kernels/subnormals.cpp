// Sets the mode for subnormal numbers in the processor's control register. The functions have a file of their own, so that no compiler
// moves arithmetic across their calls.
#include "kernels/subnormals.hpp"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace odrpo {
namespace {

#if defined(__x86_64__)
constexpr std::uint64_t mode = 0x8040;  // MXCSR: flush-to-zero, denormals-are-zero
std::uint64_t control() { return _mm_getcsr(); }
void set_control(std::uint64_t bits) { _mm_setcsr(static_cast<unsigned>(bits)); }
#elif defined(__aarch64__)
constexpr std::uint64_t mode = std::uint64_t{1} << 24;  // FPCR: FZ
std::uint64_t control() {
  std::uint64_t bits;
  asm volatile("mrs %0, fpcr" : "=r"(bits));
  return bits;
}
void set_control(std::uint64_t bits) { asm volatile("msr fpcr, %0" : : "r"(bits)); }
#else
constexpr std::uint64_t mode = 0;
std::uint64_t control() { return 0; }
void set_control(std::uint64_t) {}
#endif

}  // namespace

FlushSubnormals::FlushSubnormals() : before_(control() & mode) { set_control(control() | mode); }
FlushSubnormals::~FlushSubnormals() { set_control((control() & ~mode) | before_); }  // other bits (exception flags, rounding) stay

KeepFloatMode::KeepFloatMode() : before_(control()) {}
KeepFloatMode::~KeepFloatMode() { set_control(before_); }

}  // namespace odrpo
