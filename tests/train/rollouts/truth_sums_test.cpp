// Tests the sums that compare advantages with true rewards: definitions, rounding, large groups.
#include "train/rollouts/truth_sums.hpp"

#include <cmath>
#include <vector>

#include "tests/catch.hpp"
#include "train/rollouts/quality_posterior.hpp"

using namespace odrpo;

TEST_CASE("sums count signs, pairs and ties") {
  const TruthSums s = compared(std::vector<double>{1, -1, 0, 0}, std::vector<double>{5, 4, 3, 4});  // T = 1, 0, -1, 0
  CHECK(s.signs == 1);
  CHECK(s.turned == 0);
  CHECK(s.pairs == 5);    // 4 and 4 have no order
  CHECK(s.wrong == 1.5);  // 4 > 3 with -1 < 0; 3 < 4 with 0 = 0 by half
  CHECK(s.product == 1);
  CHECK(s.advantage == 2);
  CHECK(s.truth == 2);
}

TEST_CASE("rounding of a mean or of a sum of parts is no difference of quality") {
  for (const std::size_t n : {3u, 7u, 13u, 1000u})
    for (const double quality : {0.1, 9.8125, 1e6 / 3}) {
      std::vector<double> a(n, -1), equal(n, quality);
      a[0] = static_cast<double>(n) - 1;
      const TruthSums s = compared(a, equal);
      CHECK(s.signs == 0);
      CHECK(s.pairs == 0);
      CHECK(s.truth == 0);
      CHECK(s.product == 0);
      std::vector<double> parts = equal;
      for (std::size_t i = 0; i < n; i += 2) parts[i] = (quality + 0.1) + 0.2 - 0.3;
      CHECK(compared(a, parts).signs == 0);
      CHECK(compared(a, parts).pairs == 0);
      parts[1] += 1 / 1024.0;  // a true difference, though small beside the quality
      CHECK(compared(a, parts).pairs == static_cast<double>(n) - 1);
    }
}

TEST_CASE("pairs that are counted by sorting are those of the definition") {
  for (std::uint32_t run = 0; run < 200; ++run) {
    INFO("run " << run);
    UniformStream random(3, Purpose::dump_quality, run, 0);
    const auto n = static_cast<std::size_t>(1 + 90 * random.next());
    const double kinds = 1 + 40 * random.next();  // few kinds: many ties
    std::vector<double> a, q;
    for (std::size_t i = 0; i < n; ++i) a.push_back(std::floor(kinds * random.next()) / 7 - 1), q.push_back(std::floor(kinds * random.next()) / 16);
    const PairSums definition = pairs_one_by_one(a, q), sorted = pairs_by_sorting(a, q);
    CHECK(sorted.pairs == definition.pairs);
    CHECK(sorted.wrong == definition.wrong);
  }
  std::vector<double> rising(20'000), falling;  // beyond the definition's reach: 2e8 pairs for each draw and estimator
  for (std::size_t i = 0; i < rising.size(); ++i) rising[i] = static_cast<double>(i);
  falling.assign(rising.rbegin(), rising.rend());
  CHECK(compared(rising, falling).wrong == 20'000.0 * 19'999 / 2);
  CHECK(compared(rising, rising).wrong == 0);
}
