// The ruler is tested with measurements whose noise is known.
#include "app/host_noise.hpp"

#include <vector>

#include "tests/catch.hpp"

using namespace odrpo::app;

TEST_CASE("noise of known measurements") {
  // median 10, deviations 0 0 0.1 0.1 0.2: their median 0.1, so 1.4826 %; neighbours 9.8 -> 10.1 are 3.06 % apart
  const std::vector<double> known{10.0, 9.9, 10.0, 9.8, 10.1};
  const HostNoise n = noise_of(known, 15);
  CHECK(n.medians == 5);
  CHECK(n.timings == 15);
  CHECK(n.unit_ms == 10.0);
  CHECK(n.spread == Approx(1.4826));
  CHECK(n.worst_pair == Approx(100 * 0.3 / 9.8));
  CHECK(n.verdict() == "usable");
}

TEST_CASE("verdicts") {
  const auto verdict = [](double away) {
    return noise_of(std::vector<double>{100 - away, 100 + away, 100 - away, 100 + away}, 1).verdict();
  };
  CHECK(verdict(0) == "quiet");
  CHECK(verdict(0.3) == "quiet");   // 1.4826 * 0.3 = 0.44 %
  CHECK(verdict(0.4) == "usable");  // 0.59 %
  CHECK(verdict(2.0) == "usable");  // 2.97 %
  CHECK(verdict(2.1) == "noisy");   // 3.11 %
}

TEST_CASE("one outlier does not decide") {
  std::vector<double> steady(39, 1.0);
  steady.push_back(50.0);
  const HostNoise n = noise_of(steady, 15);
  CHECK(n.spread == 0);
  CHECK(n.worst_pair == Approx(4900));
}

TEST_CASE("measuring takes about a second and finds some noise") {
  const HostNoise n = measure_noise();
  CHECK(n.medians >= 4);
  CHECK(n.unit_ms > 0.01);
  CHECK(n.spread >= 0);
  CHECK(n.worst_pair > 0);
}
