// Gauss-Hermite nodes against the moments of a normal variable.
#include "kernels/normal_nodes.hpp"

#include <cmath>

#include "tests/catch.hpp"

using namespace odrpo;

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
