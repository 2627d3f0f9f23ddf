// Outliers are found where there are some, with intervals that hold them, and nowhere else.
#include <cmath>
#include <utility>
#include <vector>

#include "envs/judge/latent/draw.hpp"
#include "envs/judge/latent/fit.hpp"
#include "envs/judge/simulate_scores.hpp"
#include "tests/catch.hpp"
#include "tests/envs/judge/latent/latent_judges.hpp"
#include "tests/rounds.hpp"

using namespace odrpo;

namespace {

const std::vector<double> shares{0.03, 0.05, 0.08, 0.1, 0.14, 0.2, 0.2, 0.2};

LatentFit fit_of(const ScoreTable& table, bool intervals = false) {
  LatentFitOptions options;
  options.intervals = intervals;
  return fit_latent_scale(table, options);
}

}  // namespace

TEST_CASE("outliers of one kind are found, as often as they are", "[latent][unsanitized]") {
  for (const Outlier kind : {Outlier::low, Outlier::high, Outlier::uniform}) {
    Outliers truth;
    truth[kind] = 0.1;
    const LatentScale judge = latent_judge(0.5, 0.3, 0.2, 0, 8, shares);
    const LatentFit fit = fit_of(draw_scores(judge, ScoreShape{150, 6, 4}, 20261132, truth).table);
    INFO(outlier_word(kind));
    for (const Outlier other : all_outliers)
      if (other == kind) CHECK(fit.outliers[other] == Approx(0.1).margin(0.025));
      else CHECK(fit.outliers[other] < 0.02);
    CHECK(fit.judge.sigma == Approx(0.3).margin(0.06));
  }
}

TEST_CASE("outliers that look like noise which varies are found too", "[latent][unsanitized]") {
  const LatentScale judge = latent_judge(0.3, 0.4, 0.4, 0, 8, std::vector<double>(8, 0.125));
  for (const auto& [kind, share] : {std::pair(Outlier::uniform, 0.1), std::pair(Outlier::veto, 0.05)}) {
    Outliers truth;
    truth[kind] = share;
    const LatentFit fit = fit_of(draw_scores(judge, ScoreShape{200, 8, 4}, 20261139, truth).table);
    INFO(outlier_word(kind));
    CHECK(fit.outliers[kind] == Approx(share).margin(0.03));
  }
}

TEST_CASE("outliers of a large panel are those of some of its judges", "[latent][unsanitized]") {
  Outliers truth;
  truth[Outlier::low] = 0.1;
  std::vector<double> all;
  for (int j = 0; j < 12; ++j) all.insert(all.end(), shares.begin(), shares.end());
  const LatentScale panel = latent_judge(0.4, 0.4, 0, 0, 8, all);
  const LatentFit fit = fit_of(draw_scores(panel, ScoreShape{30, 4, 2}, 20261140, truth).table);
  CHECK(fit.outliers[Outlier::low] == Approx(0.1).margin(0.03));
  CHECK(fit.judge.judges() == 12);
  CHECK(fit.judge.sigma == Approx(0.4).margin(0.08));
}

TEST_CASE("outliers of a crowd, of whom three score each response twice", "[latent][unsanitized]") {
  Outliers truth;
  truth[Outlier::low] = 0.1;
  std::vector<double> all;
  for (int j = 0; j < 30; ++j) all.insert(all.end(), shares.begin(), shares.end());
  ScoreTable table = draw_scores(latent_judge(0.4, 0.3, 0, 0, 8, all), ScoreShape{150, 4, 2}, 20261141, truth).table;
  for (std::size_t r = 0; r < table.responses.size(); ++r)
    for (std::uint32_t i = 0; i < table.responses[r].count; ++i)
      if ((table.columns[table.column[table.responses[r].first + i]].judge + 30 - r % 30) % 30 > 2)
        table.level[table.responses[r].first + i] = ScoreTable::unreadable;
  CHECK(fit_of(table).outliers[Outlier::low] == Approx(0.1).margin(0.04));
}

TEST_CASE("a smooth judge has no outliers, and the fit is that without the search", "[latent]") {
  for (const LatentScale& judge : {single_judge(), essay_panel()}) {
    const ScoreTable table = draw_scores(judge, ScoreShape{100, 8, 2}, 20261133).table;
    const LatentFit fit = fit_of(table);
    CHECK_FALSE(fit.outliers.any());
    LatentFitOptions without;
    without.intervals = false, without.outliers = false;
    CHECK(fit.judge == fit_latent_scale(table, without).judge);
    CHECK(fit.outlier[0].reason == "the scores show none");
  }
}

TEST_CASE("parts of a table have the kinds of outliers of the whole", "[latent][unsanitized]") {
  Outliers truth;
  truth[Outlier::low] = 0.15;
  const ScoreTable table = draw_scores(latent_judge(0.5, 0.3, 0.2, 0, 8, shares), ScoreShape{120, 6, 4}, 20261134, truth).table;
  const LatentFit whole = fit_of(table);
  LatentFitOptions part;
  part.intervals = false, part.whole = &whole;
  for (std::uint32_t p = 0; p < 120; p += 2) part.prompts.push_back(p);
  const LatentFit half = fit_latent_scale(table, part);
  for (const Outlier kind : all_outliers) CHECK((half.outliers[kind] > 0) == (whole.outliers[kind] > 0));
  CHECK(half.outliers[Outlier::low] == Approx(0.15).margin(0.04));
}

TEST_CASE("outliers beside little noise, and a part without any of the whole's outliers", "[latent][unsanitized]") {
  Outliers truth;
  truth[Outlier::low] = 0.2;
  const LatentScale judge = latent_judge(0.5, 0.08, 0, 0, 8, shares);
  const LatentFit fit = fit_of(draw_scores(judge, ScoreShape{100, 6, 4}, 20261136, truth).table);
  CHECK(fit.outliers[Outlier::low] == Approx(0.2).margin(0.03));
  CHECK(fit.judge.sigma == Approx(0.08).margin(0.03));

  const ScoreTable smooth = draw_scores(latent_judge(0.5, 0.3, 0, 0, 8, shares), ScoreShape{60, 6, 4}, 20261137).table;
  LatentFitOptions part;
  part.intervals = false, part.whole = &fit;
  const LatentFit without = fit_latent_scale(smooth, part);
  CHECK(without.outliers[Outlier::low] < 0.03);
  CHECK(without.judge.sigma == Approx(0.3).margin(0.06));
  CHECK(without.distance < 30);
}

TEST_CASE("no intervals of outliers from fewer than ten prompts", "[latent]") {
  Outliers truth;
  truth[Outlier::low] = 0.2;
  const LatentFit fit = fit_of(draw_scores(latent_judge(0.5, 0.3, 0, 0, 8, shares), ScoreShape{8, 60, 4}, 20261138, truth).table, true);
  CHECK(std::isnan(fit.sigma.low));
  for (const LatentParameter& of : fit.outlier) CHECK(std::isnan(of.low));
}

TEST_CASE("intervals of outliers hold the truth, and smooth judges raise no alarm", "[.slow]") {
  const int files = rounds(4, 12);
  int held = 0, found = 0, alarms = 0;
  for (int file = 0; file < files; ++file) {
    const auto seed = static_cast<std::uint64_t>(20261200 + file);
    Outliers truth;
    const Outlier kind = file % 2 == 0 ? Outlier::low : Outlier::uniform;
    truth[kind] = 0.05;
    const LatentScale judge = latent_judge(0.5, 0.3, 0.3, 0, 8, shares);
    const LatentFit fit = fit_of(draw_scores(judge, ScoreShape{150, 6, 4}, seed, truth).table, true);
    const LatentParameter& of = fit.outlier[static_cast<std::size_t>(kind)];
    found += of.fitted;
    held += of.fitted && of.low <= 0.05 && 0.05 <= of.high;
    alarms += fit_of(draw_scores(judge, ScoreShape{150, 6, 4}, seed).table).outliers.any();
  }
  INFO("seeds from 20261200: of " << files << " files outliers were found in " << found << ", intervals held in " << held << ", alarms " << alarms);
  CHECK(found >= files - 1);
  CHECK(held >= files - 3);
  CHECK(alarms <= 1);
}
