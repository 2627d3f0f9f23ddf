// Chooses the instruction set at run time, by what the processor has.
#include "kernels/isa.hpp"

#include <cstdlib>

namespace odrpo {

bool has_isa(Isa isa) {
  if (isa == Isa::portable) return true;
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx2") != 0;
#else
  return false;
#endif
}

Isa best_isa() {
  const char* held = std::getenv("ODRPO_ISA");
  if (held && std::string_view(held) == "portable") return Isa::portable;
  return has_isa(Isa::avx2) ? Isa::avx2 : Isa::portable;
}

std::string_view isa_name(Isa isa) { return isa == Isa::avx2 ? "avx2" : "portable"; }

}  // namespace odrpo
