// The curves of levels: they sum to the curves of quality and reward, and the levels' parts of the advantages sum to the advantages.
#include "train/level_curves.hpp"

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "config/spec.hpp"
#include "estimators/definition.hpp"
#include "tests/catch.hpp"
#include "tests/train/tiny.hpp"
#include "tests/train/trained.hpp"
#include "train/curves.hpp"

using namespace odrpo;

namespace {

const std::vector<double>& curve(const RunRecord& r, const std::string& name) { return recorded_curve(r, name).values; }

/// Sum over the levels 2..10 of a kind of curves at record number `at`.
double sum_of(const RunRecord& r, std::string_view kind, std::size_t at) {
  double sum = 0;
  for (int k = 2; k <= 10; ++k) sum += curve(r, std::string(kind) + std::to_string(k))[at];
  return sum;
}

}  // namespace

TEST_CASE("shares that reach each level sum to quality and reward less one, and the levels' shares of the advantages to one") {
  const Suite suite = tiny({"record.levels=1", "env.bandit.quality=\"integer\"", "record.every=5"});
  for (std::size_t i = 0; i < suite.runs.size(); ++i) {
    const RunRecord r = run(suite.runs[i]);
    INFO(r.id);
    REQUIRE(r.status == RunStatus::ok);
    REQUIRE(r.step.size() == 5);
    for (std::size_t at = 0; at < r.step.size(); ++at) {
      CHECK(std::abs(1 + sum_of(r, "quality_at_least_", at) - curve(r, "quality")[at]) < 1e-6);
      CHECK(std::abs(1 + sum_of(r, "reward_at_least_", at) - curve(r, "reward")[at]) < 1e-6);
      CHECK(std::abs(sum_of(r, "advantage_share_", at) - 1) < 1e-6);
    }
    for (int k = 3; k <= 10; ++k)
      for (const char* kind : {"quality_at_least_", "reward_at_least_"})
        for (std::size_t at = 0; at < r.step.size(); ++at) CHECK(curve(r, kind + std::to_string(k))[at] <= curve(r, kind + std::to_string(k - 1))[at] + 1e-12);
  }
}

TEST_CASE("a run that records levels is the same run") {
  const Suite with = tiny({"record.levels=1"}), without = tiny();
  for (std::size_t i = 0; i < with.runs.size(); i += 3) {
    const RunRecord a = run(with.runs[i]), b = run(without.runs[i]);
    for (const Curve& c : b.curves) CHECK(curve(a, c.name) == c.values);
    CHECK(a.curves.size() == b.curves.size() + 27);
    CHECK(a.key != b.key);
  }
}

TEST_CASE("what levels add to advantages, by the definition of each form") {
  const unsigned seed = 520;
  std::mt19937_64 g(seed);
  for (const std::string word : {"reinforce", "rloo", "grpo", "maxrl", "dgae", "odrpo(grpo)", "odrpo-gini(maxrl)", "odrpo-gini-median(grpo)"})
    for (int round = 0; round < 200; ++round) {
      const EstimatorConfig config = *parse_estimator(word);
      const std::size_t n = 2 + g() % 8;
      std::vector<double> scores(n), a(n), sums(9, 0.0);
      for (double& s : scores) s = 1 + static_cast<double>(g() % 10);
      advantages(config, 10, scores, std::nan(""), a);
      REQUIRE(add_level_sums(config, scores, a, sums));
      // a member's advantage is the sum of its levels' parts, which are of the sign of 1[r >= k] - mu_k: so the sums are those of |A^(k)|
      double mean = 0, positive = 0, levels = 0;
      for (const double s : scores) mean += s / static_cast<double>(n);
      for (std::size_t i = 0; i < n; ++i) positive += std::abs(a[i]);
      for (const double s : sums) levels += s;
      INFO(word << " seed " << seed << " round " << round);
      CHECK(levels >= positive - 1e-6 * (1 + positive));  // the triangle inequality
      const bool linear = word.find("odrpo") == std::string::npos;
      for (int k = 2; k <= 10; ++k) {
        double above = 0;
        for (const double s : scores) above += s >= k;
        const double share = above / static_cast<double>(n), part = sums[static_cast<std::size_t>(k - 2)];
        if (share == 0 || share == 1) CHECK(part == 0);
        if (!linear || share == 0 || share == 1) continue;
        double scale = 0, distance = 0;
        for (std::size_t i = 0; i < n; ++i)
          if (std::abs(scores[i] - mean) > distance) distance = std::abs(scores[i] - mean), scale = std::abs(a[i]) / distance;
        CHECK(std::abs(part - scale * 2 * static_cast<double>(n) * share * (1 - share)) < 1e-9 * (1 + part));
      }
      if (linear) continue;
      // of two-level groups the only level that differs carries everything
      std::vector<double> two(n, 4.0), of_two(n), only(9, 0.0);
      two[0] = 5;
      advantages(config, 10, two, std::nan(""), of_two);
      REQUIRE(add_level_sums(config, two, of_two, only));
      double all = 0;
      for (const double x : of_two) all += std::abs(x);
      for (int k = 2; k <= 10; ++k) CHECK(std::abs(only[static_cast<std::size_t>(k - 2)] - (k == 5 ? all : 0)) < 1e-9 * (1 + all));
    }
  std::vector<double> scores = {3, 5, 8}, a(3), sums(9, 0.0);
  for (const std::string word : {"rank-grpo", "qae", "gopo"}) CHECK_FALSE(add_level_sums(*parse_estimator(word), scores, a, sums));
}
