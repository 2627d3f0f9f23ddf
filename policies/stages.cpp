// Picks the compiled copy of stage_table.cpp (softmax.inl, linear.inl, adam.inl).
#include "policies/stages.hpp"


namespace odrpo {

namespace portable {
extern const PolicyStages policy_table;
}
namespace avx2 {
extern const PolicyStages policy_table;
}

const PolicyStages& policy_stages(Isa isa) {
#if defined(__x86_64__)
  if (isa == Isa::avx2) return avx2::policy_table;
#endif
  (void)isa;
  return portable::policy_table;
}

}  // namespace odrpo
