// Weights and norms written as formulas: the batch forms against the definition for chosen and random formulas; whole, missing and real scores.
#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "estimators/batch.hpp"
#include "estimators/definition.hpp"
#include "estimators/level_formulas.hpp"
#include "tests/catch.hpp"
#include "tests/estimators/configs.hpp"
#include "tests/estimators/formulas.hpp"
#include "tests/isas.hpp"

using namespace odrpo;

namespace {

/// Formulas that are finite at every living level of groups of any size, with and without the median.
const std::vector<std::pair<std::string, std::string>> formula_pairs = {
    {"sqrt(k)*(0.1 + 4*mu*(1-mu))", ""},
    {"sqrt(k)*(0.1 + 4*mu*(1-mu)*exp(-max(med-k, 0)/2))", "mu"},
    {"", "sqrt(mu*(1-mu))"},
    {"1/(1 + abs(k - med))", "mu^0.7 + 1/G"},
    {"k/K", "max(mu, 1 - mu)*log(1 + med + k)"},
    {"-mu", ""},
    {"(k - 5)^3", "sqrt(mu) + 0.01*med"},
    {"[1, 2, 0, 4, 5, 6.5, 7, 8, 9, -1]", ""},
};

double worst_error(const Values& want, const float* got) {
  double worst = 0, size = 1e-3;
  for (std::size_t i = 0; i < want.size(); ++i) {
    worst = std::max(worst, std::fabs(want[i] - static_cast<double>(got[i])));
    size = std::max(size, std::fabs(want[i]));
  }
  return worst / size;
}

}  // namespace

TEST_CASE("batches of formulas equal the definition: whole scores by tables, and every instruction set has the same bits") {
  const unsigned seed = 20261130;
  INFO("seed " << seed);
  std::mt19937 g(seed);
  for (const auto& [weight, norm] : formula_pairs)
    for (const MedianRule rule : {MedianRule::lower, MedianRule::mid, MedianRule::upper, MedianRule::running})
      for (const int members : {2, 5, 8, 16, 300}) {
        EstimatorConfig c = with_formulas("odrpo(grpo)", weight, norm);
        c.median = rule;
        c.eps = members == 5 ? 1e-3 : 0;
        if (members == 16) c.values = {1, 2, 4, 5, 6, 7, 8, 9, 10, 30};
        BatchEstimator fast(c, 10, members);
        CHECK(fast.needs_median() == (rule == MedianRule::running && reads_median(c)));
        if (fast.needs_median()) fast.set_median(4.5);
        const int groups = 20;
        std::vector<std::uint8_t> score(static_cast<std::size_t>(groups * members));
        for (auto& s : score) s = static_cast<std::uint8_t>(g() % 11);
        std::vector<float> out(score.size()), first, tabulated(score.size());
        for (const Isa isa : isas()) {
          fast(estimator_stages(isa), score.data(), groups, out.data());
          if (first.empty()) first = out;
          CHECK(out == first);
        }
        fast.expect(1e9, isas().front());
        fast(estimator_stages(isas().front()), score.data(), groups, tabulated.data());
        CHECK(tabulated == first);
        for (int group = 0; group < groups; ++group) {
          const Values rewards(score.begin() + group * members, score.begin() + (group + 1) * members);
          Values want(rewards.size());
          advantages(c, 10, rewards, rule == MedianRule::running ? 4.5 : no_median, want);
          INFO(weight << " over " << norm << ", median " << static_cast<int>(rule) << ", " << members << " members");
          CHECK(worst_error(want, &out[static_cast<std::size_t>(group * members)]) < 2e-5);
        }
      }
}

TEST_CASE("groups with missing scores, and real scores, equal the definition of the scores that are there") {
  const unsigned seed = 20261201;
  INFO("seed " << seed);
  std::mt19937_64 g(seed);
  std::uniform_real_distribution<float> real(0, 10);
  constexpr int members = 8, groups = 60;
  for (const auto& pair : formula_pairs)
    for (const MedianRule rule : {MedianRule::lower, MedianRule::mid, MedianRule::upper, MedianRule::running})
      for (const bool verl : {false, true}) {
        const std::string &weight = pair.first, &norm = pair.second;
        EstimatorConfig c = with_formulas("odrpo(grpo)", weight, norm);
        c.median = rule;
        if (verl && !norm.empty()) continue;
        if (verl) c.compat = Compat::verl;  // a group of one gets the sum of its weights
        BatchEstimator fast(c, 10, members);
        if (fast.needs_median()) fast.set_median(6.25);
        std::vector<std::uint8_t> score(members * groups);
        std::vector<float> reward(members * groups), of_scores(score.size()), of_rewards(score.size());
        for (std::size_t i = 0; i < score.size(); ++i) {
          const bool missing = g() % 3 == 0 || (i / members == 0 && i > 0);  // the first group is one of one
          score[i] = missing ? no_score : static_cast<std::uint8_t>(g() % 11);
          reward[i] = missing ? std::numeric_limits<float>::quiet_NaN() : g() % 4 == 0 ? static_cast<float>(g() % 11) : real(g);
        }
        score[0] = 7, reward[0] = 6.5f;
        fast.with_gaps(estimator_stages(isas().front()), score.data(), groups, of_scores.data());
        fast.real(reward.data(), groups, of_rewards.data());
        const auto check = [&](const auto& given, const std::vector<float>& got) {
          for (int group = 0; group < groups; ++group) {
            Values there;
            std::vector<float> answered;
            for (int i = group * members; i < (group + 1) * members; ++i) {
              if (present(given[static_cast<std::size_t>(i)])) there.push_back(given[static_cast<std::size_t>(i)]), answered.push_back(got[static_cast<std::size_t>(i)]);
              else CHECK(got[static_cast<std::size_t>(i)] == 0);
            }
            if (there.empty()) continue;
            Values want(there.size());
            advantages(c, 10, there, rule == MedianRule::running ? 6.25 : no_median, want);
            INFO(weight << " over " << norm << ", median " << static_cast<int>(rule) << ", " << there.size() << " there");
            CHECK(worst_error(want, answered.data()) < 3e-6);
          }
        };
        check(score, of_scores);
        check(reward, of_rewards);
      }
}

namespace {

/// A formula that is finite everywhere.
std::string random_formula(std::mt19937_64& g, int depth) {
  const auto part = [&] { return random_formula(g, depth - 1); };
  switch (depth > 0 ? g() % 12 : 6 + g() % 6) {
    case 0: return "(" + part() + " + " + part() + ")";
    case 1: return "(" + part() + " - " + part() + ")*0.5";
    case 2: return part() + "/(1 + abs(" + part() + "))";
    case 3: return "sqrt(abs(" + part() + "))";
    case 4: return "exp(-abs(" + part() + "))*log(2 + abs(" + part() + "))";
    case 5: return "max(" + part() + ", -min(" + part() + ", 2))";
    case 6: return "k";
    case 7: return "mu";
    case 8: return "med";
    case 9: return "G/K";
    case 10: return "(1 - mu)^" + shortest(static_cast<double>(g() % 8) / 2);
    default: return shortest(static_cast<double>(g() % 100) / 20);
  }
}

/// What the levels 1..10 of a group add, as the sum of absolute values: what errors of single precision are relative to.
double added(EstimatorConfig c, const Values& rewards, double median) {
  c.formula_levels = 10;
  const LevelRule rule = level_rule(c);
  double sum = 1e-3;
  for (int k = 1; k <= 10; ++k) {
    const LevelShares shares = shares_of_level(c, rule, 1, k, count_from(rewards, k), static_cast<int>(rewards.size()), weight_median(c, rewards, median));
    sum += std::fabs(shares.reached) + std::fabs(shares.missed);
  }
  return sum;
}

}  // namespace

TEST_CASE("random formulas: whole, missing and real scores of batches have the definition's advantages") {
  const unsigned seed = 20261202;
  INFO("seed " << seed);
  std::mt19937_64 g(seed);
  std::uniform_real_distribution<double> real(0, 10);
  for (int round = 0; round < 300; ++round) {
    EstimatorConfig c = with_formulas(g() % 2 == 0 ? "odrpo(grpo)" : "odrpo(maxrl)", random_formula(g, 3), g() % 2 == 0 ? "0.1 + abs(" + random_formula(g, 2) + ")" : "");
    c.median = median_words[g() % 4].value;
    c.eps = g() % 3 == 0 ? 0.05 : 0;
    const int members = 2 + static_cast<int>(g() % 9);
    const double running = static_cast<double>(g() % 20) / 2, median = c.median == MedianRule::running ? running : no_median;
    BatchEstimator fast(c, 10, members);
    if (fast.needs_median()) fast.set_median(running);
    std::vector<std::uint8_t> score(static_cast<std::size_t>(members));
    Values reward(score.size());
    std::vector<float> out(score.size());
    for (const int kind : {0, 1, 2}) {  // whole scores that are all there, some missing, real
      Values there, got;
      for (std::size_t i = 0; i < score.size(); ++i) {
        const bool missing = kind > 0 && g() % 4 == 0;
        score[i] = missing ? no_score : static_cast<std::uint8_t>(g() % 11);
        reward[i] = missing ? undefined : kind == 2 ? real(g) : score[i];
        if (!missing) there.push_back(reward[i]);
      }
      if (kind == 2) fast.real(reward.data(), 1, out.data());
      else fast.with_gaps(estimator_stages(isas().front()), score.data(), 1, out.data());
      for (std::size_t i = 0; i < score.size(); ++i)
        if (present(reward[i])) got.push_back(static_cast<double>(out[i]));
      if (there.empty()) continue;
      Values want(there.size());
      advantages(c, 10, there, median, want);
      INFO("round " << round << " kind " << kind << " " << c.weight_formula.text() << " over " << c.norm_formula.text() << " of " << there.size());
      for (std::size_t i = 0; i < want.size(); ++i) CHECK(std::fabs(got[i] - want[i]) <= 1e-6 * (added(c, there, median) + largest(want)));
    }
  }
}
