// Choices, what they cost, and the run of a choice.
#include <algorithm>
#include <cmath>
#include <set>

#include "config/spec.hpp"
#include "envs/judge/latent/fit.hpp"
#include "envs/judge/simulate_scores.hpp"
#include "kernels/shared/failure.hpp"
#include "tests/catch.hpp"
#include "tests/train/advice/ask.hpp"
#include "train/advice/advice.hpp"

using namespace odrpo;

TEST_CASE("choices of one question cost the same calls, up to a step") {
  AdviceQuestion q = small_question(153'600, {"grpo"});
  REQUIRE(budget_of(q) == 153'600);
  for (const int rollouts : {4, 8, 16})
    for (const int votes : {1, 2, 32}) {
      const AdviceChoice choice{.rollouts = rollouts, .votes = votes, .rule = votes > 1 ? VoteRule::mean : VoteRule::single};
      const int steps = steps_within(q, choice, votes);
      INFO(rollouts << " x " << votes << ": " << steps);
      REQUIRE(steps == 153'600 / (64 * rollouts * votes));
      REQUIRE(steps * step_cost(q, choice, votes) <= budget_of(q));
      REQUIRE((steps + 1) * step_cost(q, choice, votes) > budget_of(q));
    }
  // a rule that stops early buys more steps
  REQUIRE(steps_within(q, {.rollouts = 8, .votes = 8, .rule = VoteRule::stop, .stop = 2}, 2.5) == 120);
}

TEST_CASE("with prices an answer costs its generation and its calls") {
  AdviceQuestion q = small_question(51'200, {"grpo"});
  q.prices = {0.001, 0.009};
  REQUIRE(budget_of(q) == Approx(51'200 * 0.010));
  REQUIRE(steps_within(q, {.rollouts = 8}, 1) == 100);
  // eight calls about an answer: 0.017 instead of 0.010, not eight times as much
  REQUIRE(steps_within(q, {.rollouts = 8, .votes = 8, .rule = VoteRule::mean}, 8) == 58);
}

TEST_CASE("with times a step takes as many rounds of calls as it needs") {
  AdviceQuestion q = small_question(51'200, {"grpo"});
  q.times = {2, 256};  // a step of 64 x 8 answers: two rounds, 4 s
  REQUIRE(budget_of(q) == Approx(400));
  REQUIRE(step_cost(q, {.rollouts = 4}, 1) == Approx(2));
  REQUIRE(step_cost(q, {.rollouts = 8, .votes = 4, .rule = VoteRule::mean}, 4) == Approx(16));
  // three calls at least that follow each other where two answers may differ: 4 votes in at most 4 rounds
  REQUIRE(step_cost(q, {.rollouts = 4, .votes = 4, .rule = VoteRule::stop, .stop = 2}, 2.5) == Approx(8));
  q.times = {2, 100'000};  // as many at a time as are wanted: votes take no time
  REQUIRE(step_cost(q, {.rollouts = 8, .votes = 32, .rule = VoteRule::mean}, 32) == Approx(2));
}

TEST_CASE("every rule, number of answers and estimator is a choice once") {
  AdviceQuestion q = small_question(1e6, {"grpo", "maxrl"});
  q.rollouts = {4, 8, 16};
  q.votes = {1, 2, 4, 8, 16, 32};
  const std::vector<AdviceChoice> all = all_choices(q, judge_named("mixed").rater);
  // one call; mean of 5 N; mode of 4; stop 2 of 4 and 8, stop 3 of 8 and 16
  REQUIRE(all.size() == (1 + 5 + 4 + 4) * 3 * 2);
  std::set<std::string> texts;
  for (const AdviceChoice& choice : all) {
    texts.insert(choice_text(q, choice));
    if (choice.rule == VoteRule::stop) REQUIRE((choice.stop > 1 && choice.stop < choice.votes));
    if (choice.rule == VoteRule::mode) REQUIRE(choice.votes > 2);
  }
  REQUIRE(texts.size() == all.size());
  q.rules = {VoteRule::fraction};
  q.estimators.push_back({"odrpo(maxrl)", CatalogueOf<EstimatorConfig>::find("odrpo(maxrl)")->config});
  REQUIRE(all_choices(q, judge_named("mixed").rater).size() == 3 * 3 + 5 * 3);  // of one call three estimators, else one
  q.estimators.pop_back();
  q.rules = {VoteRule::expected};
  REQUIRE(all_choices(q, judge_named("mixed").rater).size() == 2 * 3 * 2);  // further calls of one judge say the same
  REQUIRE(all_choices(q, judge_named("panel-essays").rater).size() == (1 + 3) * 3 * 2);
}

TEST_CASE("a choice's run is what it says") {
  const AdviceQuestion q = small_question(1e5, {"grpo", "maxrl"});
  const JudgeWorld panel = judge_named("panel-essays");
  const RunSpec stop = spec_of(q, {&panel, {8, 8, VoteRule::stop, 2, 1}, PolicyKind::tabular, 0.1, 40, 3, 4});
  REQUIRE(stop.env.bandit.levels == 6);
  REQUIRE(stop.rater.stop == 2);
  REQUIRE(stop.rater.sampling == Sampling::draws);
  REQUIRE((stop.votes == 8 && stop.learn.rollouts == 8 && stop.learn.steps == 40 && stop.record.every == 10));
  REQUIRE(stop.estimator.form == Form::maxrl);
  const RunSpec mean = spec_of(q, {&panel, {4, 2, VoteRule::mean, 0, 0}, PolicyKind::linear, 0.1, 40, 4, 1});
  REQUIRE(mean.rater.aggregate == Aggregate::mean);
  REQUIRE(mean.run_key != stop.run_key);
}

namespace {

const LatentScale& scale_of(const JudgeWorld& judge) { return std::get<LatentNoise>(judge.rater.noise[0]).scale; }

}  // namespace

TEST_CASE("judges sampled from a fit's uncertainty spread as its standard errors say", "[.slow]") {
  const JudgeWorld essays = judge_named("panel-essays");
  const ScoreTable table = simulate_scores(essays.rater, rated_world(6, 80, 8), 8, 11).table;
  std::atomic<bool> stop{false};
  constexpr int drawn = 12;
  const auto judges = judges_of(table, "file", drawn, 5, 2, stop);
  REQUIRE(judges);
  REQUIRE(judges->notes.empty());
  REQUIRE(judges->others.size() == drawn + 1);
  REQUIRE(judges->others.back().name == "the file's responses");
  REQUIRE(std::holds_alternative<ResampleNoise>(judges->others.back().rater.noise[0]));
  LatentFitOptions options;
  options.seed = 5;
  const LatentFit fit = fit_latent_scale(table, options);
  REQUIRE(fit.judge == scale_of(judges->fitted));  // the same judge as `judge fit` finds
  double squares = 0;
  for (int i = 0; i < drawn; ++i) squares += std::pow(scale_of(judges->others[i]).judge_sigma - fit.judge.judge_sigma, 2);
  const double sd = std::sqrt(squares / drawn);
  INFO("seed 5: sd of judge_sigma " << sd << ", standard error " << fit.judge_sigma.error);
  REQUIRE(sd > 0.5 * fit.judge_sigma.error);
  REQUIRE(sd < 1.8 * fit.judge_sigma.error);

  const auto again = judges_of(table, "file", 2, 5, 1, stop);
  for (int i = 0; i < 2; ++i) REQUIRE(scale_of(again->others[i]) == scale_of(judges->others[i]));
  stop = true;
  REQUIRE_FALSE(judges_of(table, "file", drawn, 5, 1, stop));
}

TEST_CASE("a file that nothing can be fitted to is refused") {
  ScoreTable table = simulate_scores(judge_named("mixed").rater, rated_world(10, 4, 4), 1, 1).table;
  std::atomic<bool> stop{false};
  REQUIRE_THROWS_AS(judges_of(table, "file", 2, 1, 1, stop), Failure);
}

TEST_CASE("an advice of a judge without its outliers does not hold with the file's responses", "[.slow]") {
  const ScoreTable table = simulate_scores(judge_named("low20").rater, rated_world(10, 300, 8), 4, 3).table;
  LatentFitOptions smooth;
  smooth.intervals = false, smooth.outliers = false;
  RaterConfig rater;
  rater.noise = noise_of(fit_latent_scale(table, smooth).judge, {});
  std::atomic<bool> stop{false};
  const auto judges = judges_of(table, "file", 0, 3, 1, stop);
  REQUIRE(judges->others.back().name == "the file's responses");
  AdviceQuestion q = small_question(80'000, {"grpo", "odrpo-gini-median(maxrl)"});
  q.rollouts = {16}, q.votes = {1}, q.report_seeds = 16, q.check_seeds = 16;
  AskedAdvice asked;
  const auto wrong = asked.ask(q, {"judge", rater}, {judges->others.back()});
  INFO("advised " << choice_text(q, wrong->report[wrong->advised].from.choice) << ", " << wrong->checks.back().less.mean << " points");
  CHECK(choice_text(q, wrong->report[wrong->advised].from.choice).find(", grpo") != std::string::npos);
  CHECK_FALSE(wrong->checks.back().holds);  // -2.4 points there; -13 under the true judge
  const auto right = asked.ask(q, judges->fitted, {judges->others.back()});
  CHECK(choice_text(q, right->report[right->advised].from.choice).find("odrpo-gini-median(maxrl)") != std::string::npos);
  CHECK(right->checks.back().holds);
}
