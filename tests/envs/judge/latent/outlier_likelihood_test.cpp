// The likelihood against integration by brute force.
#include "envs/judge/latent/outlier_likelihood.hpp"

#include <cmath>
#include <random>
#include <vector>

#include "envs/judge/latent/draw.hpp"
#include "tests/catch.hpp"
#include "tests/envs/judge/latent/latent_judges.hpp"

using namespace odrpo;

namespace {

double cdf(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }

// log P(scores of a prompt): b, then of each response e, log s, veto, then u of each judge, each on an even grid of its own
double by_definition(const ScoreTable& table, const ScoreTable::Prompt& prompt, const LatentScale& judge, const Outliers& o) {
  const auto levels = static_cast<std::size_t>(table.levels());
  const auto grid = [](double from, double to, int n) {
    std::vector<double> points;
    for (int i = 0; i < n; ++i) points.push_back(from + (to - from) * (i + 0.5) / n);
    return points;
  };
  const auto normal = [](double z) { return std::exp(-0.5 * z * z); };
  const std::vector<double> of_b = grid(-5, 5, 120), of_e = grid(-5, 5, 160), of_z = judge.spread > 0 ? grid(-5, 5, 24) : std::vector<double>{0},
                            of_u = judge.judge_sigma > 0 ? grid(-5, 5, 40) : std::vector<double>{0}, of_v = grid(0, 1, 40);
  const auto response_at = [&](const ScoreTable::Response& response, double x, double z, double v) {  // P(scores | x, z, own veto)
    const double s = std::exp(judge.spread * z);
    double all = 1;
    for (int j = 0; j < judge.judges(); ++j) {
      double sum = 0, weight = 0;
      for (const double u : of_u) {
        double product = 1;
        for_each_score(table, response, [&](int level, std::uint32_t column) {
          if (static_cast<int>(table.columns[column].judge) != j) return;
          std::vector<double> p(levels);
          for (std::size_t k = 0; k < levels; ++k) {
            const auto below = [&](std::size_t cut) {
              return cut == 0 ? 0.0 : cut == levels ? 1.0 : cdf((judge.thresholds(j)[cut - 1] - x - s * judge.judge_sigma * u) / (s * judge.sigma));
            };
            p[k] = below(k + 1) - below(k);
          }
          const auto k = static_cast<std::size_t>(level) - 1;
          double one = (1 - o[Outlier::mirror]) * p[k] + o[Outlier::mirror] * p[levels - 1 - k];
          one = (1 - o[Outlier::uniform]) * one + o[Outlier::uniform] / static_cast<double>(levels);
          one = (1 - o[Outlier::high]) * one + (k + 1 == levels ? o[Outlier::high] : 0);
          one = (1 - v) * one + (k == 0 ? v : 0);
          one = (1 - o[Outlier::low]) * one + (k == 0 ? o[Outlier::low] : 0);
          product *= one;
        });
        sum += normal(u) * product, weight += normal(u);
      }
      all *= sum / weight;
    }
    return all;
  };
  double total = 0, weight_b = 0;
  for (const double b : of_b) {
    double product = 1;
    for (const auto& response : table.responses_of(prompt)) {
      double sum = 0, weight = 0;
      for (const double e : of_e)
        for (const double z : of_z) {
          const double x = std::sqrt(judge.prompt_share) * b + std::sqrt(1 - judge.prompt_share) * e, w = normal(e) * normal(z);
          double vetoed = 0;
          for (const double v : of_v) vetoed += o[Outlier::veto] > 0 ? response_at(response, x, z, v) / static_cast<double>(of_v.size()) : 0;
          sum += w * ((1 - o[Outlier::veto]) * response_at(response, x, z, 0) + o[Outlier::veto] * vetoed);
          weight += w;
        }
      product *= sum / weight;
    }
    total += normal(b) * product, weight_b += normal(b);
  }
  return std::log(total / weight_b);
}

}  // namespace

TEST_CASE("the likelihood of prompts is that of integration by brute force", "[latent]") {
  Outliers outliers;
  outliers[Outlier::mirror] = 0.05, outliers[Outlier::uniform] = 0.1, outliers[Outlier::high] = 0.04, outliers[Outlier::low] = 0.06;
  const LatentScale one = latent_judge(0.4, 0.5, 0.3, 0, 4, {0.2, 0.3, 0.3, 0.2});
  const ScoreTable table = draw_scores(one, ScoreShape{3, 2, 3}, 20261129, outliers).table;
  const auto likelihood = OutlierLikelihood(table, 0.125, 16)(one, outliers);
  REQUIRE(likelihood.size() == 3);
  for (std::size_t p = 0; p < 3; ++p) CHECK(likelihood[p] == Approx(by_definition(table, table.prompts[p], one, outliers)).margin(2e-3));

  outliers[Outlier::veto] = 0.3;
  LatentScale even = one;
  even.spread = 0;
  const ScoreTable vetoed = draw_scores(even, ScoreShape{2, 2, 3}, 20261130, outliers).table;
  const auto with_veto = OutlierLikelihood(vetoed, 0.125, 16)(even, outliers);
  for (std::size_t p = 0; p < 2; ++p) CHECK(with_veto[p] == Approx(by_definition(vetoed, vetoed.prompts[p], even, outliers)).margin(2e-3));
}

TEST_CASE("the likelihood of a panel's prompts is that of integration by brute force", "[latent]") {
  Outliers outliers;
  outliers[Outlier::low] = 0.1;
  const LatentScale panel = latent_judge(0.4, 0.5, 0, 0.4, 3, {0.2, 0.4, 0.4, 0.4, 0.4, 0.2});
  ScoreTable table = draw_scores(panel, ScoreShape{2, 2, 2}, 20261131, outliers).table;
  table.level[1] = ScoreTable::unreadable;  // responses differ in their columns
  const auto likelihood = OutlierLikelihood(table, 0.125, 16)(panel, outliers);
  for (std::size_t p = 0; p < 2; ++p) CHECK(likelihood[p] == Approx(by_definition(table, table.prompts[p], panel, outliers)).margin(2e-3));
}
