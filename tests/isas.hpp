// The instruction sets that this machine can test.
#pragma once
#include <vector>

#include "kernels/isa.hpp"

namespace odrpo {

inline std::vector<Isa> isas() {
  std::vector<Isa> all{Isa::portable};
  if (has_isa(Isa::avx2)) all.push_back(Isa::avx2);
  return all;
}

}  // namespace odrpo
