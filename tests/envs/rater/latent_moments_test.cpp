// Moments of a table against the statistics of matrices that they are made of.
#include "envs/rater/latent_moments.hpp"

#include <cmath>
#include <vector>

#include "envs/rater/agreement.hpp"
#include "envs/rater/latent_draw.hpp"
#include "tests/catch.hpp"
#include "tests/envs/rater/latent_judges.hpp"

using namespace odrpo;

namespace {

double of(const Moments& moments, Moment which) { return moments[static_cast<std::size_t>(which)]; }

}  // namespace

TEST_CASE("moments are means of the statistics of prompts", "[latent]") {
  const ScoreTable table = draw_scores(essay_panel(), ScoreShape{40, 8, 2}, 20261203).table;
  std::vector<double> w;
  double mean_w = 0, flip = 0, tie = 0, constant = 0, sd = 0, own = 0, means = 0, squares = 0, of_prompts = 0;
  for (const auto& prompt : table.prompts) {
    std::vector<JudgeRow> columns(8);
    double prompt_mean = 0;
    for (const auto& response : table.responses_of(prompt)) {
      const auto level = table.levels_of(response);
      const std::vector<double> row(level.begin(), level.end());
      for (std::size_t c = 0; c < 8; ++c) columns[c].push_back(row[c]);
      const RowStats all = row_stats(row, 1);
      constant += all.std == 0, sd += all.std;
      for (std::size_t j = 0; j < 4; ++j) own += row_stats(std::span(row).subspan(2 * j, 2), 1).std;
      means += all.mean, squares += all.mean * all.mean, prompt_mean += all.mean / 8;
    }
    of_prompts += prompt_mean * prompt_mean / 40;
    w.push_back(kendall_w(columns).w);
    const RankFlip f = rank_flip(columns);
    mean_w += w.back() / 40, flip += f.flip / 40, tie += f.tie / 40;
  }
  std::sort(w.begin(), w.end());
  const Moments m = moments_of(table);
  CHECK(of(m, Moment::median_w) == Approx((w[19] + w[20]) / 2).epsilon(1e-12));
  CHECK(of(m, Moment::mean_w) == Approx(mean_w).epsilon(1e-12));
  CHECK(of(m, Moment::flip) == Approx(flip).epsilon(1e-12));
  CHECK(of(m, Moment::tie) == Approx(tie).epsilon(1e-12));
  CHECK(of(m, Moment::constant_rows) == Approx(constant / 320).epsilon(1e-12));
  CHECK(of(m, Moment::row_sd) == Approx(sd / 320).epsilon(1e-12));
  CHECK(of(m, Moment::judge_row_sd) == Approx(own / 1280).epsilon(1e-12));
  const double mean = means / 320;
  CHECK(of(m, Moment::prompt_share) == Approx((of_prompts - mean * mean) / (squares / 320 - mean * mean)).epsilon(1e-9));
}

TEST_CASE("moments of chosen prompts are those of the table of these prompts", "[latent]") {
  const ScoreTable table = draw_scores(essay_panel(), ScoreShape{5, 8, 2}, 20261204).table;
  const auto prompts = prompt_moments(table);
  ScoreTable twice = table;  // prompts 1, 3, 3
  twice.prompts = {table.prompts[1], table.prompts[3], table.prompts[3]};
  const Moments a = moments_of(prompts, std::vector<std::uint32_t>{1, 3, 3}), b = moments_of(twice);
  for (int k = 0; k < moment_count; ++k) CHECK(a[static_cast<std::size_t>(k)] == b[static_cast<std::size_t>(k)]);
}

TEST_CASE("moments without a value are undefined", "[latent]") {
  const Moments one = moments_of(draw_scores(single_judge(), ScoreShape{9, 1, 4}, 20261205).table);
  for (const Moment m : {Moment::median_w, Moment::mean_w, Moment::flip, Moment::tie, Moment::judge_row_sd, Moment::prompt_share})
    CHECK(std::isnan(of(one, m)));
  CHECK(of(one, Moment::row_sd) >= 0);
  const Moments single = moments_of(draw_scores(single_judge(), ScoreShape{9, 4, 1}, 20261206).table);
  CHECK(std::isnan(of(single, Moment::row_sd)));
  CHECK(std::isnan(of(single, Moment::median_w)));
  CHECK(of(single, Moment::tie) > 0);
}
