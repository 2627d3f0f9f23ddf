// The vote and its distribution: by hand, against every sequence of scores, against count vectors, and against literal draws.
#include "envs/rater/vote.hpp"

#include <cmath>
#include <numeric>
#include <random>
#include <vector>

#include "kernels/shared/failure.hpp"
#include "kernels/shared/words.hpp"
#include "tests/catch.hpp"

using namespace odrpo;

namespace {

using Distribution = std::vector<double>;
constexpr TieRule all_ties[] = {TieRule::first, TieRule::lowest, TieRule::highest, TieRule::median_low, TieRule::nearest_mean};

Distribution distribution(const Distribution& pmf, int votes, TieRule tie) {
  Distribution out(pmf.size(), -1);
  vote_distribution(pmf, votes, tie, out);
  return out;
}

/// The definition of definitions: every sequence of scores, voted literally.
Distribution by_sequences(const Distribution& pmf, int votes, TieRule tie) {
  const int levels = static_cast<int>(pmf.size());
  Distribution out(levels, 0.0);
  std::vector<int> scores(votes, 0);
  for (;;) {
    double probability = 1;
    for (const int s : scores) probability *= pmf[s];
    out[vote(scores, tie)] += probability;
    int i = 0;
    while (i < votes && ++scores[i] == levels) scores[i++] = 0;
    if (i == votes) return out;
  }
}

double difference(const Distribution& a, const Distribution& b) {
  double most = 0;
  for (std::size_t k = 0; k < a.size(); ++k) most = std::max(most, std::abs(a[k] - b[k]));
  return most;
}

double total(const Distribution& p) { return std::accumulate(p.begin(), p.end(), 0.0); }

/// A random distribution: some levels impossible, some very rare.
Distribution random_pmf(std::mt19937_64& draw, int levels) {
  Distribution pmf(levels);
  do
    for (double& p : pmf) {
      const double u = static_cast<double>(draw() >> 11) * 0x1p-53;
      p = draw() % 5 == 0 ? 0 : std::pow(u, 1 + draw() % 12);
    }
  while (!(total(pmf) > 0));
  const double sum = total(pmf);
  for (double& p : pmf) p /= sum;
  return pmf;
}

}  // namespace

TEST_CASE("votes by hand") {
  struct Row {
    std::vector<int> scores;
    int first, lowest, highest, median_low, nearest_mean;
  };
  const Row rows[] = {
      {{5}, 5, 5, 5, 5, 5},
      {{4, 2}, 4, 2, 4, 2, 2},  // both one away from the mean: the lower
      {{8, 7, 7, 8, 3}, 8, 7, 8, 7, 7},
      {{3, 8, 7, 7, 8}, 8, 7, 8, 7, 7},
      {{9, 1, 5, 9, 5, 1}, 9, 1, 9, 5, 5},
      {{9, 9, 1, 1, 5, 5, 7, 7}, 9, 1, 9, 5, 5},  // four modes: the second
      {{10, 10, 1, 1, 9}, 10, 1, 10, 1, 10},      // mean 6.2
      {{2, 3, 3, 3, 2}, 3, 3, 3, 3, 3},
      {{-1, 4, 4, -1, 0}, -1, -1, 4, -1, -1},
  };
  for (const Row& r : rows) {
    CAPTURE(r.scores);
    CHECK(vote(r.scores, TieRule::first) == r.first);
    CHECK(vote(r.scores, TieRule::lowest) == r.lowest);
    CHECK(vote(r.scores, TieRule::highest) == r.highest);
    CHECK(vote(r.scores, TieRule::median_low) == r.median_low);
    CHECK(vote(r.scores, TieRule::nearest_mean) == r.nearest_mean);
  }
}

TEST_CASE("every tie rule has its word") {
  for (const TieRule tie : all_ties) CHECK(find_word<TieRule>(tie_words, word_of<TieRule>(tie_words, tie)) == tie);
}

TEST_CASE("levels of probability zero cost nothing, however many") {
  const Distribution few = {0.5, 0.3, 0.2};
  Distribution many(1'000'000, 0.0);
  many[0] = few[0], many[500'000] = few[1], many[999'999] = few[2];
  for (const TieRule tie : all_ties)
    for (const int votes : {1, 4}) {
      const Distribution want = distribution(few, votes, tie), got = distribution(many, votes, tie);
      CAPTURE(votes, word_of<TieRule>(tie_words, tie));
      CHECK(std::abs(total(got) - 1) < 1e-14);
      CHECK(std::abs(got[0] - want[0]) < 1e-14);
      CHECK(std::abs(got[500'000] - want[1]) < 1e-14);
      CHECK(std::abs(got[999'999] - want[2]) < 1e-14);
    }
  CHECK(total(distribution(Distribution(100'000, 0.0), 3, TieRule::nearest_mean)) == 0);
}

TEST_CASE("the law is that of every sequence, for all tie rules") {
  std::mt19937_64 draw(11);
  for (int levels = 1; levels <= 5; ++levels)
    for (int votes = 1; std::pow(levels, votes) <= 20000 && votes <= 9; ++votes)
      for (const TieRule tie : all_ties) {
        const Distribution pmf = random_pmf(draw, levels);
        CAPTURE(pmf, votes, word_of<TieRule>(tie_words, tie));
        CHECK(difference(distribution(pmf, votes, tie), by_sequences(pmf, votes, tie)) < 1e-12);
        Distribution counted(levels);
        vote_distribution_by_counts(pmf, votes, tie, counted);
        CHECK(difference(counted, by_sequences(pmf, votes, tie)) < 1e-12);
      }
}

TEST_CASE("the law is that of the count vectors, also where it is tiny") {
  std::mt19937_64 draw(12);
  for (int round = 0; round < 60; ++round) {
    const int levels = 2 + static_cast<int>(draw() % 5), votes = 2 + static_cast<int>(draw() % (levels < 4 ? 31 : 12));
    const Distribution pmf = random_pmf(draw, levels);
    for (const TieRule tie : all_ties) {
      Distribution counted(levels);
      vote_distribution_by_counts(pmf, votes, tie, counted);
      const Distribution fast = distribution(pmf, votes, tie);
      for (int k = 0; k < levels; ++k) {
        CAPTURE(pmf, votes, k, fast[k], counted[k]);
        CHECK(std::abs(fast[k] - counted[k]) <= 1e-13 * counted[k] + 1e-290);
      }
    }
  }
}

// Mixture over the number of calls that give a score, each by its count vectors.
Distribution by_counts(const Distribution& pmf, double dropped, int votes, TieRule tie, int most) {
  Distribution all(pmf.size(), 0.0), one(pmf.size());
  for (int n = dropped > 0 ? 1 : votes; n <= votes; ++n) {
    vote_distribution_by_counts(pmf, n, tie, one, most);
    const double chance = dropped == 0 ? 1 : std::exp(std::lgamma(votes + 1.0) - std::lgamma(n + 1.0) - std::lgamma(votes - n + 1.0) + n * std::log1p(-dropped) + (votes - n) * std::log(dropped));
    for (std::size_t k = 0; k < pmf.size(); ++k) all[k] += chance * one[k];
  }
  return all;
}

TEST_CASE("many votes, by roots of unity: that of the count vectors, also with calls that give no score and with counts that are too large") {
  const unsigned seed = 14;
  CAPTURE(seed);
  std::mt19937_64 draw(seed);
  double worst = 0;
  for (const auto& [levels, votes] : {std::pair{2, 65}, {2, 1000}, {3, 65}, {3, 200}, {4, 66}, {4, 100}, {3, 16}, {5, 12}})
    for (const TieRule tie : {TieRule::first, TieRule::lowest, TieRule::highest, TieRule::median_low})
      for (const double dropped : {0.0, 0.05, 0.6})
        for (const int most : {max_distribution_votes, votes / 2, votes / 3}) {
          if (votes > 100 && dropped > 0) continue;
          if (levels == 4 && (dropped > 0) != (tie == TieRule::first)) continue;  // the same, longer
          const Distribution pmf = draw() % 4 == 0 ? Distribution(levels, 1.0 / levels) : random_pmf(draw, levels);
          Distribution got(levels, -1);
          vote_distribution_by_roots(pmf, dropped, votes, tie, got, most);
          CAPTURE(pmf, votes, word_of<TieRule>(tie_words, tie), dropped, most);
          const double off = difference(got, by_counts(pmf, dropped, votes, tie, most));
          CHECK(off < 1e-12);
          worst = std::max(worst, off);
        }
  CAPTURE(worst);
  CHECK(worst < 2e-13);  // seen
  CHECK(by_roots(TieRule::first, 65));
  CHECK_FALSE(by_roots(TieRule::first, 64));
  CHECK_FALSE(by_roots(TieRule::nearest_mean, 65));
}

TEST_CASE("many votes: on both sides of the change from sums to roots the distributions go on") {
  const Distribution pmf = {.03, .02, .05, .07, .1, .13, .2, .25, .1, .05};
  for (const TieRule tie : {TieRule::first, TieRule::lowest, TieRule::highest, TieRule::median_low})
    for (const int votes : {20, 40, 64}) {
      Distribution roots(10);
      vote_distribution_by_roots(pmf, 0, votes, tie, roots);
      CHECK(difference(roots, distribution(pmf, votes, tie)) < 1e-13);
    }
}

TEST_CASE("nearest-mean of ten levels is that of the count vectors") {
  std::mt19937_64 draw(13);
  for (const int votes : {2, 5, 8, 12}) {
    const Distribution pmf = random_pmf(draw, 10);
    Distribution counted(10);
    vote_distribution_by_counts(pmf, votes, TieRule::nearest_mean, counted);
    const Distribution fast = distribution(pmf, votes, TieRule::nearest_mean);
    for (int k = 0; k < 10; ++k) {
      CAPTURE(pmf, votes, k, fast[k], counted[k]);
      CHECK(std::abs(fast[k] - counted[k]) <= 1e-13 * counted[k] + 1e-290);
    }
  }
  const Distribution pmf = {.03, .02, .05, .07, .1, .13, .2, .25, .1, .05};
  CHECK(std::abs(total(distribution(pmf, 16, TieRule::nearest_mean)) - 1) < 1e-13);
  CHECK(std::abs(total(distribution(pmf, 22, TieRule::nearest_mean)) - 1) < 1e-13);
  CHECK(nearest_mean_seconds(10, 16) < 0.1);
  CHECK(nearest_mean_seconds(10, 32) > 3);
}

// Sums of multinomial terms over all count vectors in exact fractions, by another program: pmf, distribution of 16 votes.
TEST_CASE("nearest-mean of sixteen votes, as computed elsewhere in fractions") {
  const std::pair<Distribution, Distribution> rows[] = {
      {{.3, .3, .4}, {0.2437189295220963, 0.2696943078594333, 0.4865867626184704}},
      {{.3, .1, .2, .4}, {0.2665903783911651, 0.0116362979459869, 0.1058404211170304, 0.6159329025458176}},
      {{.25, .125, .125, .25, .25},
       {0.2630832933318743, 0.05231489721257887, 0.061944353682395814, 0.35193110591717414, 0.2707263498559769}},
  };
  for (const auto& [pmf, wanted] : rows) CHECK(difference(distribution(pmf, 16, TieRule::nearest_mean), wanted) < 1e-15);
}

TEST_CASE("ten levels at the votes of the suites: sums to 1, mirror symmetry, uniform ties") {
  const Distribution pmf = {.03, .02, .05, .07, .1, .13, .2, .25, .1, .05}, mirrored(pmf.rbegin(), pmf.rend()), flat(10, 0.1);
  for (const int votes : {1, 2, 3, 8, 16, 32, 64, 128}) {
    for (const TieRule tie : {TieRule::first, TieRule::lowest, TieRule::highest, TieRule::median_low}) {
      CHECK(std::abs(total(distribution(pmf, votes, tie)) - 1) < 1e-13);
    }
    const Distribution low = distribution(pmf, votes, TieRule::lowest), high = distribution(mirrored, votes, TieRule::highest);
    const double rounding = votes > most_summed_votes ? 1e-13 : 1e-14;
    CHECK(difference(low, Distribution(high.rbegin(), high.rend())) < rounding);
    CHECK(difference(distribution(flat, votes, TieRule::first), flat) < rounding);
  }
  CHECK(difference(distribution(pmf, 1, TieRule::highest), pmf) < 1e-15);
  CHECK(difference(distribution(pmf, 2, TieRule::first), pmf) < 1e-15);  // two votes: the first of them, whatever the second
}

TEST_CASE("the largest vote: two levels against the binomial law, ten levels against each other") {
  const double p = 0.51;
  const int votes = max_distribution_votes;
  const Distribution two = distribution({1 - p, p}, votes, TieRule::first);
  long double win = 0, term = std::pow(1.0L - p, static_cast<long double>(votes));
  for (int c = 0; c <= votes; ++c) {
    win += 2 * c > votes ? term : 2 * c == votes ? term / 2 : 0;
    term = term * (votes - c) / (c + 1) * (p / (1.0L - p));
  }
  CHECK(std::abs(two[1] - static_cast<double>(win)) < 1e-13);
  CHECK(std::abs(total(two) - 1) < 1e-12);
  const Distribution rare = distribution({1e-9, 1 - 1e-9}, 700, TieRule::lowest);
  CHECK(rare[1] == Approx(1).margin(1e-13));
  CHECK(rare[0] >= 0);
  CHECK(distribution({0, 1, 0}, votes, TieRule::first) == Distribution{0, 1, 0});
}

TEST_CASE("many levels: up to 127 tied") {
  const int levels = max_distribution_levels;
  Distribution flat(levels, 1.0 / levels);
  for (const int votes : {1, 2, 5, 128}) CHECK(difference(distribution(flat, votes, TieRule::first), flat) < 1e-13);
  Distribution pmf(100);
  for (int k = 0; k < 100; ++k) pmf[k] = (k + 1) / 5050.0;
  CHECK(std::abs(total(distribution(pmf, 32, TieRule::first)) - 1) < 1e-13);
  CHECK(std::abs(total(distribution(pmf, 32, TieRule::median_low)) - 1) < 1e-13);
}

TEST_CASE("what the law refuses") {
  CHECK(count_vectors(10, 8) == 24310);
  CHECK(count_vectors(1, 8) == 1);
  Distribution out(10);
  const Distribution flat(10, 0.1);
  CHECK_THROWS_AS(vote_distribution(flat, 32, TieRule::nearest_mean, out), Failure);
  CHECK_THROWS_AS(vote_distribution(flat, max_distribution_votes + 1, TieRule::first, out), Failure);
  CHECK_THROWS_AS(vote_distribution(flat, 0, TieRule::first, out), Failure);
  Distribution wide(max_distribution_levels + 1, 1.0 / (max_distribution_levels + 1)), wide_out(wide.size());
  for (const TieRule tie : all_ties)
    for (const int votes : {0, 1, 2}) CHECK_THROWS_AS(vote_distribution(wide, votes, tie, wide_out), Failure);
}

TEST_CASE("literal votes follow the law (chi-square)") {
  const std::uint64_t seed = 4711;
  std::mt19937_64 draw(seed);
  const Distribution pmf = {.02, .08, .3, .35, .25};
  for (const int votes : {1, 2, 3, 8, 32, 200})
    for (const TieRule tie : all_ties) {
      if (votes == 200 && tie == TieRule::nearest_mean) continue;  // refused
      const int draws = votes == 200 ? 10000 : 40000;
      CAPTURE(seed, draws);
      const Distribution expected = distribution(pmf, votes, tie);
      std::vector<int> scores(votes), seen(pmf.size(), 0);
      for (int i = 0; i < draws; ++i) {
        for (int& s : scores) {
          double u = static_cast<double>(draw() >> 11) * 0x1p-53;
          for (s = 0; s < 4 && u >= pmf[s]; ++s) u -= pmf[s];
        }
        ++seen[vote(scores, tie)];
      }
      double chi2 = 0, rest_seen = 0, rest = 0;  // cells that expect fewer than 5 are pooled
      for (std::size_t k = 0; k < pmf.size(); ++k) {
        const double want = expected[k] * draws;
        if (want < 5) rest_seen += seen[k], rest += want;
        else chi2 += (seen[k] - want) * (seen[k] - want) / want;
      }
      if (rest > 0.5) chi2 += (rest_seen - rest) * (rest_seen - rest) / rest;
      CAPTURE(votes, word_of<TieRule>(tie_words, tie), chi2);
      CHECK(chi2 < 23.5);  // one in 10,000 at 4 degrees of freedom; 29 tests
    }
}
