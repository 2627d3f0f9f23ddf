// Weights and norms written as formulas: against built-in ones, where a formula has no finite value, theory, and texts.
#include "estimators/level_formulas.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "estimators/batch.hpp"
#include "estimators/definition.hpp"
#include "estimators/formula_text.hpp"
#include "estimators/theory/field.hpp"
#include "kernels/shared/failure.hpp"
#include "tests/catch.hpp"
#include "tests/estimators/configs.hpp"
#include "tests/estimators/formulas.hpp"

using namespace odrpo;

TEST_CASE("formulas of the built-in weights and norms agree with them on whole, real and lone scores, with values and eps") {
  const unsigned seed = 20261127;
  INFO("seed " << seed);
  std::mt19937_64 g(seed);
  std::uniform_real_distribution<double> real(0, 10);
  struct Same {
    std::string word, base, weight, norm;
  };
  const std::string gini = "sqrt(k)*(0.1 + 4*mu*(1-mu))", gini_median = "sqrt(k)*(0.1 + 4*mu*(1-mu)*exp(-max(med-k, 0)/2))";
  for (const Same& s : {Same{"odrpo-gini(maxrl)", "odrpo(grpo)", gini, "mu"}, {"odrpo-gini-median(grpo)", "odrpo(maxrl)", gini_median, "sqrt(mu*(1-mu))"},
                        {"odrpo-gini-median(maxrl)", "odrpo(maxrl)", gini_median, ""}, {"odrpo-linear(grpo)", "odrpo(grpo)", "k", ""},
                        {"odrpo-gini(grpo)", "odrpo-gini(maxrl)", "", "sqrt(mu*(1-mu))"}, {"odrpo(maxrl)", "odrpo(grpo)", "", "mu"},
                        {"odrpo-linear(maxrl)", "odrpo(maxrl)", "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]", ""}})
    for (const MedianRule rule : {MedianRule::lower, MedianRule::mid, MedianRule::upper})
      for (int round = 0; round < 40; ++round) {
        EstimatorConfig built = *parse_estimator(s.word), written = with_formulas(s.base, s.weight, s.norm);
        built.median = written.median = rule;
        built.eps = written.eps = round % 3 == 0 ? 0.01 : 0;
        if (round % 4 == 1) built.values = written.values = {1, 1.5, 3, 4, 7, 8, 9, 12, 13, 20};
        if (round % 5 == 4 && s.norm.empty() && s.word.ends_with("(grpo)")) built.compat = written.compat = Compat::verl, built.eps = written.eps = 0;
        Values rewards(1 + g() % 12);
        for (double& r : rewards) r = round % 2 == 0 ? static_cast<double>(g() % 11) : real(g);
        const Values want = run(built, rewards), got = run(written, rewards);
        INFO(s.word << " " << static_cast<int>(rule) << " round " << round);
        for (std::size_t i = 0; i < want.size(); ++i) CHECK(got[i] == Approx(want[i]).epsilon(1e-12).margin(1e-12 * (1 + largest(want))));
      }
}

TEST_CASE("numbers of the gini weights: the defaults change no bit, others are their formula") {
  const unsigned seed = 20261129;
  INFO("seed " << seed);
  std::mt19937_64 g(seed);
  for (const std::string norm : {"grpo", "maxrl"}) {
    EstimatorConfig gini = *parse_estimator("odrpo-gini-median(" + norm + ")"), usual = gini;
    CHECK(!by_formula(gini));
    gini.gini = {0.3, 2.5, 0.75, 3};
    CHECK(by_formula(gini));
    const EstimatorConfig written = with_formulas("odrpo(" + norm + ")", "k^0.75*(0.3 + 2.5*mu*(1-mu)*exp(-max(med-k, 0)/3))");
    for (int round = 0; round < 50; ++round) {
      Values rewards(2 + g() % 10);
      for (double& r : rewards) r = static_cast<double>(1 + g() % 10) - (round % 2) * 0.25;
      const Values want = run(written, rewards), got = run(gini, rewards);
      for (std::size_t i = 0; i < want.size(); ++i) CHECK(got[i] == Approx(want[i]).epsilon(1e-12).margin(1e-12));
      if (largest(want) > 0) CHECK(largest(run(usual, rewards)) != largest(got));
    }
  }
}

TEST_CASE("a level that all or none reach adds nothing, whatever its formula says") {
  const EstimatorConfig c = with_formulas("odrpo(grpo)", "1/mu + log(1 - mu)", "sqrt(mu*(1-mu))");
  const Values two = run(c, {3, 5}, 10);
  CHECK(two[0] == -two[1]);
  CHECK(two[1] == Approx(2 * (2 + std::log(0.5))));
  long work = 1000;
  CHECK(!not_finite(c, {10, 1, 8}, work));
}

TEST_CASE("formulas without a finite value are found where groups reach it, and nowhere else") {
  const auto found = [](const EstimatorConfig& c, const LevelGroups& of) {
    long work = 1'000'000;
    return not_finite(c, of, work).value_or("");
  };
  const auto lower = with_formulas("odrpo(grpo)", "1/(k-3)");
  CHECK(found(lower, {5, 1, 4}) == "weight is inf at k = 3, mu = 1/4");
  CHECK(found(lower, {2, 1, 4}).empty());
  CHECK(found(with_formulas("odrpo(grpo)", "1/(k-1)"), {5, 1, 4}).empty());  // all reach level 1
  CHECK(found(with_formulas("odrpo(grpo)", "1/(k-1)"), {5, 0, 4}) == "weight is inf at k = 1, mu = 1/4");
  CHECK(found(with_formulas("odrpo(grpo)", "log(-k)"), {5, 1, 4}) == "weight is nan at k = 2, mu = 1/4");
  CHECK(found(with_formulas("odrpo(grpo)", "", "mu - 0.5"), {5, 1, 4}) == "norm is 0 at k = 2, mu = 2/4");
  CHECK(found(with_formulas("odrpo(grpo)", "", "mu - 0.5"), {5, 1, 3}).empty());
  auto eps = with_formulas("odrpo(grpo)", "", "mu - 0.5");
  eps.eps = 0.1;
  CHECK(found(eps, {5, 1, 4}).empty());
  CHECK(found(with_formulas("odrpo(grpo)", "1e200", "1e-200"), {2, 1, 2}) == "weight is 1e+200 at k = 2, mu = 1/2");
  CHECK(found(with_formulas("odrpo(grpo)", "1e-300", "1e-300*0"), {2, 1, 2}) == "norm is 0 at k = 2, mu = 1/2");
  // 3 of 4 reach a level: then the median has it, and med - k + 1 is not 0
  CHECK(found(with_formulas("odrpo(grpo)", "max(0, mu - 0.7)/(med - k + 1) + (1 - max(0, mu - 0.7))"), {5, 1, 4}).find("mu = 1/4, med = 1") != std::string::npos);
  auto by_median = with_formulas("odrpo(grpo)", "1/(med - k - 0.5)");
  CHECK(found(by_median, {6, 1, 4}).empty());  // a lower median is whole
  by_median.median = MedianRule::mid;
  CHECK(found(by_median, {6, 1, 4}) == "weight is inf at k = 2, mu = 2/4, med = 2.5");
  by_median.median = MedianRule::running;
  CHECK(found(by_median, {6, 1, 4}) == "weight is inf at k = 2, mu = 1/4, med = 2.5");
  CHECK_THROWS_AS(run(lower, {2, 4}, 5), Failure);
  CHECK(run(lower, {4, 5}, 5)[1] > 0);
}

TEST_CASE("reachable medians are those that groups have: every small group, every rule, against sorted scores") {
  // a formula that is infinite at one (k, mu, med) alone is found exactly if some group has this point at a living level
  for (const MedianRule rule : {MedianRule::lower, MedianRule::mid, MedianRule::upper})
    for (const int members : {2, 3, 4})
      for (const int lowest : {0, 1}) {
        const int levels = 3;
        std::vector<std::vector<double>> points;  // k, count, med of all groups
        std::vector<int> scores(static_cast<std::size_t>(members), lowest);
        for (bool more = true; more;) {
          const Values group(scores.begin(), scores.end());
          for (int k = lowest + 1; k <= levels; ++k)
            if (const int count = count_from(group, k); count > 0 && count < members) points.push_back({double(k), double(count), group_median(group, rule)});
          std::size_t at = 0;
          while (at < scores.size() && ++scores[at] > levels) scores[at++] = lowest;
          more = at < scores.size();
        }
        for (int k = lowest + 1; k <= levels; ++k)
          for (int count = 1; count < members; ++count)
            for (int i = 0; i <= 2 * levels; ++i) {
              const bool is_there = std::find(points.begin(), points.end(), std::vector<double>{double(k), double(count), i / 2.0}) != points.end();
              EstimatorConfig c = with_formulas("odrpo(grpo)", "1/(abs(k - " + std::to_string(k) + ") + abs(G*mu - " + std::to_string(count) + ") + abs(med - " + shortest(i / 2.0) + "))");
              c.median = rule;
              long work = 100000;
              INFO("rule " << static_cast<int>(rule) << " members " << members << " lowest " << lowest << " k " << k << " count " << count << " med " << i / 2.0);
              CHECK(not_finite(c, {levels, lowest, members}, work).has_value() == is_there);
            }
      }
}

TEST_CASE("formulas that need K, and lists, are refused for other numbers of levels") {
  const auto list = with_formulas("odrpo(grpo)", "[1, 2, 3]"), levels = with_formulas("odrpo(grpo)", "k/K");
  CHECK(formula_refusal(list, 4) == "weight has 3 numbers for 4 levels");
  CHECK(!formula_refusal(list, 3));
  CHECK(formula_refusal(levels, 0) == "weight reads K, and the number of levels is not known");
  CHECK_THROWS_AS(BatchEstimator(list, 4, 8), Failure);
  CHECK_THROWS_AS(run(list, {1, 2}, 4), Failure);
  CHECK(run(levels, {1, 2}, 4)[1] == run(with_formulas("odrpo(grpo)", "k/4"), {1, 2}, 10)[1]);
  auto verl = with_formulas("odrpo(grpo)", "", "mu");
  verl.compat = Compat::verl;
  CHECK(compat_refusal(verl) == "compat \"verl\" sets what levels are divided by, and so does the formula `norm`");
}

TEST_CASE("theory of formulas: no curl where they read k and mu alone, a curl with med, the field of the definition") {
  const std::vector<double> p{0.2, 0.5, 0.3};
  const TheorySetting plain{with_formulas("odrpo(grpo)", "k^2*mu", "mu + 0.5"), plain_values(3), 6}, median{with_formulas("odrpo(grpo)", "1/(1 + abs(med - k))"), plain_values(3), 6};
  CHECK(mean_absolute_curl(plain).all < 1e-12);
  CHECK(mean_absolute_curl(median).all > 1e-3);
  CHECK(!objective_refusal(plain.estimator, 6, no_median));
  CHECK(objective_refusal(median.estimator, 6, no_median) == "there is no scalar objective for K > 2: the group's median couples the levels, so its field has a curl");
  CHECK(limit_refusal(plain.estimator, no_median));
  const auto reach = reach_of(p);
  const double step = 1e-5;
  const auto field = update_field(plain, p);
  const auto moved = [&](double by) { return objective(plain.estimator, plain.values, 6, no_median, reach_of(std::vector<double>{p[0] - by, p[1], p[2] + by})); };
  CHECK((moved(step) - moved(-step)) / (2 * step) == Approx(field[2] - field[0]).epsilon(1e-6));
  CHECK_THROWS_AS(update_field({with_formulas("odrpo(grpo)", "1/(k-2)"), plain_values(3), 6}, p), Failure);
}

TEST_CASE("formulas are told in the estimator's formula, and split by level") {
  auto c = with_formulas("odrpo(grpo)", "a*k", "mu^b");
  c.numbers[0].value = 0.5, c.numbers[1].value = 2;
  CHECK(estimator_formula(c) == "A = sum_k w_k (1[r>=k] - mu_k) / N_k, N_k = mu^b, w_k = a*k, a = 0.5, b = 2");
  CHECK(formula_settings(c) == "; weight = a*k; norm = mu^b; a = 0.5; b = 2");
  auto gini = *parse_estimator("odrpo-gini-median(maxrl)");
  gini.gini.decay = 3;
  CHECK(estimator_formula(gini) == "A = sum_k w_k (1[r>=k] - mu_k) / N_k, N_k = mu_k, w_k = k^0.5 (0.1 + 4 mu_k (1 - mu_k) exp(-max(Med - k, 0) / 3)), Med lower");
  CHECK(formula_settings(gini) == "; gini_decay = 3");
  CHECK(formula_settings(*parse_estimator("odrpo-gini(grpo)")).empty());
  auto median = with_formulas("odrpo(grpo)", "med");
  median.median = MedianRule::mid;
  CHECK(estimator_formula(median).ends_with("w_k = med, med mid"));
  for (const Values& rewards : {Values{1, 3, 3, 7}, Values{1.5, 3, 2.25, 6.75}}) {
    const Breakdown b = break_down(c, 10, rewards, no_median);
    for (std::size_t i = 0; i < rewards.size(); ++i) {
      double sum = 0;
      for (const LevelPart& p : b.levels) sum += rewards[i] >= p.high ? p.reached : p.missed;
      CHECK(sum == Approx(b.advantages[i]).margin(1e-12));
    }
    for (const LevelPart& p : b.levels)
      if (p.high - p.low == 1 && p.weight != 0) CHECK((p.weight == Approx(0.5 * p.high) && p.norm == Approx(p.share * p.share)));
  }
}
