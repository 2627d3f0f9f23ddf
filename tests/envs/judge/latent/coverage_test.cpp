// How often 95 % intervals of a fit hold the truth: 12 tables drawn from each of three judges, 50 in full. Prints its figures.
#include <cmath>
#include <cstdio>

#include "envs/judge/latent/draw.hpp"
#include "envs/judge/latent/fit.hpp"
#include "tests/catch.hpp"
#include "tests/envs/judge/latent/latent_judges.hpp"
#include "tests/rounds.hpp"

using namespace odrpo;

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
