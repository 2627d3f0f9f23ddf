// The running median: by hand, and the incremental form against the definition.
#include "estimators/running_median.hpp"

#include <limits>
#include <random>
#include <vector>

#include "estimators/batch.hpp"
#include "kernels/shared/failure.hpp"
#include "tests/catch.hpp"

using namespace odrpo;

namespace {

using Batches = std::vector<std::vector<double>>;

std::vector<double> run(const RunningRule& rule, double init, const Batches& batches) {
  std::vector<double> out(batches.size());
  running_medians(rule, init, batches, out);
  return out;
}

}  // namespace

TEST_CASE("a batch uses what earlier batches left") {
  const Batches batches = {{1, 2, 3, 9}, {9, 9, 9}, {}, {1, 1}, {4}};
  const RunningRule window{RunningKind::window, MedianRule::lower, 4, 0};
  CHECK(run(window, 5, batches) == std::vector<double>{5, 2, 9, 9, 1});  // windows 1239, 9999, 9999, 9911
  const RunningRule upper{RunningKind::window, MedianRule::upper, 4, 0}, mid{RunningKind::window, MedianRule::mid, 4, 0};
  CHECK(run(upper, 5, batches) == std::vector<double>{5, 3, 9, 9, 9});
  CHECK(run(mid, 5, batches) == std::vector<double>{5, 2.5, 9, 9, 5});
  const RunningRule ema{RunningKind::ema, MedianRule::lower, 1, 0.5};
  CHECK(run(ema, 5, batches) == std::vector<double>{5, 3.5, 6.25, 6.25, 3.625});
  const RunningRule narrow{RunningKind::window, MedianRule::lower, 2, 0};  // smaller than a batch: its last scores
  CHECK(run(narrow, 5, {{9, 9, 1, 2}, {7}}) == std::vector<double>{5, 1});
}

TEST_CASE("training starts at the lower median of the levels") {
  CHECK(first_median(10) == 5);
  CHECK(first_median(5) == 3);
  CHECK(first_median(2) == 1);
}

TEST_CASE("the histogram and ring give the definition's values, for scores and for rewards, what is missing left out") {
  const std::uint64_t seed = 77;
  CAPTURE(seed);
  std::mt19937_64 draw(seed);
  for (const auto kind : {RunningKind::window, RunningKind::ema})
    for (const auto rule : {MedianRule::lower, MedianRule::mid, MedianRule::upper})
      for (const int window : {1, 2, 7, 64, 1000})
        for (const bool real : {false, true}) {
          const RunningRule config{kind, rule, window, 0.25 * static_cast<double>(draw() % 5)};
          Batches batches(20);
          RunningMedian fast(config, 5.5);
          std::vector<double> used;
          for (auto& batch : batches) {
            std::vector<std::uint8_t> scores(draw() % 40);
            std::vector<float> rewards;
            for (auto& s : scores) {
              s = static_cast<std::uint8_t>(draw() % 4 == 0 ? draw() % 256 : 1 + draw() % 10);
              const float shift = static_cast<float>(draw() % 8) / 8 - 2.0f * static_cast<float>(draw() % 8 == 0);  // below 0 too
              rewards.push_back(s == no_score ? std::numeric_limits<float>::quiet_NaN() : 1.7f * s + shift);
              if (s != no_score) batch.push_back(real ? rewards.back() : s);
            }
            used.push_back(fast.value());
            if (real) fast.add_batch(rewards);
            else fast.add_batch(scores);
          }
          CAPTURE(real, window, static_cast<int>(rule), static_cast<int>(kind));
          CHECK(used == run(config, 5.5, batches));
        }
}

TEST_CASE("rewards beyond the histogram's bins are told apart all the same") {
  RunningMedian fast({RunningKind::window, MedianRule::upper, 100, 0}, 5);
  fast.add_batch(std::vector<float>{1000, 3000, 2000});
  CHECK(fast.value() == 2000);
  fast.add_batch(std::vector<float>{-3, -1, -2, -5});
  CHECK(fast.value() == -1);
  CHECK_THROWS_AS(fast.add_batch(std::vector<std::uint8_t>{1}), Failure);
}

TEST_CASE("rules that cannot be") {
  CHECK_THROWS_AS(RunningMedian(RunningRule{RunningKind::window, MedianRule::running, 4, 0}, 5), Failure);
  CHECK_THROWS_AS(RunningMedian(RunningRule{RunningKind::window, MedianRule::lower, 0, 0}, 5), Failure);
  CHECK_THROWS_AS(RunningMedian(RunningRule{RunningKind::ema, MedianRule::lower, 1, 1.5}, 5), Failure);
}
