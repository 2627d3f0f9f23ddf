// Calls until a score was given k times: the distribution against every sequence of calls, closed forms at the largest N, and what it refuses.
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <random>
#include <vector>

#include "envs/rater/distribution_table.hpp"
#include "envs/rater/vote.hpp"
#include "kernels/shared/failure.hpp"
#include "kernels/shared/words.hpp"
#include "tests/catch.hpp"

using namespace odrpo;

namespace {

constexpr int unread = -1;

RaterConfig judge(int stop, TieRule tie = TieRule::first) {
  RaterConfig rater;
  rater.stop = stop;
  rater.tie = tie;
  return rater;
}

/// Score (unread = none) and number of the calls that are made of these, by the definition.
std::pair<int, int> asked(const std::vector<int>& calls, const RaterConfig& rater) {
  std::map<int, int> given;
  std::vector<int> heard;
  int made = 0;
  for (const int score : calls) {
    ++made;
    if (score == unread) continue;
    heard.push_back(score);
    if (++given[score] == rater.stop) return {score, made};
  }
  return {heard.empty() ? unread : vote(heard, rater.tie), made};
}

std::vector<double> random_pmf(std::mt19937_64& draw, int levels) {
  std::vector<double> pmf(static_cast<std::size_t>(levels));
  double total = 0;
  for (double& p : pmf) total += p = static_cast<double>(1 + draw() % 1000);
  for (double& p : pmf) p /= total;
  return pmf;
}

/// C(n, k) p^k (1-p)^(n-k)
long double binomial(int n, int k, long double p) {
  return std::exp(std::lgamma(n + 1.0L) - std::lgamma(k + 1.0L) - std::lgamma(n - k + 1.0L) + k * std::log(p) + (n - k) * std::log(1 - p));
}

}  // namespace

TEST_CASE("stop: law and expected calls are those of every sequence of calls, by every tie rule and parse policy") {
  const std::uint64_t seed = 20261124;
  CAPTURE(seed);
  std::mt19937_64 draw(seed);
  int tables = 0;
  for (const int levels : {2, 3, 4})
    for (const int votes : {3, 4, 6})
      for (int stop = 2; stop < votes; ++stop)
        for (const Word<TieRule>& tie : tie_words)
          for (const int parsing : {0, 1, 2, 3}) {
            RaterConfig rater = judge(stop, tie.value);
            rater.parse_failure = parsing == 0 ? 0 : 0.3;
            rater.parse_policy = parsing == 2 ? ParsePolicy::drop : parsing == 3 ? ParsePolicy::zero : ParsePolicy::resample;
            const std::vector<double> row = random_pmf(draw, levels);
            const Outcomes outcomes = make_outcomes(rater, levels, votes);
            std::vector<double> call(static_cast<std::size_t>(outcomes.count), 0.0), distribution(call.size()), want(call.size(), 0.0);
            const double p = rater.parse_failure, failed = parsing == 1 ? p * p : p;
            const std::size_t shift = parsing == 3;
            for (std::size_t k = 0; k < row.size(); ++k) call[k + shift] = (1 - failed) * row[k];
            if (parsing == 1) call[0] += failed;
            if (parsing == 2) call.back() = failed;
            if (parsing == 3) call.front() = failed;
            double calls = 0;
            std::vector<int> at(static_cast<std::size_t>(votes), 0);
            for (;;) {
              std::vector<int> scores;
              double probability = 1;
              for (const int o : at) {
                scores.push_back(o == outcomes.missing ? unread : o);
                probability *= call[static_cast<std::size_t>(o)];
              }
              const auto [score, made] = asked(scores, rater);
              want[static_cast<std::size_t>(score == unread ? outcomes.missing : score)] += probability;
              calls += probability * made;
              std::size_t i = 0;
              while (i < at.size() && ++at[i] == outcomes.count) at[i++] = 0;
              if (i == at.size()) break;
            }
            aggregate_distribution(rater, outcomes, call, votes, distribution);
            CAPTURE(levels, votes, stop, tie.word, parsing);
            for (std::size_t o = 0; o < distribution.size(); ++o) CHECK(std::abs(distribution[o] - want[o]) < 1e-13);
            CHECK(std::abs(aggregate_calls(rater, call, votes) - calls) < 1e-12);
            ++tables;
          }
  CHECK(tables == 3 * 5 * 4 * (1 + 2 + 4));
}

TEST_CASE("stop: of two scores, closed forms up to the largest N") {
  for (const auto& [votes, stop] : {std::pair{1024, 2}, {1024, 60}, {1024, 511}, {1024, 512}, {1024, 700}, {601, 300}, {5, 4}})
    for (const double p : {0.5, 0.03, 0.7}) {
      CAPTURE(votes, stop, p);
      const RaterConfig rater = judge(stop, TieRule::lowest);
      const std::vector<double> pmf{p, 1 - p};
      std::vector<double> distribution(2);
      stop_distribution(rater, pmf, 0, votes, distribution);
      long double low = 0, calls = 0;
      for (int n = stop; n <= std::min(votes, 2 * stop - 1); ++n) low += binomial(n, stop, p) * stop / n;
      for (int a = 0; a < stop; ++a)  // nobody won: the lower score where it has half of them
        if (votes - a < stop && 2 * a >= votes) low += binomial(votes, a, p);
      for (int n = 0; n < votes; ++n)
        for (int a = 0; a < stop && a <= n; ++a)
          if (n - a < stop) calls += binomial(n, a, p);
      CHECK(std::abs(distribution[0] - static_cast<double>(low)) < 1e-12);
      CHECK(std::abs(distribution[0] + distribution[1] - 1) < 1e-12);
      CHECK(stop_calls(rater, pmf, 0, votes) == Approx(static_cast<double>(calls)).epsilon(1e-11));
    }
}

TEST_CASE("stop: more than half of the calls decide as all of them do, and N or more never end early") {
  const std::uint64_t seed = 20261125;
  CAPTURE(seed);
  std::mt19937_64 draw(seed);
  for (const Word<TieRule>& tie : tie_words)
    for (const int votes : {4, 9, 17, 300}) {
      if (tie.value == TieRule::nearest_mean && votes > 17) continue;
      const int levels = votes == 300 ? 12 : 5;
      const std::vector<double> pmf = random_pmf(draw, levels);
      std::vector<double> mode(pmf.size()), distribution(pmf.size());
      vote_distribution(pmf, votes, tie.value, mode);
      for (const int stop : {votes / 2 + 1, votes - 1}) {
        CAPTURE(votes, stop, tie.word);
        stop_distribution(judge(stop, tie.value), pmf, 0, votes, distribution);
        for (std::size_t k = 0; k < distribution.size(); ++k) CHECK(std::abs(distribution[k] - mode[k]) < 1e-12);
        CHECK(stop_calls(judge(stop), pmf, 0, votes) <= votes);
        if (votes <= 17) CHECK(stop_calls(judge(stop), pmf, 0, votes) < votes);
      }
      const Outcomes outcomes = make_outcomes(judge(0), levels, votes);
      for (const int stop : {votes, votes + 1, 1024}) {
        RaterConfig rater = judge(stop, tie.value);
        CHECK_FALSE(stops_early(rater, votes));
        aggregate_distribution(rater, outcomes, pmf, votes, distribution);
        CHECK(distribution == mode);  // bit for bit
        CHECK(aggregate_calls(rater, pmf, votes) == votes);
      }
    }
}

TEST_CASE("stop: laws lose nothing at the ends: many levels, rare scores, certain scores, hardly an answer") {
  const std::uint64_t seed = 20261126;
  CAPTURE(seed);
  std::mt19937_64 draw(seed);
  for (const int levels : {2, 10, 101})
    for (const int votes : {3, 64, 1024})
      for (const int stop : {2, 7, 40, 600})
        for (const double dropped : {0.0, 0.3, 0.999}) {
          if (stop >= votes) continue;
          if (levels == 101 && stop > 7 && (dropped > 0 || votes == 1024)) continue;  // seconds
          if (votes == 1024 && stop == 600 && dropped > 0) continue;
          CAPTURE(levels, votes, stop, dropped);
          std::vector<double> pmf = random_pmf(draw, levels), distribution(pmf.size());
          pmf[0] = 0;
          const double rest = std::accumulate(pmf.begin(), pmf.end(), 0.0);
          for (double& p : pmf) p /= rest;
          pmf[0] = 1e-200;
          stop_distribution(judge(stop), pmf, dropped, votes, distribution);
          CHECK(std::abs(std::accumulate(distribution.begin(), distribution.end(), 0.0) + std::pow(dropped, votes) - 1) < 1e-12);
          const double calls = stop_calls(judge(stop), pmf, dropped, votes);
          CHECK(calls <= votes);
          CHECK(calls >= stop);
          RaterConfig drops = judge(stop);
          if (dropped > 0) drops.parse_failure = dropped, drops.parse_policy = ParsePolicy::drop;
          CHECK(calls <= most_calls(drops, levels, votes));
        }
  std::vector<double> distribution(3);
  stop_distribution(judge(3), std::vector<double>{0, 1, 0}, 0, 9, distribution);
  CHECK(distribution == std::vector<double>{0, 1, 0});
  CHECK(stop_calls(judge(3), std::vector<double>{0, 1, 0}, 0, 9) == Approx(3).epsilon(1e-14));
  CHECK(stop_calls(judge(3), std::vector<double>{0, 1, 0}, 0.5, 900) == Approx(6).epsilon(1e-12));  // 3 / (1 - .5)
  CHECK(stop_calls(judge(3), std::vector<double>{0, 0, 0}, 1, 9) == 9);
}

TEST_CASE("stop: rows are priced by what is left to the mode") {
  RaterConfig drops = judge(50);
  drops.parse_failure = 0.05, drops.parse_policy = ParsePolicy::drop;
  CHECK(aggregate_seconds(drops, 10, 1024) < 0.1);  // 10 scores 49 times each are 490 calls, and more are read
  drops.stop = 200;
  CHECK(aggregate_seconds(drops, 10, 1024) < 0.1);
  CHECK(aggregate_seconds(judge(200), 10, 1024) < 0.1);
  drops.tie = TieRule::nearest_mean;  // is summed, for each likely number of calls that give a score
  CHECK(aggregate_seconds(drops, 10, 1024) > 3600);
  CHECK(aggregate_seconds(judge(2), 10, 8) < 1e-4);
}

TEST_CASE("stop: nearest-mean refuses what is too dear, and nothing where some score always comes often enough") {
  std::mt19937_64 draw(1);
  const std::vector<double> pmf = random_pmf(draw, 10);
  std::vector<double> distribution(10);
  CHECK_THROWS_AS(stop_distribution(judge(8, TieRule::nearest_mean), pmf, 0, 60, distribution), Failure);
  CHECK(distribution_cases(judge(8, TieRule::nearest_mean), 10, 60) > max_distribution_cases);
  stop_distribution(judge(5, TieRule::nearest_mean), pmf, 0, 60, distribution);  // 10 scores 4 times each are 40 calls
  CHECK(std::abs(std::accumulate(distribution.begin(), distribution.end(), 0.0) - 1) < 1e-12);
  CHECK(distribution_cases(judge(5, TieRule::nearest_mean), 10, 60) == 0);
  CHECK(most_calls(judge(5), 10, 60) == 41);
  CHECK_THROWS_AS(stop_distribution(judge(5), pmf, 0, 1025, distribution), Failure);
}
