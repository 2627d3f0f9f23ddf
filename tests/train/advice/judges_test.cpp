// Judges of a file: the fitted one, those drawn from its uncertainty, its responses.
#include "train/advice/judges.hpp"

#include <cmath>

#include "envs/judge/latent/fit.hpp"
#include "envs/judge/simulate_scores.hpp"
#include "kernels/shared/failure.hpp"
#include "tests/catch.hpp"
#include "tests/train/advice/ask.hpp"

using namespace odrpo;

namespace {

const LatentScale& scale_of(const JudgeWorld& judge) { return std::get<LatentNoise>(judge.rater.noise[0]).scale; }

}  // namespace

TEST_CASE("judges sampled from a fit's uncertainty spread as its standard errors say", "[unsanitized]") {
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
  Asked asked;
  const auto wrong = asked.ask(q, {"judge", rater}, {judges->others.back()});
  INFO("advised " << choice_text(q, wrong->report[wrong->advised].from.choice) << ", " << wrong->checks.back().less.mean << " points");
  CHECK(choice_text(q, wrong->report[wrong->advised].from.choice).find(", grpo") != std::string::npos);
  CHECK_FALSE(wrong->checks.back().holds);  // -2.4 points there; -13 under the true judge
  const auto right = asked.ask(q, judges->fitted, {judges->others.back()});
  CHECK(choice_text(q, right->report[right->advised].from.choice).find("odrpo-gini-median(maxrl)") != std::string::npos);
  CHECK(right->checks.back().holds);
}
