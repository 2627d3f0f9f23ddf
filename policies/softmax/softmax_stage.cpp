// The policies' stages of one instruction set: compiled once per ISA into its own namespace.
#include "kernels/math.hpp"
#include "kernels/simd.hpp"
#include "policies/row_math.hpp"
#include "policies/softmax/stages.hpp"

namespace odrpo::ODRPO_ISA {

#include "policies/softmax/adam.inl"
#include "policies/softmax/linear.inl"
#include "policies/softmax/softmax.inl"

static float dot(const float* a, const float* b, int n) {
  Lanes s = zero_lanes();
  for (int i = 0; i < n; i += 32) {
    ODRPO_UNROLL
    for (int j = 0; j < 4; ++j) s.v[j] += load(a + i + 8 * j) * load(b + i + 8 * j);
  }
  return add_halves(s);
}

static void scale(float* a, float factor, int n) {
  for (int i = 0; i < n; i += 8) store(a + i, load(a + i) * factor);
}

extern const PolicyStages policy_table;
const PolicyStages policy_table = {catch_up,     accumulate,        ascend,        softmax,         exact, sample, logit_gradient,
                                   coefficients, logit_gradient_by, linear_logits, linear_gradient, dot,   scale};

}  // namespace odrpo::ODRPO_ISA
