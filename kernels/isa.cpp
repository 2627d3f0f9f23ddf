// Chooses the instruction set at run time, by what the processor has.
#include "kernels/isa.hpp"

#include <cstdlib>

namespace odrpo {

bool has_isa(Isa isa) {
  if (isa == Isa::portable) return true;
#if defined(__x86_64__)
  if (isa == Isa::avx2) return __builtin_cpu_supports("avx2") != 0;
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq");
#else
  return false;
#endif
}

Isa best_isa() {
  const char* held = std::getenv("ODRPO_ISA");
  for (const Isa isa : {Isa::portable, Isa::avx2})
    if (held && held == isa_name(isa) && has_isa(isa)) return isa;
  for (const Isa isa : {Isa::avx512, Isa::avx2})
    if (has_isa(isa)) return isa;
  return Isa::portable;
}

std::string_view isa_name(Isa isa) { return isa == Isa::avx512 ? "avx512" : isa == Isa::avx2 ? "avx2" : "portable"; }

}  // namespace odrpo
