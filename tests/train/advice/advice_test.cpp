// Whole advices on small questions.
#include <algorithm>
#include <cmath>
#include <set>

#include "kernels/shared/failure.hpp"
#include "tests/catch.hpp"
#include "tests/train/advice/ask.hpp"

using namespace odrpo;

TEST_CASE("an advice does not depend on the number of threads, nor on a stop between", "[.slow]") {
  const AdviceQuestion q = small_question(20'000, {"grpo", "odrpo-gini-median(maxrl)"});
  const JudgeWorld mixed = judge_named("mixed");
  AskedAdvice one, two(2);
  const auto a = one.ask(q, mixed, {judge_named("veto")}), b = two.ask(q, mixed, {judge_named("veto")});
  REQUIRE((a && b));
  REQUIRE(a->report.size() == b->report.size());
  REQUIRE(a->advised == b->advised);
  for (std::size_t i = 0; i < a->report.size(); ++i) {
    REQUIRE(a->report[i].from.choice == b->report[i].from.choice);
    REQUIRE(a->report[i].gain_at_rates == b->report[i].gain_at_rates);
  }
  AskedAdvice third;  // goes on from what another had saved
  REQUIRE(third.trials.load(one.trials.saved("1"), "1"));
  const auto c = third.ask(q, mixed, {judge_named("veto")});
  REQUIRE(third.trials.trained() == 0);
  REQUIRE(c->report[0].gain_at_rates == a->report[0].gain_at_rates);
  REQUIRE(c->checks.back().less.n == a->checks.back().less.n);

  AskedAdvice stopped;
  stopped.stop = true;
  REQUIRE_FALSE(stopped.ask(q, mixed));
}

TEST_CASE("what an advice reports", "[unsanitized]") {
  const AdviceQuestion q = small_question(20'000, {"grpo", "maxrl", "odrpo-gini-median(maxrl)"});
  AskedAdvice asked;
  const auto a = asked.ask(q, judge_named("mixed"), {judge_named("low20")});
  REQUIRE(a);
  REQUIRE(a->race.choices == 2 * 3 * (1 + 2 + 1 + 2));
  // each N, G and estimator is among the finalists
  std::set<int> votes, rollouts;
  std::set<std::size_t> estimators;
  for (const ReportedChoice& c : a->report) {
    votes.insert(c.from.choice.votes), rollouts.insert(c.from.choice.rollouts), estimators.insert(c.from.choice.estimator);
    REQUIRE(c.gain().size() == 8);
    REQUIRE(c.mean.n == 8);
    REQUIRE(c.calls == Approx(c.answers * c.from.calls).epsilon(0.05));
    REQUIRE(c.calls < 1.05 * 20'000);
    REQUIRE(c.curve.front().cost == 0);
    REQUIRE(c.curve.back().cost == Approx(c.cost));
    REQUIRE(c.curve.back().gain.mean == Approx(c.mean.mean));
    REQUIRE(c.policy_gain.size() == 2);
    REQUIRE((c.policy_gain[0].mean + c.policy_gain[1].mean) / 2 == Approx(c.mean.mean));
  }
  REQUIRE(votes == std::set<int>{1, 2, 8});
  REQUIRE(rollouts == std::set<int>{4, 8});
  REQUIRE(estimators.size() == 3);
  REQUIRE(std::is_sorted(a->report.begin(), a->report.end(), [](const auto& x, const auto& y) { return x.mean.mean > y.mean.mean; }));
  // the advised choice is not worse than the best, and none costs fewer calls, or as many and fewer answers
  const ReportedChoice& advised = a->report[a->advised];
  REQUIRE_FALSE(advised.worse);
  for (const ReportedChoice& c : a->report)
    if (!c.worse) REQUIRE((0.9 * advised.cost <= c.cost && (0.9 * advised.answers <= c.answers || 0.9 * c.cost > advised.cost)));
  for (const ReportedChoice& c : a->report) {
    std::size_t rates = 1;
    for (const auto& near : c.from.near_lr) rates *= 1 + near.size();
    REQUIRE(c.gain_at_rates.size() == rates);
    for (const auto& gain : c.gain_at_rates) REQUIRE(gain.size() == 8);
    REQUIRE(c.from.finer >= 0);
  }
  // the simplest: grpo with one call or the mean of several
  REQUIRE(a->simplest);
  REQUIRE(is_simple(q, a->report[*a->simplest].from.choice));
  for (const ReportedChoice& c : a->report)
    if (is_simple(q, c.from.choice)) REQUIRE(c.from.tuning_mean() <= a->report[*a->simplest].from.tuning_mean());
  REQUIRE(a->votes.size() == 3);
  REQUIRE(a->votes[0].more.n == 0);
  REQUIRE(a->votes[2].more.mean == Approx(a->report[a->votes[2].choice].mean.mean - a->report[a->votes[0].choice].mean.mean));
  REQUIRE(a->checks.size() == 3);  // two policies, one other judge
  REQUIRE(a->checks[2].name == "low20");
  // progress never goes back and ends with all runs done
  double last = 0;
  for (const AdviceProgress& at : asked.told) {
    REQUIRE(at.seconds_done >= last);
    REQUIRE(at.seconds_total >= at.seconds_done);
    last = at.seconds_done;
  }
  REQUIRE(asked.told.back().runs_done <= asked.told.back().runs_total);
}

TEST_CASE("a judge without noise needs one call, a very noisy one whose calls are almost free many", "[unsanitized]") {
  AdviceQuestion q = small_question(30'000, {"grpo", "odrpo(grpo)"});
  q.rollouts = {8};
  AskedAdvice clean;
  const auto few = clean.ask(q, judge_named("clean"));
  REQUIRE(few);
  REQUIRE(few->report[few->advised].from.choice.votes == 1);

  q.prices = {0.0001, 1};
  AskedAdvice noisy;
  JudgeWorld judge = judge_named("s2");
  const auto many = noisy.ask(q, judge);
  REQUIRE(many);
  REQUIRE(many->report[0].from.choice.votes == 8);
}

TEST_CASE("a budget that pays for nothing is refused, one that pays for some says so") {
  AdviceQuestion q = small_question(64 * 4 * 3, {"grpo"});
  AskedAdvice nothing;
  try {
    nothing.ask(q, judge_named("mixed"));
    FAIL("not refused");
  } catch (const Failure& failure) {
    REQUIRE(failure.code == Exit::limits);
    REQUIRE(std::string(failure.what()).find("more --calls or a smaller --batch") != std::string::npos);
  }
  q.calls = 64 * 8 * 5;
  AskedAdvice some;
  const auto a = some.ask(q, judge_named("mixed"));
  REQUIRE(a);
  REQUIRE(a->race.choices + a->race.too_dear == 2 * (1 + 2 + 1 + 2));
  REQUIRE(a->race.too_dear > 0);
}

TEST_CASE("where answers cost ten times a call, one call of mixed is best, as on a fine grid of rates", "[.slow]") {
  AdviceQuestion q = small_question(80'000, {"odrpo-gini-median(maxrl)"});
  q.prices = {1, 10};
  q.rollouts = {8}, q.votes = {1, 4, 8}, q.rules = {VoteRule::mean};
  q.tuning_seeds = 16, q.report_seeds = 40;
  AskedAdvice asked;
  const auto a = asked.ask(q, judge_named("mixed"));
  REQUIRE(a);
  REQUIRE(a->report[a->advised].from.choice.votes == 1);
  const ReportedChoice& eight = a->report[a->votes.back().choice];
  INFO("8 calls " << eight.less.mean << " [" << eight.less.lo << ", " << eight.less.hi << "]");
  REQUIRE(eight.worse);
  for (const ReportedChoice& c : a->report) REQUIRE(100 * c.from.finer < 0.4);
  // -.81 +- .23 in truth, with rates a factor of 1.8 apart
  REQUIRE((eight.less.lo < -0.58 && eight.less.hi > -1.04));
}

TEST_CASE("with prices the advised choice is the best of those that cost about the same, however many answers it has", "[unsanitized]") {
  AdviceQuestion q = small_question(40'000, {"grpo"});
  q.prices = {1, 10};
  q.rollouts = {4, 8}, q.votes = {1, 4};
  AskedAdvice asked;
  const auto a = asked.ask(q, judge_named("mixed"));
  REQUIRE(a);
  for (std::size_t i = 0; i < a->advised; ++i) REQUIRE((a->report[i].worse || 0.9 * a->report[i].cost > a->report[a->advised].cost));
}
