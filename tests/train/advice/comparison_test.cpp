// Choices beside the best: the arithmetic, and how often it errs.
#include "train/advice/comparison.hpp"

#include <cmath>
#include <random>

#include "tests/catch.hpp"

using namespace odrpo;

TEST_CASE("each choice is compared with the best, pair by pair") {
  const std::vector<std::vector<double>> gain = {{1, 2, 3, 4}, {2, 4, 4, 6}, {1.5, 4.5, 3.5, 6.5}};
  const BesideBest all = beside_best(gain);
  REQUIRE(all.best == 1);
  REQUIRE(all.less[0].mean == Approx(-1.5));
  // differences -1, -2, -1, -2: sd .577, t = -1.5 / (.577 / 2) = -5.196, three degrees of freedom: p = .01385
  REQUIRE(all.p[0] == Approx(0.01385).epsilon(1e-3));
  REQUIRE(all.p_holm[0] == Approx(2 * 0.01385).epsilon(1e-3));
  REQUIRE(all.p[2] == 1);  // differences -.5, .5, -.5, .5
  REQUIRE(std::isnan(all.p[1]));
  REQUIRE(mean_over_policies({{1, 3}, {2, 5}}) == std::vector<double>{1.5, 4});
  REQUIRE(beside_best({{1, 2, 3}}).best == 0);
}

TEST_CASE("the truly best choice is found worse in fewer than one of twenty", "[unsanitized]") {
  constexpr int trials = 4000, seeds = 20, choices = 12;
  std::mt19937_64 words(20261123);
  INFO("seed 20261123");
  std::normal_distribution<double> normal;
  for (const double spread : {0.0, 0.1, 0.5, 2.0}) {  // of the choices' true means, in sds of a difference
    int wrong = 0, found = 0;
    for (int t = 0; t < trials; ++t) {
      std::vector<double> truth(choices);
      for (int c = 0; c < choices; ++c) truth[c] = -spread * c / (choices - 1);  // choice 0 is the best, or as good as any
      std::vector<std::vector<double>> gain(choices, std::vector<double>(seeds));
      for (int s = 0; s < seeds; ++s) {
        const double world = 3 * normal(words);  // what all choices of a seed share
        for (int c = 0; c < choices; ++c) gain[c][s] = truth[c] + world + normal(words) * std::sqrt(0.5);
      }
      const BesideBest all = beside_best(gain);
      wrong += all.p_holm[0] < advice_level;
      found += all.p_holm[choices - 1] < advice_level;
    }
    INFO("spread " << spread << ": the best found worse in " << wrong << " of " << trials << ", the last in " << found);
    REQUIRE(wrong < 0.05 * trials);
    if (spread == 2.0) REQUIRE(found > 0.99 * trials);
  }
}
