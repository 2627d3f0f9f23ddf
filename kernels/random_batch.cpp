// Chooses the copy of random_stage.cpp for an instruction set.
#include "kernels/random_batch.hpp"

namespace odrpo {

namespace portable {
extern const RandomStages random_table;
}
namespace avx2 {
extern const RandomStages random_table;
}
namespace avx512 {
extern const RandomStages random_table;
}
const RandomStages& random_stages(Isa isa) {
  return isa == Isa::avx512 ? avx512::random_table : isa == Isa::avx2 ? avx2::random_table : portable::random_table;
}

}  // namespace odrpo
