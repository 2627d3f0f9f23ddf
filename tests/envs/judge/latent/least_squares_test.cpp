// Least squares on functions whose minimum is known, inside and at a bound.
#include "envs/judge/latent/least_squares.hpp"

#include "tests/catch.hpp"

using namespace odrpo;

TEST_CASE("a symmetric system is solved, a singular one refused", "[latent]") {
  Vector x;
  REQUIRE(solve({4, 2, 2, 3}, {8, 8}, x));
  CHECK(x[0] == Approx(1));
  CHECK(x[1] == Approx(2));
  CHECK_FALSE(solve({1, 1, 1, 1}, {1, 2}, x));
}

TEST_CASE("least squares find a minimum inside the bounds", "[latent]") {
  const Bounds bounds{{-5, -5}, {5, 5}, {0.01, 0.01}};
  const auto valley = [](const Vector& v) { return Vector{10 * (v[1] - v[0] * v[0]), 1 - v[0]}; };
  const LeastSquares found = least_squares(valley, bounds, {-1.2, 1});
  CHECK(found.at[0] == Approx(1).margin(0.01));
  CHECK(found.at[1] == Approx(1).margin(0.02));
  CHECK(dot(found.residual, found.residual) < 1e-3);
}

TEST_CASE("a parameter that would leave its bounds stays on them", "[latent]") {
  const Bounds bounds{{0, -5}, {5, 5}, {0.01, 0.01}};
  const auto outside = [](const Vector& v) { return Vector{v[0] + 1, v[0] + v[1] - 2}; };  // free minimum at (-1, 3)
  const LeastSquares found = least_squares(outside, bounds, {1, 0});
  CHECK(found.at[0] == 0);
  CHECK(found.at[1] == Approx(2).margin(0.01));
}

TEST_CASE("slopes stay inside the bounds", "[latent]") {
  const Bounds bounds{{0}, {1}, {0.25}};
  const auto square = [](const Vector& v) {
    CHECK(v[0] >= 0);
    CHECK(v[0] <= 1);
    return Vector{v[0] * v[0]};
  };
  CHECK(slopes(square, bounds, {0})[0][0] == Approx(0.25));
  CHECK(slopes(square, bounds, {0.5})[0][0] == Approx(1));
  CHECK(slopes(square, bounds, {1})[0][0] == Approx(1.75));
}
