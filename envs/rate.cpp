// Picks the compiled copy of rate_stage.cpp.
#include "envs/rate.hpp"

namespace odrpo {

namespace portable {
extern const RateStages rate_table;
}
namespace avx2 {
extern const RateStages rate_table;
}

const RateStages& rate_stages(Isa isa) {
#if defined(__x86_64__)
  if (isa == Isa::avx2) return avx2::rate_table;
#endif
  (void)isa;
  return portable::rate_table;
}

}  // namespace odrpo
