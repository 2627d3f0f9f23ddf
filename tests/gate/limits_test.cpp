// Limits of a suite: means over seeds, ratios of pairs, verdicts, and what cannot be measured.
#include "gate/limits.hpp"

#include <cmath>

#include "tests/catch.hpp"
#include "tests/results/table/table_sample.hpp"

using namespace odrpo;
using namespace odrpo::sample;

namespace {

/// Two estimators x votes {1, 8} x 4 seeds: the step time of "slow" is 1.2 (1 +- spread) that of "fast"; quality 7 + .1 seed, + 1 at 8
/// votes.
std::vector<RunRecord> some(double spread) {
  std::vector<RunRecord> all;
  for (const char* estimator : {"fast", "slow"})
    for (const int votes : {1, 8})
      for (int seed = 0; seed < 4; ++seed) {
        RunRecord r = run("bandit", estimator, votes, 0.1, seed, 20);
        const bool slow = estimator == std::string("slow");
        r.step_time_median = 1e-5 * votes * (1 + seed) * (slow ? 1.2 * (1 + spread * (seed % 2 == 0 ? 1 : -1)) : 1);
        r.finals = {{"final_quality", 7 + 0.1 * seed + (votes == 8 ? 1 : 0)}, {"final_gain", slow ? 0.6 : 0.5 + 0.001 * seed}};
        all.push_back(r);
      }
  return all;
}
GateLimit limit(LimitedValue value, const char* row, const char* over) { return {value, "estimator", row, over, {}, {}, {}}; }
LimitVerdict verdict(const ResultFile& file, GateLimit l, std::optional<double> most, std::optional<double> least = {}) {
  l.at_most = most;
  l.at_least = least;
  return judge_limit(file, l).verdict;
}

}  // namespace

TEST_CASE("limits: a step time over another is the geometric mean of pairs, by seed") {
  const ResultFile file = file_of(some(0.05));
  const GateLimit slow = limit(LimitedValue::step_time, "slow", "fast");
  const LimitResult r = judge_limit(file, slow);
  CHECK(r.why == "");
  CHECK(r.measured.n == 4);
  CHECK(r.cells == 2);
  CHECK(r.measured.mean == Approx(1.2 * std::sqrt(1.05 * 0.95)));
  const MeanInterval logs = mean_interval(std::vector<double>{std::log(1.26), std::log(1.14), std::log(1.26), std::log(1.14)});
  CHECK(r.measured.lo == Approx(std::exp(logs.lo)));
  CHECK(r.measured.hi == Approx(std::exp(logs.hi)));
  CHECK(verdict(file, slow, 1.4) == LimitVerdict::pass);
  CHECK(verdict(file, slow, 1.2) == LimitVerdict::inconclusive);
  CHECK(verdict(file, slow, 1.05) == LimitVerdict::fail);
  CHECK(verdict(file, slow, {}, 1.05) == LimitVerdict::pass);
  CHECK(verdict(file, slow, {}, 1.5) == LimitVerdict::fail);
  CHECK(verdict(file, slow, 1.5, 1.05) == LimitVerdict::pass);
}

TEST_CASE("limits: votes over votes, differences, plain means, and some runs only") {
  const ResultFile file = file_of(some(0));
  GateLimit votes = limit(LimitedValue::step_time, "8", "1");
  votes.axis = "votes";
  CHECK(judge_limit(file, votes).measured.mean == Approx(8));
  CHECK(verdict(file, votes, 8.001) == LimitVerdict::pass);  // no spread: the interval is a point
  const LimitResult gain = judge_limit(file, limit(LimitedValue::gain, "slow", "fast"));
  CHECK(gain.measured.mean == Approx(0.1 - 0.0015));
  GateLimit quality = limit(LimitedValue::quality, "fast", "");
  CHECK(judge_limit(file, quality).measured.mean == Approx(7.65));
  CHECK(judge_limit(file, quality).cells == 2);
  quality.where = {"votes=8"};
  CHECK(judge_limit(file, quality).measured.mean == Approx(8.15));
  CHECK(judge_limit(file, quality).cells == 1);
}

TEST_CASE("limits: cells with a run that failed are left out in all seeds") {
  std::vector<RunRecord> all = some(0);
  all[1].status = RunStatus::failed;  // fast, 1 vote, seed 1
  const ResultFile file = file_of(all);
  const LimitResult r = judge_limit(file, limit(LimitedValue::quality, "fast", ""));
  CHECK(r.left_out == 1);
  CHECK(r.failed == 1);
  CHECK(r.verdict == LimitVerdict::fail);  // whatever the others say: a method that fails has not kept its promise
  CHECK(r.cells == 1);
  CHECK(r.measured.mean == Approx(8.15));
  CHECK(r.measured.n == 4);
  const LimitResult over = judge_limit(file, limit(LimitedValue::step_time, "slow", "fast"));
  CHECK(over.left_out == 1);
  CHECK(over.failed == 0);
  CHECK(over.failed_over == 1);
  CHECK(over.verdict == LimitVerdict::inconclusive);
}

TEST_CASE("limits: what cannot be measured is inconclusive, and says why") {
  const ResultFile file = file_of(some(0));
  const auto why = [&](GateLimit l) {
    const LimitResult r = judge_limit(file, l);
    CHECK(r.verdict == LimitVerdict::inconclusive);
    return r.why;
  };
  CHECK(why(limit(LimitedValue::quality, "grpo", "")).find("no run has estimator \"grpo\"") != std::string::npos);
  GateLimit other = limit(LimitedValue::quality, "fast", "");
  other.axis = "lrate";
  CHECK(why(other).find("no dimension \"lrate\"") != std::string::npos);
  other = limit(LimitedValue::quality, "fast", "");
  other.where = {"votes=2"};
  CHECK(why(other).find("no run has votes") != std::string::npos);
  other.where = {"votes"};
  CHECK(why(other).find("AXIS=VALUE") != std::string::npos);
  std::vector<RunRecord> one = some(0);
  std::erase_if(one, [](const RunRecord& r) { return r.seed > 0; });
  const LimitResult r = judge_limit(file_of(one), {LimitedValue::quality, "estimator", "fast", "", {}, {}, 1.0});
  CHECK(r.measured.n == 1);
  CHECK(r.verdict == LimitVerdict::inconclusive);  // one seed has no interval
}
