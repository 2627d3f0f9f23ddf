// The distributions of medians, sums and means: against formulas of their own, up to the largest N.
#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <vector>

#include "envs/rater/distribution_table.hpp"
#include "envs/rater/vote.hpp"
#include "kernels/shared/failure.hpp"
#include "tests/catch.hpp"

using namespace odrpo;

namespace {

RaterConfig mean_of_readable() {
  RaterConfig rater;
  rater.aggregate = Aggregate::mean;
  rater.parse_failure = 0.3;
  rater.parse_policy = ParsePolicy::drop;
  return rater;
}

}  // namespace

TEST_CASE("the median's law: order statistics at the largest N, mirror images, certain scores") {
  std::mt19937_64 draw(21);
  for (int round = 0; round < 20; ++round) {
    const int levels = 2 + static_cast<int>(draw() % 9), votes = round == 0 ? max_distribution_votes : 1 + static_cast<int>(draw() % 300);
    std::vector<double> pmf(levels), distribution(levels);
    double total = 0;
    for (double& p : pmf) total += p = static_cast<double>(1 + draw() % 1000);
    for (double& p : pmf) p /= total;
    median_distribution(pmf, votes, distribution);
    long double below = 0, cumulated = 0;
    for (int k = 0; k < levels; ++k) {
      below += pmf[k];
      cumulated += distribution[k];
      // P(median <= k) = P(Bin(N, F_k) >= (N + 1) / 2), from logarithms of factorials
      long double want = k + 1 == levels ? 1 : 0;
      for (int n = (votes + 1) / 2; n <= votes && k + 1 < levels; ++n)
        want += std::exp(std::lgamma(votes + 1.0L) - std::lgamma(n + 1.0L) - std::lgamma(votes - n + 1.0L) + n * std::log(below) +
                         (votes - n) * std::log1p(-below));
      CAPTURE(levels, votes, k);
      CHECK(std::abs(static_cast<double>(cumulated - want)) < 1e-12);
    }
  }
  std::vector<double> distribution(3);
  median_distribution(std::vector<double>{0, 1, 0}, 7, distribution);
  CHECK(distribution == std::vector<double>{0, 1, 0});
  median_distribution(std::vector<double>{0.25, 0, 0.75}, 2, distribution);  // the lower of two: low unless both are high
  CHECK(distribution[0] == Approx(1 - 0.5625).epsilon(1e-15));
  CHECK(distribution[1] == 0);
}

TEST_CASE("the sum's law: convolution one by one, moments at the largest N, certain scores") {
  std::mt19937_64 draw(22);
  for (const int levels : {1, 2, 5, 10, 100})
    for (const int votes : {1, 2, 3, 7, 8, 31, 32}) {
      std::vector<double> pmf(levels), one{1.0};
      double total = 0;
      for (double& p : pmf) total += p = draw() % 4 == 0 ? 0.0 : static_cast<double>(draw() % 1000);
      if (total == 0) total = pmf[0] = 1;
      for (double& p : pmf) p /= total;
      for (int n = 0; n < votes; ++n) {
        std::vector<double> next(one.size() + pmf.size() - 1, 0.0);
        for (std::size_t i = 0; i < one.size(); ++i)
          for (std::size_t k = 0; k < pmf.size(); ++k) next[i + k] += one[i] * pmf[k];
        one = std::move(next);
      }
      std::vector<double> distribution(static_cast<std::size_t>(votes) * (levels - 1) + 1);
      sum_distribution(pmf, votes, distribution);
      double worst = 0;
      for (std::size_t s = 0; s < distribution.size(); ++s) worst = std::max(worst, std::abs(distribution[s] - one[s]));
      CAPTURE(levels, votes);
      CHECK(worst < 1e-14);
    }
  const std::vector<double> pmf = {0.1, 0.2, 0, 0.4, 0.3};
  std::vector<double> distribution(max_distribution_votes * 4 + 1);
  sum_distribution(pmf, max_distribution_votes, distribution);
  double total = 0, mean = 0, variance = 0;
  for (std::size_t s = 0; s < distribution.size(); ++s) total += distribution[s], mean += distribution[s] * static_cast<double>(s);
  for (std::size_t s = 0; s < distribution.size(); ++s) variance += distribution[s] * (static_cast<double>(s) - mean) * (static_cast<double>(s) - mean);
  CHECK(std::abs(total - 1) < 1e-12);
  CHECK(mean == Approx(1024 * 2.6).epsilon(1e-12));               // 0.2 + 3 * 0.4 + 4 * 0.3
  CHECK(variance == Approx(1024 * (8.6 - 6.76)).epsilon(1e-11));  // 0.2 + 9 * 0.4 + 16 * 0.3
  std::vector<double> rare(5);
  sum_distribution(std::vector<double>{1 - 1e-8, 1e-8}, 4, rare);  // probabilities far below anything drawn keep their digits
  CHECK(rare[4] == Approx(1e-32).epsilon(1e-9));
  std::vector<double> out(3);
  CHECK_THROWS_AS(sum_distribution(std::vector<double>{1.0}, 0, out), Failure);
  CHECK_THROWS_AS(median_distribution(std::vector<double>{1.0}, max_distribution_votes + 1, out), Failure);
}

TEST_CASE("means of what is left of N calls: all fractions once, ascending, where S / n says") {
  for (const int levels : {2, 7, 10})
    for (const int votes : {2, 3, 8, 16, 33, 70}) {
      const RaterConfig rater = mean_of_readable();
      const Outcomes o = make_outcomes(rater, levels, votes);
      std::map<double, int> fractions;  // correctly rounded quotients of numbers this small are equal only for equal fractions
      for (int n = 1; n <= votes; ++n)
        for (int s = n; s <= n * levels; ++s) fractions[static_cast<double>(s) / n] = 0;
      CAPTURE(levels, votes);
      REQUIRE(o.count == static_cast<int>(fractions.size()) + 1);
      CHECK(std::abs(count_outcomes(rater, levels, votes) / o.count - 1) < 0.01);
      CHECK(o.missing == o.count - 1);
      CHECK(std::isnan(o.value.back()));
      int place = 0;
      for (auto& [value, at] : fractions) {
        at = place;
        REQUIRE(o.value[place++] == static_cast<float>(value));
      }
      for (int n = 1; n <= votes; ++n)
        for (int s = n; s <= n * levels; ++s)
          REQUIRE((s / n - o.lowest) * o.per_level + o.rank[n * (n - 1) / 2 + s % n] == fractions[static_cast<double>(s) / n]);
    }
  const RaterConfig rater = mean_of_readable();
  CHECK_THROWS_AS(make_outcomes(rater, 100, 1024), Failure);
}
