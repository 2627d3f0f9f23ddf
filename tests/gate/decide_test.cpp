// The gate's decisions against their definitions: block values, Holm's levels, the order of verdicts, what a decided case keeps.
#include "gate/decide/decide.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include "gate/report/report.hpp"
#include "results/stats/statistics.hpp"
#include "tests/catch.hpp"
#include "tests/results/stats/sample_sd.hpp"

using namespace odrpo;

namespace {

/// Blocks with exactly this mean and sample sd.
std::vector<double> blocks_of(int n, double mean, double sd) {
  std::vector<double> out;
  for (int i = 0; i < n; ++i) out.push_back(i % 2 == 0 ? 1.0 : -1.0);
  const double scale = sd / mean_interval(out).sd;
  for (double& x : out) x = mean + scale * x;
  return out;
}

GateCase case_of(double change, double sd = 0.001, double control = 0, int n = 10) {
  GateCase c;
  c.change = blocks_of(n, change, sd);
  c.control = blocks_of(n, control, sd);
  return c;
}

GateVerdict verdict_of(GateCase c, const GateRules& rules = {}) {
  judge_look({&c, 1}, rules);
  REQUIRE(c.verdict);
  return *c.verdict;
}

}  // namespace

TEST_CASE("gate: the value of a block is the median of the logarithms of its ratios") {
  CHECK(block_value(std::vector<double>{1, 2, 4}, std::vector<double>{2, 2, 2}) == Approx(0));
  CHECK(block_value(std::vector<double>{1, 1, 1, 1}, std::vector<double>{2, 8, 1, 1e9}) == Approx((std::log(2) + std::log(8)) / 2));
}

TEST_CASE("gate: verdicts by the interval of one case") {
  CHECK(verdict_of(case_of(std::log(1.05))) == GateVerdict::slower);
  CHECK(verdict_of(case_of(-std::log(1.05))) == GateVerdict::faster);
  CHECK(verdict_of(case_of(0)) == GateVerdict::same);
  CHECK(verdict_of(case_of(std::log(1.019), 0.0083)) == GateVerdict::same);  // above the limit, but within 3 %, and not surely above
  GateCase open = case_of(0.05, 0.1);
  judge_look({&open, 1}, {});
  CHECK_FALSE(open.verdict);  // to be measured on
  CHECK(verdict_of(case_of(0.05, 0.4, 0, 80)) == GateVerdict::inconclusive);
}

TEST_CASE("gate: the first verdict that holds") {
  GateCase c = case_of(0.1, 0.001, 0.1);
  CHECK(verdict_of(c) == GateVerdict::void_control);
  c.differs = true;
  CHECK(verdict_of(c) == GateVerdict::different);
  CHECK(verdict_of(case_of(0, 0.001, -0.1)) == GateVerdict::void_control);
  CHECK(verdict_of(case_of(0.1, 0.001, 0.005)) == GateVerdict::slower);  // the control is within the limit
}

TEST_CASE("gate: the interval is Student's, at the level of one look") {
  std::mt19937_64 random(GENERATE(1, 2, 3));
  std::normal_distribution<double> normal(0.01, 0.02);
  GateCase c;
  for (int i = 0; i < 20; ++i) c.change.push_back(normal(random)), c.control.push_back(normal(random));
  judge_look({&c, 1}, {});
  const MeanInterval want = mean_interval(c.change, 0.995);
  CHECK(c.estimate.lo == Approx(want.lo));
  CHECK(c.estimate.hi == Approx(want.hi));
  CHECK(c.estimate.ratio() == Approx(std::exp(want.mean)));
}

TEST_CASE("gate: equal blocks have the sd of a clock of whole nanoseconds, not 0") {
  const GateCase c = [] {
    GateCase x;
    x.change.assign(10, 0.05);
    x.control.assign(10, 0.0);
    judge_look({&x, 1}, {});
    return x;
  }();
  CHECK(c.verdict == GateVerdict::slower);
  CHECK(c.estimate.sd == Approx(1e-5));
  CHECK(c.estimate.p < 1e-10);
}

TEST_CASE("gate: an interval lies beyond the limit exactly where Holm's adjusted p is at most alpha") {
  const unsigned seed = GENERATE(range(1u, 41u));
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  const GateRules rules;
  std::vector<GateCase> cases(1 + random() % 30);
  for (GateCase& c : cases) {
    const double mean = std::uniform_real_distribution<double>(-0.04, 0.04)(random),
                 sd = std::uniform_real_distribution<double>(0.001, 0.02)(random);
    std::normal_distribution<double> normal(mean, sd);
    for (int i = 0; i < 10; ++i) c.change.push_back(normal(random)), c.control.push_back(0.2 * normal(random));
  }
  judge_look(cases, rules);
  std::vector<double> p;
  for (const GateCase& c : cases) p.push_back(c.estimate.p);
  const std::vector<double> adjusted = holm_adjusted(p);
  const double limit = std::log1p(rules.limit);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const bool beyond = cases[i].estimate.lo > limit || cases[i].estimate.hi < -limit;
    CAPTURE(i, adjusted[i], cases[i].estimate.mean);
    CHECK(beyond == (adjusted[i] <= rules.alpha));
  }
}

TEST_CASE("gate: p between alpha / m and alpha decide in Holm's order: the i-th smallest by alpha / (m - i)") {
  const std::pair<std::vector<double>, int> families[] = {
      {{0.3, 0.45, 0.9}, 3},  // p in alphas, all below theirs: 1/3, 1/2, 1
      {{0.9, 0.3, 0.45}, 3},  // in another order
      {{0.3, 0.6, 0.9}, 1},   // the second is not: it and all after it stay open
      {{0.4, 0.45, 0.9}, 0},  // nor is the first, though every p is below alpha
  };
  const GateRules rules;
  const double error = 0.005, sd = error * std::sqrt(10);
  for (const auto& [alphas, decided] : families) {
    std::vector<GateCase> slower, faster, noisy;
    for (const double alphas_of : alphas) {
      const double mean = std::log1p(rules.limit) + student_factor_of(9, 1 - alphas_of * rules.alpha) * error;
      slower.push_back(case_of(mean, sd));
      faster.push_back(case_of(-mean, sd));
      noisy.push_back(case_of(0, sd));
      noisy.back().control = blocks_of(10, mean, sd);
      slower.back().control = faster.back().control = {};
    }
    judge_look(slower, rules);
    judge_look(faster, rules);
    judge_look(noisy, rules);
    const auto count = [](const std::vector<GateCase>& cases, GateVerdict verdict) {
      return std::count_if(cases.begin(), cases.end(), [&](const GateCase& c) { return c.verdict == verdict; });
    };
    CAPTURE(alphas);
    CHECK(count(slower, GateVerdict::slower) == decided);
    CHECK(count(faster, GateVerdict::faster) == decided);
    CHECK(count(noisy, GateVerdict::void_control) == decided);
  }
}

TEST_CASE("gate: a decided case keeps verdict, interval and p, and counts among the cases") {
  std::vector<GateCase> cases = {case_of(0.1), case_of(0.03, 0.02)};
  judge_look(cases, {});
  REQUIRE(cases[0].verdict == GateVerdict::slower);
  REQUIRE_FALSE(cases[1].verdict);
  const GateEstimate before = cases[0].estimate;
  cases[0].change.assign(20, 0.0);  // nobody measures it again; if somebody did, nothing would change
  cases[1].change = blocks_of(20, 0.03, 0.02);
  cases[1].control = blocks_of(20, 0, 0.02);
  judge_look(cases, {});
  CHECK(cases[0].verdict == GateVerdict::slower);
  CHECK(cases[0].estimate.p == before.p);
  CHECK(cases[0].estimate.lo == before.lo);
  CHECK(cases[1].estimate.alpha == Approx(0.005));  // the other one was below alpha / 2
  std::vector<GateCase> weak = {case_of(0), case_of(0.03, 0.02, 0, 10)};
  judge_look(weak, {});
  CHECK(weak[1].estimate.alpha == Approx(0.005 / 2));  // the smallest of two
}

TEST_CASE("gate: a refused case is judged by what its sides say, and counts in no correction") {
  const Refusal fails{"says: no data", true}, skips{"says: no GPU", false};
  const struct {
    Refusal of[2];
    std::optional<GateVerdict> verdict;
    bool candidate_failed;
    const char* text;
  } rows[] = {
      {{{}, {}}, std::nullopt, false, ""},
      {{fails, {}}, GateVerdict::failed, false, "the baseline says: no data"},
      {{{}, fails}, GateVerdict::failed, true, "the candidate says: no data"},
      {{fails, fails}, GateVerdict::failed, false, "the baseline says: no data; the candidate says: no data"},
      {{skips, {}}, GateVerdict::skipped, false, "the baseline says: no GPU"},
      {{{}, skips}, GateVerdict::skipped, false, "the candidate says: no GPU"},
      {{skips, fails}, GateVerdict::failed, true, "the baseline says: no GPU; the candidate says: no data"},
      {{fails, skips}, GateVerdict::failed, false, "the baseline says: no data; the candidate says: no GPU"},
  };
  for (const auto& row : rows) {
    Refusals refusals;
    for (const bool of_candidate : {false, true}) {
      refusals.add(of_candidate, row.of[of_candidate]);
      if (!row.of[of_candidate].says.empty()) refusals.add(of_candidate, {"says: more", true});  // the first counts
    }
    CAPTURE(row.text);
    CHECK(refusals.verdict() == row.verdict);
    CHECK(refusals.candidate_failed() == row.candidate_failed);
    CHECK(refusals.text() == row.text);
  }
  std::vector<GateCase> cases = {case_of(0.1), case_of(0), case_of(0)};
  cases[1].refusals.of[1] = fails;
  cases[1].verdict = GateVerdict::failed;
  judge_look(cases, {});
  CHECK(cases[0].estimate.alpha == Approx(0.005 / 2));
  CHECK(cases[1].verdict == GateVerdict::failed);
  CHECK(cases[1].estimate.blocks == 0);
}

TEST_CASE("gate: controls are a family of their own") {
  std::vector<GateCase> cases;
  for (int i = 0; i < 20; ++i) cases.push_back(case_of(0.2));
  cases.push_back(case_of(0, 0.004, 0.0155));  // p of the control about 0.003: below alpha, not below alpha / 21
  judge_look(cases, {});
  CHECK(cases.back().verdict == GateVerdict::same);
  GateCase alone = case_of(0, 0.004, 0.0155);
  judge_look({&alone, 1}, {});
  CHECK(alone.verdict == GateVerdict::void_control);
}

TEST_CASE("gate: against stored sessions: Welch's error of session means, and the drift of both") {
  GateCase c;
  c.change = blocks_of(10, 1.02, 0.03);
  c.stored = {blocks_of(20, 1, 0.01), blocks_of(8, 1.1, 0.02)};
  GateRules rules{.limit = 0, .same = 0.1, .looks = {10}, .drift = 0.015};
  judge_look({&c, 1}, rules);
  const double of_new = 0.03 * 0.03 / 10, of_first = 0.01 * 0.01 / 20 / 4, of_second = 0.02 * 0.02 / 8 / 4;
  const double variance = of_new + of_first + of_second + 0.015 * 0.015 * 1.5;
  const double freedom = variance * variance / (of_new * of_new / 9 + of_first * of_first / 19 + of_second * of_second / 7);
  CHECK(c.estimate.mean == Approx(1.02 - 1.05).margin(1e-12));
  CHECK(c.estimate.error == Approx(std::sqrt(variance)).epsilon(1e-12));
  CHECK(c.estimate.freedom == Approx(freedom).epsilon(1e-12));
  CHECK(c.estimate.hi == Approx(-0.03 + student_factor_of(freedom, 0.995) * std::sqrt(variance)).epsilon(1e-12));
  CHECK(c.estimate.p == Approx(student_p(0.03 / std::sqrt(variance), freedom)).epsilon(1e-12));
  CHECK(c.verdict == GateVerdict::same);
}

TEST_CASE("gate: equal programs in sessions that drift are rarely called slower or faster") {
  std::mt19937_64 random(11);
  const double drift = 0.015;
  std::normal_distribution<double> of_session(0, drift), of_block(0, 0.02);
  const auto session = [&](int blocks) {
    const double mean = of_session(random);
    std::vector<double> out;
    for (int i = 0; i < blocks; ++i) out.push_back(mean + of_block(random));
    return out;
  };
  const GateRules rules{.limit = 0, .same = 0.1, .alpha = 0.05, .looks = {10}, .drift = drift};
  const int trials = 4000;
  for (const int sessions : {1, 3}) {
    int wrong = 0;
    for (int i = 0; i < trials; ++i) {
      GateCase c;
      c.change = session(10);
      for (int s = 0; s < sessions; ++s) c.stored.push_back(session(20));
      judge_look({&c, 1}, rules);
      wrong += *c.verdict == GateVerdict::slower || *c.verdict == GateVerdict::faster;
    }
    CAPTURE(sessions, wrong);
    CHECK(std::abs(wrong - 0.05 * trials) < 4 * std::sqrt(0.05 * 0.95 * trials));
  }
}

TEST_CASE("gate: the drift is what session means differ by beyond their blocks, over all cases") {
  std::mt19937_64 random(12);
  std::normal_distribution<double> of_session(0, 0.05), of_block(0, 0.02);
  std::vector<std::vector<std::vector<double>>> cases(400);
  for (auto& c : cases)
    for (int s = 0; s < 4; ++s) {
      const double mean = of_session(random);
      c.emplace_back();
      for (int i = 0; i < 10; ++i) c.back().push_back(mean + of_block(random));
    }
  CHECK(session_drift(cases) == Approx(0.05).margin(0.004));
  for (auto& c : cases) c.resize(1);
  CHECK(session_drift(cases) == least_drift);  // one session tells nothing
  for (auto& c : cases) c.push_back(c[0]);
  CHECK(session_drift(cases) == least_drift);  // equal ones do not make it smaller
  CHECK(session_drift({}) == least_drift);
}

TEST_CASE("gate: the smallest change found is found 19 times of 20") {
  std::mt19937_64 random(7);
  const GateRules rules{.looks = {20}};
  const double sd = 0.01;
  GateCase c = case_of(0, sd, 0, 20);
  judge_look({&c, 1}, rules);
  const double change = std::log1p(smallest_found(c.estimate, rules));
  std::normal_distribution<double> normal(change, sd);
  int found = 0;
  const int trials = 4000;
  for (int t = 0; t < trials; ++t) {
    GateCase x;
    for (int i = 0; i < 20; ++i) x.change.push_back(normal(random)), x.control.push_back(0.0);
    judge_look({&x, 1}, rules);
    found += x.verdict == GateVerdict::slower;
  }
  INFO("found " << found << " of " << trials << ", seed 7");
  CHECK(found > 0.93 * trials);
  CHECK(found < 0.975 * trials);
}

TEST_CASE("gate: what an inconclusive case could have found is said only where it means something") {
  const auto sentence = [](double sd, int blocks) {
    GateReport r;
    r.rules.looks = {blocks};
    r.decisions.push_back(case_of(0, sd, 0, blocks));
    r.measured.resize(1);
    judge_look(r.decisions, r.rules);
    REQUIRE(r.decisions[0].verdict == GateVerdict::inconclusive);
    const std::string text = case_sentence(r, 0);
    return text.substr(text.find(';'));
  };
  CHECK(sentence(0.2, 10).ends_with(" % or more would have been found 19 times of 20"));
  CHECK(sentence(0.2, 2) == "; 2 blocks are too few to find even ten times the baseline's time");
}

TEST_CASE("gate: the smallest change found, by exact power") {
  for (const int blocks : {3, 10, 80})
    for (const double alpha : {0.005, 0.005 / 20}) {
      GateEstimate e{};
      e.blocks = blocks, e.error = 0.01 / std::sqrt(blocks), e.freedom = blocks - 1, e.alpha = alpha;
      const GateRules rules{.limit = 0.02};
      const double beyond = std::log1p(smallest_found(e, rules)) - std::log1p(rules.limit);
      CAPTURE(blocks, alpha);
      CHECK(t_above(beyond / e.error, student_factor(blocks, 1 - alpha), blocks - 1) == Approx(0.95).margin(2e-5));
    }
}
