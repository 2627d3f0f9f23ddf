// The elementary functions against libm in long double, exact special values, those of lanes, and Gauss-Hermite nodes against normal moments.
#include "kernels/math.hpp"

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "kernels/float_math.hpp"
#include "kernels/normal_nodes.hpp"
#include "kernels/simd.hpp"
#include "tests/catch.hpp"

using namespace odrpo;

TEST_CASE("exp, log, sincos, asin, erfc agree with libm") {
  const unsigned seed = 20261120;
  INFO("seed " << seed);
  std::mt19937_64 g(seed);
  std::uniform_real_distribution<double> wide(-700, 700), unit(0, 1), tail(-5, 26);
  double exp_err = 0, log_err = 0, trig_err = 0, erfc_err = 0, asin_err = 0;
  for (int i = 0; i < 20000; ++i) {
    const double x = wide(g), u = unit(g), w = tail(g), y = std::exp(x / 2), z = 0.5 + u;
    exp_err = std::fmax(exp_err, static_cast<double>(fabsl((math::exp(x) - expl(x)) / expl(x))));
    log_err = std::fmax(log_err, static_cast<double>(fabsl((math::log(y) - logl(y)) / logl(y))));
    log_err = std::fmax(log_err, static_cast<double>(fabsl(math::log(z) - logl(z))));
    const math::SinCos<double> s = math::sincos_turn(u);
    const long double turn = 2 * 3.14159265358979323846264338327950288L * u;
    trig_err = std::fmax(trig_err, static_cast<double>(fmaxl(fabsl(s.sin - sinl(turn)), fabsl(s.cos - cosl(turn)))));
    const double a = 2 * u - 1, near_one = 1 - u * 1e-6;
    for (const double v : {a, a * 1e-3, near_one})
      asin_err = std::fmax(asin_err, static_cast<double>(fabsl((math::asin(v) - asinl(v)) / asinl(v))));
    erfc_err = std::fmax(erfc_err, static_cast<double>(fabsl((math::erfc(w) - erfcl(w)) / erfcl(w))));
  }
  CHECK(exp_err < 3e-16);
  CHECK(log_err < 5e-16);
  CHECK(trig_err < 3e-16);
  CHECK(asin_err < 1e-15);
  CHECK(erfc_err < 2e-13);
}

TEST_CASE("special values of the elementary functions") {
  CHECK(math::exp(0) == 1);
  CHECK(math::exp(-1e9) == 0);
  CHECK(std::isinf(math::exp(1e9)));
  CHECK(math::log(1) == 0);
  CHECK(std::isinf(math::log(0)));
  CHECK(std::isnan(math::log(-1)));
  CHECK(math::asin(0) == 0);
  CHECK(math::asin(1) == math::pi / 2);
  CHECK(math::asin(-1) == -math::pi / 2);
  CHECK(math::asin(0.5) == Approx(math::pi / 6).epsilon(1e-15));
  CHECK(std::isnan(math::asin(1.0000000001)));
  CHECK(math::erfc(0) == 1);
  CHECK(math::normal_cdf(0) == 0.5);
  CHECK(math::normal_quantile(0.975) == Approx(1.959963984540054).epsilon(1e-14));
  CHECK(math::normal_interval(-1, 1) == Approx(0.682689492137086).epsilon(1e-13));
  CHECK(math::normal_interval(8, 9) * 1e16 == Approx(6.2209605742717e0 - 1.1285884059538e-3).epsilon(1e-11));  // Q(8) - Q(9)
  CHECK(math::floor(-0.5) == -1);
  CHECK(math::floor(2.0) == 2);
  CHECK(math::floor(2.9999) == 2);
}

TEST_CASE("the smallest and the largest random words make normal numbers that are finite") {
  const std::uint32_t least[4] = {}, most[4] = {~0u, ~0u, 0, 0};
  CHECK(math::normal_pair(least).a == Approx(std::sqrt(106 * std::log(2.0))).epsilon(1e-14));  // u = 2^-53
  CHECK(math::normal_pair(least).b == 0);
  CHECK(math::normal_pair(most).a == 0);  // u = 1
}

TEST_CASE("normal pairs have the moments of two independent standard normals") {
  std::mt19937 g(7);
  double a = 0, b = 0, aa = 0, bb = 0, ab = 0;
  const int n = 200000;
  for (int i = 0; i < n; ++i) {
    const std::uint32_t x[4] = {static_cast<std::uint32_t>(g()), static_cast<std::uint32_t>(g()), static_cast<std::uint32_t>(g()),
                                static_cast<std::uint32_t>(g())};
    const math::Normal2 z = math::normal_pair(x);
    a += z.a;
    b += z.b;
    aa += z.a * z.a;
    bb += z.b * z.b;
    ab += z.a * z.b;
  }
  CHECK(std::fabs(a / n) < 0.01);
  CHECK(std::fabs(b / n) < 0.01);
  CHECK(std::fabs(aa / n - 1) < 0.015);
  CHECK(std::fabs(bb / n - 1) < 0.015);
  CHECK(std::fabs(ab / n) < 0.01);
}

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

TEST_CASE("normal nodes give every moment that they promise", "[nodes]") {
  for (const int n : {1, 2, 3, 5, 8, 9, 15, 21, 40, 64}) {
    const NormalNodes nodes = normal_nodes(n);
    REQUIRE(nodes.point.size() == static_cast<std::size_t>(n));
    double moment = 1;  // (2 k - 1)!!
    for (int k = 0; 2 * k < 2 * n && k <= 12; ++k) {
      if (k > 0) moment *= 2 * k - 1;
      double even = 0, odd = 0, size = 0;
      for (int i = 0; i < n; ++i) {
        even += nodes.weight[i] * std::pow(nodes.point[i], 2 * k);
        odd += nodes.weight[i] * std::pow(nodes.point[i], 2 * k + 1);
        size += nodes.weight[i] * std::abs(std::pow(nodes.point[i], 2 * k + 1));
      }
      INFO("n " << n << ", moment " << 2 * k);
      CHECK(even == Approx(moment).epsilon(1e-11));
      CHECK(std::abs(odd) <= 1e-11 * (size + 1));
    }
    for (int i = 1; i < n; ++i) CHECK(nodes.point[i - 1] < nodes.point[i]);
  }
}
