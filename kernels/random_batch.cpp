// Picks the compiled copy of random_stage.cpp.
#include "kernels/random_batch.hpp"

namespace odrpo {

namespace portable {
extern const RandomStages random_table;
}
namespace avx2 {
extern const RandomStages random_table;
}

const RandomStages& random_stages(Isa isa) {
#if defined(__x86_64__)
  if (isa == Isa::avx2) return avx2::random_table;
#endif
  (void)isa;
  return portable::random_table;
}

}  // namespace odrpo
