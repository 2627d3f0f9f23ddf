// The instruction sets that this machine can test.
#pragma once
#include <vector>

#include "kernels/isa.hpp"

namespace odrpo {

inline std::vector<Isa> isas() {
  std::vector<Isa> all{Isa::portable};
  for (const Isa isa : {Isa::avx2, Isa::avx512})
    if (has_isa(isa)) all.push_back(isa);
  return all;
}

}  // namespace odrpo
