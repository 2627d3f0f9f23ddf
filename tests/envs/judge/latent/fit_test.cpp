// A fit finds the judge that scores were drawn from, says what it cannot find, and refuses tables that tell nothing.
#include "envs/judge/latent/fit.hpp"

#include <algorithm>
#include <cmath>

#include "envs/judge/latent/draw.hpp"
#include "envs/judge/latent/evidence.hpp"
#include "envs/judge/latent/least_squares.hpp"
#include "kernels/shared/failure.hpp"
#include "tests/catch.hpp"
#include "tests/envs/judge/latent/latent_judges.hpp"

using namespace odrpo;

namespace {

/// Within four standard errors, so that a fixed seed that is not odd passes.
void check_near(const char* name, const LatentParameter& found, double truth) {
  INFO(name << ": " << found.value << " +- " << found.error << ", " << found.low << " to " << found.high << ", truth " << truth);
  CHECK(found.fitted);
  CHECK(found.reason.empty());
  CHECK(found.error > 0);
  CHECK(found.error < 0.3 * truth);
  CHECK(std::abs(found.value - truth) < 4 * found.error);
  CHECK(found.low < found.value);
  CHECK(found.value < found.high);
}

/// 1.96 standard errors to both sides on the scale of the fit, which has this slope at the value and begins at `least`.
template <class Scale>
void check_interval(const LatentParameter& found, Scale scale, double slope, double least) {
  const double half = 1.96 * slope * found.error;
  INFO(found.value << " +- " << found.error << ", " << found.low << " to " << found.high);
  CHECK(scale(found.high) == Approx(scale(found.value) + half).epsilon(1e-9));
  CHECK(scale(found.low) == Approx(std::max(scale(found.value) - half, least)).epsilon(1e-9));
}

void check_not_fitted(const LatentParameter& found, const std::string& reason) {
  CHECK_FALSE(found.fitted);
  CHECK(found.value == 0);
  CHECK(std::isnan(found.error));
  CHECK(found.reason == reason);
}

std::string refusal(const ScoreTable& table) {
  try {
    fit_latent_scale(table);
  } catch (const Failure& e) {
    CHECK(e.code == Exit::bad_input);
    return e.what();
  }
  return "fitted";
}

/// Levels by a rule, for tables that tell little.
template <class Level>
ScoreTable ruled(const ScoreShape& shape, int judges, int levels, Level level) {
  ScoreTable table =
      draw_scores(latent_judge(0, 1, 0, 0, levels, std::vector<double>(static_cast<std::size_t>(judges * levels), 1.0 / levels)), shape, 1)
          .table;
  for (std::size_t p = 0; p < table.prompts.size(); ++p)
    for (std::uint32_t r = table.prompts[p].first; r < table.prompts[p].first + table.prompts[p].count; ++r)
      for (std::uint32_t i = table.responses[r].first; i < table.responses[r].first + table.responses[r].count; ++i)
        table.level[i] = static_cast<std::uint8_t>(level(static_cast<int>(p), static_cast<int>(r), static_cast<int>(table.column[i])));
  return table;
}

}  // namespace

TEST_CASE("a fit finds the judge of drawn scores: single judge", "[latent]") {
  const LatentScale truth = single_judge();
  const LatentFit fit = fit_latent_scale(draw_scores(truth, ScoreShape{300, 8, 16}, 20261207).table);
  check_near("prompt_share", fit.prompt_share, truth.prompt_share);
  check_near("sigma", fit.sigma, truth.sigma);
  check_near("spread", fit.spread, truth.spread);
  check_not_fitted(fit.judge_sigma, "there are scores of one judge, whose lasting errors look like quality");
  CHECK(fit.judge.sigma == fit.sigma.value);
  CHECK(fit.judge.judges() == 1);
  CHECK(fit.prompts == 300);
  CHECK(fit.responses == 2400);
  CHECK(fit.scores == 38400);
}

TEST_CASE("a fit finds the judge of drawn scores: panel that repeats itself", "[latent]") {
  const LatentScale truth = essay_panel();
  const LatentFit fit = fit_latent_scale(draw_scores(truth, ScoreShape{540, 8, 2}, 20261208).table);
  check_near("prompt_share", fit.prompt_share, truth.prompt_share);
  check_near("sigma", fit.sigma, truth.sigma);
  check_near("spread", fit.spread, truth.spread);
  check_near("judge_sigma", fit.judge_sigma, truth.judge_sigma);
  for (std::size_t i = 0; i < truth.threshold.size(); ++i)
    if (std::abs(truth.threshold[i]) < 2) CHECK(fit.judge.threshold[i] == Approx(truth.threshold[i]).margin(0.15));
}

TEST_CASE("a panel of one call each has its lasting errors in sigma", "[latent]") {
  LatentScale truth = dialogue_panel();
  truth.sigma = 0.3, truth.judge_sigma = 0.4;  // together 0.5
  settle_thresholds(truth, 5, std::vector<double>(20, 0.2));
  const LatentFit fit = fit_latent_scale(draw_scores(truth, ScoreShape{1000, 8, 1}, 20261209).table);
  check_not_fitted(
      fit.judge_sigma,
      "no response has scores of two judges, and two of one of them: only judge_sigma^2 + sigma^2 is known, and sigma has all of it");
  check_near("sigma", fit.sigma, 0.5);
  check_near("spread", fit.spread, truth.spread);
}

TEST_CASE("judges give their levels as often as in the table", "[latent]") {
  const ScoreTable table = draw_scores(essay_panel(), ScoreShape{100, 8, 2}, 20261210).table;
  LatentFitOptions quick;
  quick.intervals = false;
  const LatentFit fit = fit_latent_scale(table, quick);
  const auto seen = level_shares(table, numbers_to(100));
  const ScoreTable drawn = draw_scores(fit.judge, table, 100, 3).table;
  const auto given = level_shares(drawn, numbers_to(drawn.prompts.size()));
  for (std::size_t i = 0; i < seen.size(); ++i) CHECK(given[i] == Approx(seen[i]).margin(0.01));
  CHECK(std::isnan(fit.sigma.error));
  CHECK(std::isnan(fit.sigma.low));
  CHECK(fit_latent_scale(table).judge == fit.judge);
}

TEST_CASE("a fit looks at the chosen prompts alone", "[latent]") {
  const ScoreTable table = draw_scores(single_judge(), ScoreShape{60, 6, 4}, 20261211).table;
  LatentFitOptions some;
  some.prompts = {1, 2, 3, 5, 8, 13, 21, 34, 55, 56, 57, 58};
  CHECK(fit_latent_scale(table, some).judge == fit_latent_scale(take_prompts(table, some.prompts)).judge);
}

TEST_CASE("of large tables a random choice of prompts is looked at", "[latent]") {
  const ScoreTable table = draw_scores(single_judge(), ScoreShape{100, 4, 5}, 20261219).table;
  CHECK(thinned(table, numbers_to(100), PromptSize::ratings, 2000).size() == 100);
  CHECK(thinned(table, numbers_to(100), PromptSize::ratings, 1999).size() == 99);  // 20 ratings a prompt
  CHECK(thinned(table, numbers_to(100), PromptSize::responses, 399).size() == 99);
  CHECK(thinned(table, {3, 5, 7, 9}, PromptSize::ratings, 40).size() == 2);
  CHECK(thinned(table, {3, 5, 7, 9}, PromptSize::ratings, 1).size() == 1);
  ScoreTable uneven = draw_scores(single_judge(), ScoreShape{100, 4, 5}, 20261219).table;  // one prompt has half of all ratings
  for (std::uint32_t p = 1; p < 50; ++p) uneven.prompts[0].count += uneven.prompts[p].count, uneven.prompts[p].count = 0;
  CHECK(thinned(uneven, numbers_to(100), PromptSize::ratings, 900).size() >= 49 + 44);
  CHECK(thinned(uneven, {0, 60}, PromptSize::ratings, 1) == std::vector<std::uint32_t>{60});
  const auto some = thinned(table, numbers_to(100), PromptSize::ratings, 600);
  REQUIRE(some.size() == 30);
  CHECK(std::is_sorted(some.begin(), some.end()));
  const auto first = std::count_if(some.begin(), some.end(), [](auto p) { return p < 50; });
  CHECK((first > 5 && first < 25));
  const LatentFit fit = fit_latent_scale(draw_scores(single_judge(), ScoreShape{7000, 10, 10}, 20261220).table, {{}, false, 1});
  CHECK(fit.prompts == 3000);  // of 700,000 scores 300,000
  CHECK(fit.scores == 300'000);
  CHECK(fit.sigma.value == Approx(single_judge().sigma).margin(0.02));
}

TEST_CASE("unequal numbers of scores, blanks and unreadable answers are fitted", "[latent]") {
  const LatentScale truth = single_judge();
  ScoreTable table = draw_scores(truth, ScoreShape{400, 8, 8}, 20261212).table;
  for (std::size_t i = 0; i < table.level.size(); i += 7) table.level[i] = ScoreTable::unreadable;
  for (std::size_t r = 0; r < table.responses.size(); r += 3) table.responses[r].count = static_cast<std::uint32_t>(r % 9);
  const LatentFit fit = fit_latent_scale(table);
  check_near("prompt_share", fit.prompt_share, truth.prompt_share);
  check_near("sigma", fit.sigma, truth.sigma);
}

TEST_CASE("prompts of one response tell nothing about their share", "[latent]") {
  const LatentFit fit = fit_latent_scale(draw_scores(single_judge(), ScoreShape{2000, 1, 8}, 20261213).table);
  check_not_fitted(fit.prompt_share, "no two prompts have two responses each");
  check_near("sigma", fit.sigma, single_judge().sigma);
}

TEST_CASE("two scores on two levels tell nothing about the spread", "[latent]") {
  const LatentScale two = latent_judge(0.3, 0.5, 0, 0, 2, {0.4, 0.6});
  LatentFitOptions quick;
  quick.intervals = false;
  check_not_fitted(fit_latent_scale(draw_scores(two, ScoreShape{200, 6, 2}, 1).table, quick).spread,
                   "the scale has two levels, and no response has three scores");
}

TEST_CASE("a 95 % interval is 1.96 standard errors to both sides, on the scale of the fit", "[latent]") {
  const LatentFit fit = fit_latent_scale(draw_scores(essay_panel(), ScoreShape{100, 8, 2}, 20261216).table);
  const auto square = [](double x) { return x * x; };
  const double share = fit.prompt_share.value;
  check_interval(
      fit.sigma, [](double x) { return std::log(x); }, 1 / fit.sigma.value, -4.5);
  check_interval(
      fit.prompt_share, [](double x) { return std::log(x / (1 - x)); }, 1 / (share * (1 - share)), -7);
  check_interval(fit.spread, square, 2 * fit.spread.value, 0);
  check_interval(fit.judge_sigma, square, 2 * fit.judge_sigma.value, 0);
}

TEST_CASE("intervals need ten prompts", "[latent]") {
  const ScoreTable table = draw_scores(single_judge(), ScoreShape{10, 8, 8}, 20261214).table;
  CHECK(fit_latent_scale(table).sigma.error > 0);
  LatentFitOptions nine;
  nine.prompts = {0, 1, 2, 3, 4, 5, 6, 7, 8};
  CHECK(std::isnan(fit_latent_scale(table, nine).sigma.error));
}

TEST_CASE("a judge of one level in a panel does no harm", "[latent]") {
  LatentScale truth = essay_panel();
  ScoreTable table = draw_scores(truth, ScoreShape{200, 8, 2}, 20261215).table;
  for (std::size_t i = 0; i < table.level.size(); ++i)
    if (table.columns[table.column[i]].judge == 2) table.level[i] = 4;
  const LatentFit fit = fit_latent_scale(table);
  CHECK(fit.sigma.value == Approx(truth.sigma).margin(0.06));
  for (const auto level : draw_scores(fit.judge, table, 1, 5).table.level) REQUIRE(level <= 6);
  const ScoreTable drawn = draw_scores(fit.judge, table, 1, 5).table;
  for (std::size_t i = 0; i < drawn.level.size(); ++i)
    if (drawn.columns[drawn.column[i]].judge == 2) REQUIRE(drawn.level[i] == 4);
}

TEST_CASE("tables that tell nothing are refused", "[latent]") {
  const ScoreShape shape{20, 4, 3};
  CHECK(refusal(ruled(shape, 64, 2, [](int p, int r, int c) { return 1 + (p + r + c) % 2; })) == "a panel has at most 63 judges, not 64");
  CHECK(refusal(ruled({20, 4, 1}, 1, 3, [](int, int r, int) { return 1 + r % 3; })) ==
        "no response has two scores: nothing tells how the scores of a response differ");
  CHECK(refusal(ruled(shape, 1, 3, [](int, int, int) { return 2; })) ==
        "all scores of each prompt are equal: nothing tells its responses apart");
  CHECK(refusal(ruled(shape, 1, 3, [](int p, int, int) { return 1 + p % 3; })) ==
        "all scores of each prompt are equal: nothing tells its responses apart");
  const std::string one_level = "no response has two scores from judges that give more than one level: nothing tells how they differ";
  CHECK(refusal(ruled({20, 4, 1}, 2, 3, [](int, int, int c) { return 1 + c; })) == one_level);
  CHECK(refusal(ruled({20, 4, 1}, 2, 3, [](int, int r, int c) { return c == 0 ? 1 + r % 3 : 2; })) == one_level);
  ScoreTable flat = ruled(shape, 1, 2, [](int, int, int) { return 1; });
  flat.values = {1};
  CHECK(refusal(flat) == "the scale has one level: nothing tells responses apart");
}

TEST_CASE("a fit has the same bits everywhere", "[latent]") {
  const LatentFit fit = fit_latent_scale(draw_scores(essay_panel(), ScoreShape{100, 8, 2}, 20261216).table);
  CHECK(fit.judge.sigma == 0x1.7d55f3bee86eap-3);
  CHECK(fit.sigma.error == 0x1.92b564269ed8ap-7);
  CHECK(fit.judge.prompt_share == 0x1.27d7a49de2e9ap-2);
  CHECK(fit.prompt_share.error == 0x1.6213066f0472ap-5);
  CHECK(fit.judge.spread == 0x1.8ccb5236dafbfp-2);
  CHECK(fit.spread.error == 0x1.a5c278908e87p-4);
  CHECK(fit.judge.judge_sigma == 0x1.7215fa8dc0531p-2);
  CHECK(fit.judge_sigma.error == 0x1.d7d02fe38050ap-6);
}

TEST_CASE("a symmetric system is solved, a singular one refused", "[latent]") {
  Vector x;
  REQUIRE(solve({4, 2, 2, 3}, {8, 8}, x));
  CHECK(x[0] == Approx(1));
  CHECK(x[1] == Approx(2));
  CHECK_FALSE(solve({1, 1, 1, 1}, {1, 2}, x));
}

TEST_CASE("least squares find a minimum inside the bounds", "[latent]") {
  const Bounds bounds{{-5, -5}, {5, 5}, {0.01, 0.01}};
  const auto valley = [](const Vector& v) { return Vector{10 * (v[1] - v[0] * v[0]), 1 - v[0]}; };
  const LeastSquares found = least_squares(valley, bounds, {-1.2, 1});
  CHECK(found.at[0] == Approx(1).margin(0.01));
  CHECK(found.at[1] == Approx(1).margin(0.02));
  CHECK(dot(found.residual, found.residual) < 1e-3);
}

TEST_CASE("a parameter that would leave its bounds stays on them", "[latent]") {
  const Bounds bounds{{0, -5}, {5, 5}, {0.01, 0.01}};
  const auto outside = [](const Vector& v) { return Vector{v[0] + 1, v[0] + v[1] - 2}; };  // free minimum at (-1, 3)
  const LeastSquares found = least_squares(outside, bounds, {1, 0});
  CHECK(found.at[0] == 0);
  CHECK(found.at[1] == Approx(2).margin(0.01));
}

TEST_CASE("slopes stay inside the bounds", "[latent]") {
  const Bounds bounds{{0}, {1}, {0.25}};
  const auto square = [](const Vector& v) {
    CHECK(v[0] >= 0);
    CHECK(v[0] <= 1);
    return Vector{v[0] * v[0]};
  };
  CHECK(slopes(square, bounds, {0})[0][0] == Approx(0.25));
  CHECK(slopes(square, bounds, {0.5})[0][0] == Approx(1));
  CHECK(slopes(square, bounds, {1})[0][0] == Approx(1.75));
}
