// The functions of lanes: against libm, the same bits for one lane and for a vector, and what becomes of NaN on either kind of processor.
#include "kernels/float_math.hpp"

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "kernels/simd.hpp"
#include "tests/catch.hpp"

using namespace odrpo;
using float_math::ScalarLane;

namespace {

// A lane whose NaN is CUDA's.
struct CudaLane : ScalarLane {
  static U bits(F x) { return x == x ? ScalarLane::bits(x) : 0x7fffffffu; }
};

}  // namespace

TEST_CASE("exponentials and logarithms of lanes: libm's values, and the bits of a vector") {
  std::mt19937 g(11);
  std::uniform_real_distribution<float> down(-90, 0), magnitude(-80, 80);
  for (int i = 0; i < 20000; ++i) {
    const float x = i == 0 ? 0.0f : down(g), y = std::exp2(magnitude(g));
    const float e = float_math::exp_negative<ScalarLane>(x), l = float_math::log_positive<ScalarLane>(y);
    const double right = std::exp(static_cast<double>(x));
    if (x < -87) CHECK(e == 0);
    else CHECK(std::fabs(static_cast<double>(e) / right - 1) < 2e-7 + 8e-8 * std::fabs(static_cast<double>(x)));
    CHECK(std::fabs(static_cast<double>(l) - std::log(static_cast<double>(y))) <
          1e-7 + 1.2e-7 * std::fabs(std::log(static_cast<double>(y))));
    const float of_vector = portable::exp_negative(portable::splat(x))[i % 8],
                log_of_vector = portable::log_positive(portable::splat(y))[i % 8];
    CHECK(std::memcmp(&e, &of_vector, sizeof e) == 0);
    CHECK(std::memcmp(&l, &log_of_vector, sizeof l) == 0);
  }
}

TEST_CASE("NaN stays NaN, on processors of either kind") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  CHECK(std::isnan(float_math::exp_negative<ScalarLane>(nan)));
  CHECK(std::isnan(float_math::exp_negative<CudaLane>(nan)));
  CHECK(std::isnan(portable::exp_negative(portable::splat(nan))[3]));
}
