// What the suites must show as a whole: the yardstick agrees with the independent numpy program, the calibrated judges with the
// published comparison of estimators. Minutes of simulated judges, seconds of CPU; label `slow`.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "config/read/parse.hpp"
#include "results/stats/statistics.hpp"
#include "tests/source_path.hpp"
#include "tests/train/train_all.hpp"

using namespace odrpo;

namespace {

Suite shipped(const std::string& name, const std::vector<std::string>& set = {}, const std::vector<std::string>& only = {}) {
  return load_suite(source_path("suites/" + name + ".toml"), set, only);
}

}  // namespace

TEST_CASE("yardstick: final regret of 64 seeds agrees with the independent numpy program within 0.006") {
  // bandit_numpy.py, 64 seeds, 1000 steps, literal votes
  struct Want {
    const char* estimator;
    int votes;
    double regret;
  };
  const Want wants[] = {{"grpo", 1, .0695},
                        {"grpo", 32, .0324},
                        {"maxrl", 1, .0924},
                        {"maxrl", 32, .0381},
                        {"odrpo-gini-median(grpo)", 1, .0660},
                        {"odrpo-gini-median(grpo)", 32, .0331},
                        {"odrpo-gini-median(maxrl)", 1, .0738},
                        {"odrpo-gini-median(maxrl)", 32, .0508}};
  const Suite suite = shipped("yardstick");
  REQUIRE(suite.runs.size() == std::size(wants) * 64);
  std::map<std::pair<std::string, int>, std::vector<double>> regret;
  for (const RunRecord& r : train_all(suite)) regret[{r.estimator, r.votes}].push_back(final_value(r, "regret"));
  REQUIRE(regret.size() == std::size(wants));
  std::printf("%-28s %5s %8s %8s %8s %4s\n", "final regret, levels", "votes", "got", "want", "s.e.", "n");
  for (const Want& want : wants) {
    const MeanInterval got = mean_interval(regret[{want.estimator, want.votes}]);
    std::printf("%-28s %5d %8.4f %8.4f %8.4f %4d\n", want.estimator, want.votes, got.mean, want.regret, got.sd / std::sqrt(got.n), got.n);
    INFO(want.estimator << " N=" << want.votes << ": got " << got.mean << ", want " << want.regret);
    CHECK(got.n == 64);
    CHECK(std::fabs(got.mean - want.regret) < 0.006);
  }
}

TEST_CASE("calibrated suite: Gini-Median of MaxRL's norm minus MaxRL overlaps the published intervals") {
  // 95 % intervals of the difference in percent of headroom, linear policy, lr chosen on 10 seeds and up to 3, 20 other seeds reported.
  struct Want {
    const char* rater;
    double lo, hi;
  };
  const std::string base = "maxrl", ordinal = "odrpo-gini-median(maxrl)";
  const Want wants[] = {{"mixed", .37, 1.59}, {"veto", 4.24, 6.19}};
  std::vector<std::string> only;
  for (const Want& want : wants)
    for (const std::string& estimator : {base, ordinal}) only.push_back(std::string("*/") + want.rater + "/linear/" + estimator + "/n1/*");
  const std::size_t tuned = 10, seeds = 30;  // as published
  const Suite suite = shipped("calibrated", {"suite.seeds=30", "table.tune_seeds=10"}, only);
  std::map<std::pair<std::string, std::string>, std::map<double, std::vector<double>>> gain;  // (rater, estimator) -> lr -> by seed
  for (const RunRecord& r : train_all(suite)) {
    REQUIRE(r.axes.size() == 1);
    std::vector<double>& values = gain[{r.rater, r.estimator}][std::get<double>(r.axes[0].second)];
    REQUIRE(r.seed == static_cast<int>(values.size()));
    values.push_back(100 * final_value(r, "final_gain"));
  }
  REQUIRE(gain.size() == 4);
  std::printf("%-6s %26s %26s %24s %18s\n", "rater", "maxrl (lr)", "gini-median (lr)", "difference, 95 %, n", "published");
  for (const Want& want : wants) {
    // the rate that is best on the tuning seeds, and the gains of the other seeds
    const auto best = [&](const std::string& estimator) {
      const auto& rates = gain[{want.rater, estimator}];
      const auto tuning = [&](const auto& rate) { return mean_interval(std::span(rate.second).first(tuned)).mean; };
      const auto top = std::max_element(rates.begin(), rates.end(), [&](const auto& a, const auto& b) { return tuning(a) < tuning(b); });
      REQUIRE(top->second.size() == seeds);
      CHECK(top->first >= 1);                     // rates up to the published grid's largest were tried,
      CHECK(top->first < rates.rbegin()->first);  // and no larger one than those of the suite would be chosen
      const std::vector<double> reported(top->second.begin() + static_cast<std::ptrdiff_t>(tuned), top->second.end());
      return std::pair(top->first, reported);
    };
    const auto [base_lr, base_gain] = best(base);
    const auto [ordinal_lr, ordinal_gain] = best(ordinal);
    const MeanInterval got = paired_difference(ordinal_gain, base_gain);
    std::printf("%-6s %19.2f (%4g) %19.2f (%4g) %+7.2f [%+.2f,%+.2f] %2d  [%+.2f,%+.2f]\n", want.rater, mean_interval(base_gain).mean,
                base_lr, mean_interval(ordinal_gain).mean, ordinal_lr, got.mean, got.lo, got.hi, got.n, want.lo, want.hi);
    INFO(want.rater << ": " << got.mean << " [" << got.lo << ", " << got.hi << "], published [" << want.lo << ", " << want.hi << "]");
    CHECK(got.n == 20);
    CHECK(got.lo <= want.hi);
    CHECK(got.hi >= want.lo);
  }
}
