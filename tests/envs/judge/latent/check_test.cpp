// Goodness of fit: holds for scores of the model itself, misses for scores of another one; and how often intervals of a fit hold the truth.
#include <cmath>
#include <cstdio>
#include <random>

#include "envs/judge/latent/draw.hpp"
#include "envs/judge/latent/fit.hpp"
#include "tests/catch.hpp"
#include "tests/envs/judge/latent/latent_judges.hpp"
#include "tests/rounds.hpp"

using namespace odrpo;

TEST_CASE("held-out prompts of the model itself are predicted", "[latent]") {
  const ScoreTable table = draw_scores(single_judge(), ScoreShape{400, 8, 16}, 20261217).table;
  const GoodnessOfFit check = goodness_of_fit(table);
  REQUIRE(check.reason.empty());
  CHECK(check.prompts[0] == 200);
  CHECK(check.prompts[1] == 200);
  REQUIRE(check.lines.size() == 16);
  for (const auto& line : check.lines) {
    INFO(line.name << ": " << line.mean.difference() << " +- " << line.mean.error);
    CHECK(line.verdict == FitVerdict::holds);
    CHECK(line.mean.error > 0);
    if (line.moment <= Moment::prompt_share) CHECK(line.mean.error < 0.02);
    for (const auto& fold : line.fold) CHECK(std::abs(fold.difference()) < 5 * fold.error);
    CHECK(line.mean.observed == Approx((line.fold[0].observed + line.fold[1].observed) / 2));
  }
  CHECK(check.lines[0].name == "median W");
  CHECK(check.lines[5].tolerance == Approx(0.01));  // row deviation on three levels
  // the observed statistics are of the held-out half, so that both halves make the whole
  const Moments whole = moments_of(table);
  CHECK(check.lines[3].mean.observed == Approx(whole[static_cast<std::size_t>(Moment::tie)]).epsilon(1e-9));
}

TEST_CASE("each half is predicted by a judge of the other half", "[latent]") {
  const ScoreTable table = draw_scores(single_judge(), ScoreShape{4, 8, 16}, 20261221).table;
  const GoodnessOfFit check = goodness_of_fit(table);
  REQUIRE(check.reason.empty());
  const auto prompts = prompt_moments(table);
  int found = 0;
  for (std::uint32_t a = 0; a < 4; ++a)
    for (std::uint32_t b = a + 1; b < 4; ++b) {  // the half whose ties were observed, and the rest
      const std::vector<std::uint32_t> half = {a, b};
      if (moments_of(prompts, half)[static_cast<std::size_t>(Moment::tie)] != check.lines[3].fold[0].observed) continue;
      LatentFitOptions rest;
      rest.intervals = false;
      for (std::uint32_t p = 0; p < 4; ++p)
        if (p != a && p != b) rest.prompts.push_back(p);
      CHECK(fit_latent_scale(table, rest).judge == check.judge[0]);
      ++found;
    }
  CHECK(found == 1);
}

TEST_CASE("scores of another world are missed", "[latent]") {
  // responses are bad or good, and no judge is ever sure: a latent scale has more rows without spread
  std::mt19937_64 random(20261218);
  ScoreTable table = draw_scores(single_judge(), ScoreShape{300, 8, 16}, 1).table;
  std::uniform_real_distribution<double> uniform;
  for (const auto& response : table.responses) {
    const bool good = uniform(random) < 0.5;
    for (std::uint32_t i = response.first; i < response.first + response.count; ++i) {
      const double u = uniform(random);
      table.level[i] = static_cast<std::uint8_t>(u < 0.6 ? (good ? 3 : 1) : u < 0.95 ? 2 : good ? 1 : 3);
    }
  }
  const GoodnessOfFit check = goodness_of_fit(table);
  REQUIRE(check.reason.empty());
  CHECK(check.lines[4].name == "rows without spread");
  CHECK(check.lines[4].verdict == FitVerdict::misses);
  CHECK(check.lines[4].mean.difference() > 0.025);
}

TEST_CASE("tables too small for two halves say so", "[latent]") {
  CHECK(goodness_of_fit(draw_scores(single_judge(), ScoreShape{3, 8, 16}, 1).table).reason == "two halves need four prompts or more");
  CHECK(goodness_of_fit(draw_scores(single_judge(), ScoreShape{40, 8, 1}, 1).table).reason ==
        "of a half of the prompts: no response has two scores: nothing tells how the scores of a response differ");
  const GoodnessOfFit one = goodness_of_fit(draw_scores(single_judge(), ScoreShape{400, 1, 8}, 1).table);
  REQUIRE(one.reason.empty());
  CHECK(one.lines[0].verdict == FitVerdict::undefined);
  CHECK(one.lines[5].verdict == FitVerdict::holds);
}

namespace {

const int tables = rounds(12, 50), enough = rounds(9, 44);  // a true 95 % has fewer with probability .002 and .04

struct Tally {
  const char* name;
  double truth;
  int inside = 0, fitted = 0;
  double sum = 0, squares = 0, error = 0;

  void add(const LatentParameter& found) {
    if (!found.fitted) return;
    ++fitted;
    inside += found.low <= truth && truth <= found.high;
    sum += found.value - truth, squares += (found.value - truth) * (found.value - truth), error += found.error;
  }
};

void check_coverage(const char* what, const LatentScale& judge, const ScoreShape& shape) {
  Tally share{"prompt_share", judge.prompt_share}, sigma{"sigma", judge.sigma}, spread{"spread", judge.spread},
      own{"judge_sigma", judge.judge_sigma};
  for (std::uint64_t seed = 1; seed <= static_cast<std::uint64_t>(tables); ++seed) {
    LatentFitOptions options;
    options.seed = seed;
    const LatentFit fit = fit_latent_scale(draw_scores(judge, shape, 1000 + seed).table, options);
    share.add(fit.prompt_share), sigma.add(fit.sigma), spread.add(fit.spread), own.add(fit.judge_sigma);
  }
  for (const Tally* t : {&share, &sigma, &spread, &own}) {
    if (t == &own && (judge.judges() < 2 || shape.calls < 2)) continue;  // the others must be fitted
    const double bias = t->sum / tables;
    std::printf("%-15s %-12s %5.3f  inside %d of %d  bias %+.4f  sd %.4f  mean error %.4f\n", what, t->name, t->truth, t->inside, tables,
                bias, std::sqrt(t->squares / tables - bias * bias), t->error / tables);
    CHECK(t->fitted == tables);
    CHECK(t->inside >= enough);
  }
}

}  // namespace

TEST_CASE("coverage of a latent scale's intervals", "[.slow]") {
  std::printf("95 %% intervals of judges fitted to their own scores, seeds of tables 1001 to %d\n", 1000 + tables);
  check_coverage("essay panel", essay_panel(), {540, 8, 2});
  check_coverage("dialogue panel", dialogue_panel(), {2982, 10, 1});
  check_coverage("single judge", single_judge(), {300, 8, 16});
}
