// Returns the functions of rate_stage.cpp as compiled for an instruction set.
#include "envs/bandit/rate.hpp"

namespace odrpo {

namespace portable {
extern const RateStages rate_table;
}
namespace avx2 {
extern const RateStages rate_table;
}
namespace avx512 {
extern const RateStages rate_table;
}
const RateStages& rate_stages(Isa isa) {
  return isa == Isa::avx512 ? avx512::rate_table : isa == Isa::avx2 ? avx2::rate_table : portable::rate_table;
}

}  // namespace odrpo
