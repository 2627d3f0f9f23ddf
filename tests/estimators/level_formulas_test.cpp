// Weights and norms written as formulas: against built-in ones, the batch forms against the definition for random formulas, groups with
// missing and real scores, where a formula has no finite value, and texts.
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
#include "tests/isas.hpp"

using namespace odrpo;

namespace {

EstimatorConfig with(const std::string& word, const std::string& weight, const std::string& norm = "") {
  EstimatorConfig c = *parse_estimator(word);
  if (!weight.empty()) c.weight_formula = std::get<Formula>(Formula::parse(weight, c.numbers));
  if (!norm.empty()) c.norm_formula = std::get<Formula>(Formula::parse(norm, c.numbers));
  return c;
}

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
        EstimatorConfig built = *parse_estimator(s.word), written = with(s.base, s.weight, s.norm);
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
    const EstimatorConfig written = with("odrpo(" + norm + ")", "k^0.75*(0.3 + 2.5*mu*(1-mu)*exp(-max(med-k, 0)/3))");
    for (int round = 0; round < 50; ++round) {
      Values rewards(2 + g() % 10);
      for (double& r : rewards) r = static_cast<double>(1 + g() % 10) - (round % 2) * 0.25;
      const Values want = run(written, rewards), got = run(gini, rewards);
      for (std::size_t i = 0; i < want.size(); ++i) CHECK(got[i] == Approx(want[i]).epsilon(1e-12).margin(1e-12));
      if (largest(want) > 0) CHECK(largest(run(usual, rewards)) != largest(got));
    }
  }
}

TEST_CASE("batches of formulas equal the definition: whole scores by tables, and every instruction set has the same bits") {
  const unsigned seed = 20261130;
  INFO("seed " << seed);
  std::mt19937 g(seed);
  for (const auto& [weight, norm] : formula_pairs)
    for (const MedianRule rule : {MedianRule::lower, MedianRule::mid, MedianRule::upper, MedianRule::running})
      for (const int members : {2, 5, 8, 16, 300}) {
        EstimatorConfig c = with("odrpo(grpo)", weight, norm);
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
        EstimatorConfig c = with("odrpo(grpo)", weight, norm);
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

TEST_CASE("a level that all or none reach adds nothing, whatever its formula says") {
  const EstimatorConfig c = with("odrpo(grpo)", "1/mu + log(1 - mu)", "sqrt(mu*(1-mu))");
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
  const auto lower = with("odrpo(grpo)", "1/(k-3)");
  CHECK(found(lower, {5, 1, 4}) == "weight is inf at k = 3, mu = 1/4");
  CHECK(found(lower, {2, 1, 4}).empty());
  CHECK(found(with("odrpo(grpo)", "1/(k-1)"), {5, 1, 4}).empty());  // all reach level 1
  CHECK(found(with("odrpo(grpo)", "1/(k-1)"), {5, 0, 4}) == "weight is inf at k = 1, mu = 1/4");
  CHECK(found(with("odrpo(grpo)", "log(-k)"), {5, 1, 4}) == "weight is nan at k = 2, mu = 1/4");
  CHECK(found(with("odrpo(grpo)", "", "mu - 0.5"), {5, 1, 4}) == "norm is 0 at k = 2, mu = 2/4");
  CHECK(found(with("odrpo(grpo)", "", "mu - 0.5"), {5, 1, 3}).empty());
  auto eps = with("odrpo(grpo)", "", "mu - 0.5");
  eps.eps = 0.1;
  CHECK(found(eps, {5, 1, 4}).empty());
  CHECK(found(with("odrpo(grpo)", "1e200", "1e-200"), {2, 1, 2}) == "weight is 1e+200 at k = 2, mu = 1/2");
  CHECK(found(with("odrpo(grpo)", "1e-300", "1e-300*0"), {2, 1, 2}) == "norm is 0 at k = 2, mu = 1/2");
  // 3 of 4 reach a level: then the median has it, and med - k + 1 is not 0
  CHECK(found(with("odrpo(grpo)", "max(0, mu - 0.7)/(med - k + 1) + (1 - max(0, mu - 0.7))"), {5, 1, 4}).find("mu = 1/4, med = 1") != std::string::npos);
  auto by_median = with("odrpo(grpo)", "1/(med - k - 0.5)");
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
              EstimatorConfig c = with("odrpo(grpo)", "1/(abs(k - " + std::to_string(k) + ") + abs(G*mu - " + std::to_string(count) + ") + abs(med - " + shortest(i / 2.0) + "))");
              c.median = rule;
              long work = 100000;
              INFO("rule " << static_cast<int>(rule) << " members " << members << " lowest " << lowest << " k " << k << " count " << count << " med " << i / 2.0);
              CHECK(not_finite(c, {levels, lowest, members}, work).has_value() == is_there);
            }
      }
}

TEST_CASE("formulas that need K, and lists, are refused for other numbers of levels") {
  const auto list = with("odrpo(grpo)", "[1, 2, 3]"), levels = with("odrpo(grpo)", "k/K");
  CHECK(formula_refusal(list, 4) == "weight has 3 numbers for 4 levels");
  CHECK(!formula_refusal(list, 3));
  CHECK(formula_refusal(levels, 0) == "weight reads K, and the number of levels is not known");
  CHECK_THROWS_AS(BatchEstimator(list, 4, 8), Failure);
  CHECK_THROWS_AS(run(list, {1, 2}, 4), Failure);
  CHECK(run(levels, {1, 2}, 4)[1] == run(with("odrpo(grpo)", "k/4"), {1, 2}, 10)[1]);
  auto verl = with("odrpo(grpo)", "", "mu");
  verl.compat = Compat::verl;
  CHECK(compat_refusal(verl) == "compat \"verl\" sets what levels are divided by, and so does the formula `norm`");
}

TEST_CASE("theory of formulas: no curl where they read k and mu alone, a curl with med, the field of the definition") {
  const std::vector<double> p{0.2, 0.5, 0.3};
  const TheorySetting plain{with("odrpo(grpo)", "k^2*mu", "mu + 0.5"), plain_values(3), 6}, median{with("odrpo(grpo)", "1/(1 + abs(med - k))"), plain_values(3), 6};
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
  CHECK_THROWS_AS(update_field({with("odrpo(grpo)", "1/(k-2)"), plain_values(3), 6}, p), Failure);
}

TEST_CASE("formulas are told in the estimator's formula, and split by level") {
  auto c = with("odrpo(grpo)", "a*k", "mu^b");
  c.numbers[0].value = 0.5, c.numbers[1].value = 2;
  CHECK(estimator_formula(c) == "A = sum_k w_k (1[r>=k] - mu_k) / N_k, N_k = mu^b, w_k = a*k, a = 0.5, b = 2");
  CHECK(formula_settings(c) == "; weight = a*k; norm = mu^b; a = 0.5; b = 2");
  auto gini = *parse_estimator("odrpo-gini-median(maxrl)");
  gini.gini.decay = 3;
  CHECK(estimator_formula(gini) == "A = sum_k w_k (1[r>=k] - mu_k) / N_k, N_k = mu_k, w_k = k^0.5 (0.1 + 4 mu_k (1 - mu_k) exp(-max(Med - k, 0) / 3)), Med lower");
  CHECK(formula_settings(gini) == "; gini_decay = 3");
  CHECK(formula_settings(*parse_estimator("odrpo-gini(grpo)")).empty());
  auto median = with("odrpo(grpo)", "med");
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
