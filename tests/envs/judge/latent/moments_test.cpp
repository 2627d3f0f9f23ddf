// Moments of a table against the statistics of matrices that they are made of.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "envs/judge/agreement/agreement.hpp"
#include "envs/judge/latent/draw.hpp"
#include "envs/judge/latent/evidence.hpp"
#include "tests/catch.hpp"
#include "tests/envs/judge/latent/latent_judges.hpp"

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
  for (int k = 0; k < first_row_moment; ++k) CHECK(a[static_cast<std::size_t>(k)] == b[static_cast<std::size_t>(k)]);
}

TEST_CASE("moments of rows, from their definitions", "[latent]") {
  CHECK(far_levels(2) == 2);
  CHECK(far_levels(5) == 2);
  CHECK(far_levels(6) == 2);
  CHECK(far_levels(10) == 4);
  Outliers outliers;
  outliers[Outlier::low] = 0.1;
  const LatentScale judge = latent_judge(0.3, 0.5, 0.4, 0.3, 7, {0.1, 0.1, 0.1, 0.2, 0.2, 0.2, 0.1, 0.05, 0.1, 0.15, 0.2, 0.2, 0.2, 0.1});
  ScoreTable table = draw_scores(judge, ScoreShape{30, 5, 3}, 20261135, outliers).table;
  table.level[2] = ScoreTable::unreadable, table.level[100] = ScoreTable::unreadable;
  const int far = far_levels(7);
  double all_pairs = 0, pairs = 0, apart = 0, low = 0, high = 0, rows = 0, far_rows = 0, m2 = 0, m3 = 0, d2 = 0, d4 = 0, c2 = 0;
  std::vector<double> of_prompt, a, b;
  for (const auto& prompt : table.prompts) {
    double in_prompt = 0, rows_before = rows;
    std::vector<double> column(6, 0.0), n(6, 0.0);
    for (const auto& response : table.responses_of(prompt))
      for_each_score(table, response, [&](int level, std::uint32_t c) { column[c] += level, n[c] += 1; });
    for (std::size_t c = 0; c < 6; ++c) column[c] /= n[c];
    for (const auto& response : table.responses_of(prompt)) {
      std::vector<std::vector<double>> own(2);  // rows of each judge
      std::vector<double> centred;
      for_each_score(table, response, [&](int level, std::uint32_t c) { own[c / 3].push_back(level), centred.push_back(level - column[c]); });
      for (const auto& row : own) {
        const std::size_t size = row.size();
        bool any = false;
        double mean = 0, second = 0, third = 0;
        for (std::size_t i = 0; i < size; ++i) {
          mean += row[i] / static_cast<double>(size);
          for (std::size_t k = i + 1; k < size; ++k) {
            const double d = std::abs(row[i] - row[k]);
            pairs += 1, d2 += d * d, d4 += d * d * d * d;
            if (d < far) continue;
            apart += 1, any = true;
            low += std::min(row[i], row[k]) == 1, high += std::max(row[i], row[k]) == 7;
          }
        }
        for (const double x : row) second += (x - mean) * (x - mean) / static_cast<double>(size), third += std::pow(x - mean, 3) / static_cast<double>(size);
        rows += 1, far_rows += any, in_prompt += any, m2 += second, m3 += third;
      }
      const std::size_t half = centred.size() / 2;
      double first = 0, next = 0;
      for (std::size_t i = 0; i < centred.size(); ++i)
        for (std::size_t k = i + 1; k < centred.size(); ++k) all_pairs += 1, c2 += (centred[i] - centred[k]) * (centred[i] - centred[k]);
      for (std::size_t i = 0; i < half; ++i) first += centred[i] / static_cast<double>(half), next += centred[half + i] / static_cast<double>(half);
      a.push_back(first), b.push_back(next);
    }
    of_prompt.push_back(in_prompt / (rows - rows_before));
  }
  const auto mean = [](const std::vector<double>& v) { return std::accumulate(v.begin(), v.end(), 0.0) / static_cast<double>(v.size()); };
  const auto covariance = [&](const std::vector<double>& x, const std::vector<double>& y) {
    double sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i) sum += (x[i] - mean(x)) * (y[i] - mean(y));
    return sum / static_cast<double>(x.size());
  };
  const double of_halves = covariance(a, a) + covariance(b, b) - 2 * covariance(a, b);
  const Moments m = moments_of(table, MomentSet::with_rows);
  CHECK(of(m, Moment::far_pairs) == Approx(apart / pairs).epsilon(1e-12));
  CHECK(of(m, Moment::far_lowest) == Approx(low / pairs).epsilon(1e-12));
  CHECK(of(m, Moment::far_highest) == Approx(high / pairs).epsilon(1e-12));
  CHECK(of(m, Moment::far_rows) == Approx(far_rows / rows).epsilon(1e-12));
  CHECK(of(m, Moment::far_prompts) == Approx(std::sqrt(covariance(of_prompt, of_prompt))).epsilon(1e-9));
  CHECK(of(m, Moment::row_skewness) == Approx(m3 / rows / std::pow(m2 / rows, 1.5)).epsilon(1e-9));
  CHECK(of(m, Moment::difference_kurtosis) == Approx(d4 / pairs / std::pow(d2 / pairs, 2) - 3).epsilon(1e-9));
  CHECK(of(m, Moment::halves_sd) == Approx(std::sqrt(of_halves)).epsilon(1e-9));
  CHECK(of(m, Moment::halves_correlation) == Approx(covariance(a, b) / std::sqrt(covariance(a, a) * covariance(b, b))).epsilon(1e-9));
  CHECK(of(m, Moment::halves_worth) == Approx(c2 / all_pairs / of_halves).epsilon(1e-9));
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
