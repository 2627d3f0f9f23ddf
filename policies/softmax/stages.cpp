// Picks the compiled copy of stage_table.cpp (softmax.inl, linear.inl, adam.inl).
#include "policies/softmax/stages.hpp"

namespace odrpo {

namespace portable {
extern const PolicyStages policy_table;
}
namespace avx2 {
extern const PolicyStages policy_table;
}
const PolicyStages& policy_stages(Isa isa) { return isa == Isa::avx2 ? avx2::policy_table : portable::policy_table; }

}  // namespace odrpo
