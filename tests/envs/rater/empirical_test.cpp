// Judges learned from scores: by hand, against a recomputation of their definition, and from worlds whose numbers are known.
#include "envs/rater/empirical.hpp"

#include <cmath>
#include <random>
#include <vector>

#include "kernels/failure.hpp"
#include "tests/catch.hpp"

using namespace odrpo;

namespace {

double cell(const EmpiricalJudge& judge, int level, int score) {
  return (*judge.channel.matrix.values)[(level - 1) * judge.channel.matrix.size + score - 1];
}

/// One more prompt, [M][samples] scores; 0 = an answer that cannot be read. Levels grow to the largest score.
void add(ScoreTable& table, int samples, const std::vector<std::uint8_t>& scores) {
  table.prompts.push_back({"", static_cast<std::uint32_t>(table.responses.size()), 0});
  for (std::size_t i = 0; i < scores.size(); i += samples) {
    table.responses.push_back({static_cast<std::uint32_t>(table.level.size()), static_cast<std::uint32_t>(samples), no_gold});
    ++table.prompts.back().count;
    for (int n = 0; n < samples; ++n) {
      table.level.push_back(scores[i + n]);
      table.column.push_back(n);
      while (table.levels() < scores[i + n]) table.values.push_back(table.levels() + 1);
    }
  }
}

EmpiricalJudge learn(ScoreTable table, int levels = 0) {
  while (table.levels() < levels) table.values.push_back(table.levels() + 1);
  return learn_judge(table);
}

/// The scores of a prompt, one response after the other.
std::vector<int> scores_of(const ScoreTable& table, const ScoreTable::Prompt& prompt) {
  std::vector<int> scores;
  for (const auto& r : table.responses_of(prompt)) for_each_score(table, r, [&](int level, std::uint32_t) { scores.push_back(level); });
  return scores;
}

}  // namespace

TEST_CASE("a judge of two prompts, by hand") {
  ScoreTable table;
  add(table, 2, {1, 2, 3, 3});  // means 1.5 -> level 2, 3
  add(table, 2, {3, 3, 4, 5});  // means 3, 4.5 -> level 5
  const EmpiricalJudge judge = learn(table);
  REQUIRE(judge.channel.matrix.size == 5);
  // squares around the means: 1/2 + 0 + 0 + 1/2, with 4 x (2 - 1) degrees of freedom: variance 1/4
  CHECK(judge.pooled_sd == 0.5);
  CHECK(judge.rows == std::vector<long>{0, 1, 2, 0, 1});
  CHECK(judge.thin == std::vector<std::uint8_t>{1, 1, 1, 1, 1});
  // the lattice Gaussian of sd 1/2: exp(-2 d^2) at distance d
  const double e1 = std::exp(-2.0), e2 = std::exp(-8.0), e3 = std::exp(-18.0), e4 = std::exp(-32.0);
  const double edge = 1 + e1 + e2 + e3 + e4, next = 1 + 2 * e1 + e2 + e3, middle = 1 + 2 * e1 + 2 * e2;
  // level 1 without data: the lattice alone
  CHECK(cell(judge, 1, 1) == Approx(1 / edge).epsilon(1e-14));
  CHECK(cell(judge, 1, 5) == Approx(e4 / edge).epsilon(1e-14));
  CHECK(cell(judge, 4, 2) == Approx(e2 / next).epsilon(1e-14));
  // level 2 holds the scores 1, 2: (1 + l/2) / 2.5
  CHECK(cell(judge, 2, 1) == Approx((1 + 0.5 * e1 / next) / 2.5).epsilon(1e-14));
  CHECK(cell(judge, 2, 2) == Approx((1 + 0.5 / next) / 2.5).epsilon(1e-14));
  CHECK(cell(judge, 2, 3) == Approx(0.5 * e1 / next / 2.5).epsilon(1e-14));
  // level 3 holds 3, 3, 3, 3; level 5 holds 4, 5
  CHECK(cell(judge, 3, 3) == Approx((4 + 0.5 / middle) / 4.5).epsilon(1e-14));
  CHECK(cell(judge, 5, 4) == Approx((1 + 0.5 * e1 / edge) / 2.5).epsilon(1e-14));
  // prompt means 2.25 and 3.75; inside each the response means lie 0.75 away: variance (4 x 0.5625) / 2 = 1.125, of which 0.25 / 2 is the
  // judge's: spread 1. Prompt means: variance 1.125, of which 1.125 / 2 comes from inside: sd 0.75. Five levels are stretched by 9 / 4.
  CHECK(judge.world.mean == 1 + 2 * 2.25);
  CHECK(judge.world.mean_sd == 0.75 * 2.25);
  CHECK(judge.world.spread == 1 * 2.25);
  CHECK(judge.world.spread_sd == 0);
  CHECK(judge.world.hack_share == 0);
}

TEST_CASE("a level with twenty responses is what was counted, with nineteen it is smoothed") {
  for (const int responses : {thin_row - 1, thin_row}) {
    ScoreTable table;
    for (int i = 0; i < responses; ++i) add(table, 4, {2, 2, 2, 3});  // mean 2.25: level 2
    add(table, 4, {4, 4, 4, 4});
    const EmpiricalJudge judge = learn(table, 4);
    CHECK(judge.rows == std::vector<long>{0, responses, 0, 1});
    CHECK(judge.thin == std::vector<std::uint8_t>{1, responses < thin_row, 1, 1});
    if (responses == thin_row) {
      CHECK(cell(judge, 2, 2) == 0.75);
      CHECK(cell(judge, 2, 3) == 0.25);
      CHECK(cell(judge, 2, 1) == 0);
    } else {
      CHECK(cell(judge, 2, 1) > 0);
      CHECK(cell(judge, 2, 2) < 0.75 + 0.01);
    }
  }
}

TEST_CASE("judges of random tables are what the definition says") {
  std::mt19937_64 draw(31);
  for (int round = 0; round < 40; ++round) {
    ScoreTable table;
    const int levels = 2 + static_cast<int>(draw() % 9), prompts = 1 + static_cast<int>(draw() % 60);
    for (int p = 0; p < prompts; ++p) {
      const int samples = 1 + static_cast<int>(draw() % 6), responses = 1 + static_cast<int>(draw() % 5);
      std::vector<std::uint8_t> scores(samples * responses);
      for (auto& s : scores) s = static_cast<std::uint8_t>(1 + std::min(draw() % levels, draw() % levels));
      add(table, samples, scores);
    }
    add(table, 2, {static_cast<std::uint8_t>(levels), 1});
    const EmpiricalJudge judge = learn(table, levels);

    // variance of scores around response means; means of responses and prompts
    double deviation = 0, freedom = 0, inside = 0, inside_freedom = 0, per_sample = 0, per_response = 0;
    std::vector<double> centres;
    std::vector<std::vector<double>> counts(levels + 1, std::vector<double>(levels + 1, 0.0));
    std::vector<long> rows(levels, 0);
    for (const auto& p : table.prompts) {
      std::vector<double> means;
      const std::vector<int> score = scores_of(table, p);
      const int samples = static_cast<int>(table.responses[p.first].count);
      for (std::uint32_t r = 0; r < p.count; ++r) {
        double mean = 0;
        for (int n = 0; n < samples; ++n) mean += score[r * samples + n] / static_cast<double>(samples);
        means.push_back(mean);
        if (samples < 2) continue;
        const int level = static_cast<int>(std::floor(mean + 0.5 + 1e-9));
        ++rows[level - 1];
        for (int n = 0; n < samples; ++n) {
          deviation += std::pow(score[r * samples + n] - mean, 2);
          counts[level][score[r * samples + n]] += 1;
        }
        freedom += samples - 1;
      }
      double centre = 0;
      for (const double m : means) centre += m / static_cast<double>(means.size());
      for (const double m : means) inside += std::pow(m - centre, 2);
      inside_freedom += static_cast<double>(means.size()) - 1;
      per_sample += (static_cast<double>(means.size()) - 1) / samples;
      per_response += 1.0 / static_cast<double>(means.size());
      centres.push_back(centre);
    }
    const double variance = deviation / freedom, n = static_cast<double>(centres.size());
    CHECK(judge.pooled_sd == Approx(std::sqrt(variance)).epsilon(1e-12));
    CHECK(judge.rows == rows);
    double mean = 0, between = 0;
    for (const double c : centres) mean += c / n;
    for (const double c : centres) between += std::pow(c - mean, 2) / (n - 1);
    const double raw = inside_freedom > 0 ? inside / inside_freedom : 0,
                 noise = inside_freedom > 0 ? variance * per_sample / inside_freedom : 0;
    const double stretch = 9.0 / (levels - 1);
    CHECK(judge.world.mean == Approx(1 + (mean - 1) * stretch).epsilon(1e-12));
    CHECK(judge.world.spread == Approx(stretch * std::sqrt(std::max(0.0, raw - noise))).epsilon(1e-9).margin(1e-7));
    CHECK(judge.world.mean_sd == Approx(stretch * std::sqrt(std::max(0.0, between - raw * per_response / n))).epsilon(1e-9).margin(1e-7));
    for (int level = 1; level <= levels; ++level) {
      std::vector<double> row = counts[level];
      CHECK(judge.thin[level - 1] == (rows[level - 1] < 20));
      if (rows[level - 1] < 20) {
        double lattice = 0;
        for (int k = 1; k <= levels; ++k) lattice += std::exp(-(k - level) * (k - level) / (2 * variance));
        for (int k = 1; k <= levels; ++k) row[k] += 0.5 * std::exp(-(k - level) * (k - level) / (2 * variance)) / lattice;
      }
      double total = 0, sum = 0;
      for (const double c : row) total += c;
      for (int k = 1; k <= levels; ++k) {
        CHECK(cell(judge, level, k) == Approx(row[k] / total).epsilon(1e-11).margin(1e-15));
        sum += cell(judge, level, k);
      }
      CHECK(sum == Approx(1).epsilon(1e-14));
    }
  }
}

TEST_CASE("the numbers of a world come back from its scores") {
  std::mt19937_64 g(32);
  std::normal_distribution<double> z(0, 1);
  for (const int levels : {10, 20}) {
    const double stretch = (levels - 1) / 9.0;  // profiles are stated for 10 levels
    ScoreTable table;
    for (int p = 0; p < 1500; ++p) {
      const double centre = 1 + 4.5 * stretch + 1.0 * stretch * z(g);
      std::vector<std::uint8_t> scores;
      for (int r = 0; r < 8; ++r) {
        const double q = centre + 0.8 * stretch * z(g);
        for (int n = 0; n < 6; ++n)
          scores.push_back(static_cast<std::uint8_t>(std::clamp(std::floor(q + 0.7 * z(g) + 0.5), 1.0, 1.0 * levels)));
      }
      add(table, 6, scores);
    }
    const EmpiricalJudge judge = learn(table, levels);
    CAPTURE(levels, judge.world.mean, judge.world.mean_sd, judge.world.spread, judge.pooled_sd);
    // standard errors: 0.03, 0.02, 0.006, 0.002; clipping takes a little
    CHECK(judge.world.mean == Approx(5.5).margin(0.1));
    CHECK(judge.world.mean_sd == Approx(1.0).margin(0.07));
    CHECK(judge.world.spread == Approx(0.8).margin(0.03));
    CHECK(judge.pooled_sd == Approx(std::sqrt(0.49 + 1.0 / 12)).margin(0.02));  // the rounding adds 1/12
  }
}

TEST_CASE("what no judge can be learned from") {
  ScoreTable table;
  add(table, 2, {1, 7});
  CHECK(learn(table, 7).channel.matrix.size == 7);
  CHECK(learn(table, 9).channel.matrix.size == 9);
  ScoreTable single;
  add(single, 1, {3, 4, 5});
  CHECK_THROWS_AS(learn(single), Failure);
  ScoreTable ones;
  add(ones, 2, {1, 1});
  CHECK_THROWS_AS(learn(ones), Failure);
  CHECK(cell(learn(ones, 3), 1, 1) == 1);  // never a different score: an exact judge
  CHECK(cell(learn(ones, 3), 2, 2) == 1);
  CHECK(learn(ones, 3).world.spread == 0);
  CHECK(learn(ones, 3).world.mean_sd == 0);
}

TEST_CASE("responses with different numbers of scores, by hand") {
  ScoreTable table;
  add(table, 3, {2, 2, 0, 4, 5, 4});  // the first has N = 2: 2, 2; the second N = 3: mean 13/3
  add(table, 1, {0, 0});              // a prompt without a score that could be read
  add(table, 1, {5});
  const EmpiricalJudge judge = learn(table);
  // squares around the means: 0 + 2/3, with 1 + 2 degrees of freedom
  CHECK(judge.pooled_sd == Approx(std::sqrt(2.0 / 9)).epsilon(1e-14));
  CHECK(judge.rows == std::vector<long>{0, 1, 0, 1, 0});
  // prompt means (2 + 13/3) / 2 = 19/6 and 5; the variance inside is (7/6)^2 x 2 less the judge's, 2/9 (1/2 + 1/3) / 2
  CHECK(judge.world.mean == Approx(1 + 2.25 * ((19.0 / 6 + 5) / 2 - 1)).epsilon(1e-14));
  CHECK(judge.world.spread == Approx(2.25 * std::sqrt(2 * 49.0 / 36 - 2.0 / 9 * 5 / 12)).epsilon(1e-14));
  // prompt means differ by 11/6: variance 121/72, of which inside x (1/2 + 1) / 2
  CHECK(judge.world.mean_sd == Approx(2.25 * std::sqrt(std::max(0.0, 121.0 / 72 - 2 * 49.0 / 36 * 0.75))).margin(1e-14));
}

TEST_CASE("columns that all responses of a prompt have") {
  ScoreTable table;
  add(table, 3, {1, 2, 3, 4, 0, 5});
  add(table, 2, {1, 2, 3, 4});
  add(table, 1, {0});
  CHECK(complete_columns(table, table.prompts[0]) == std::vector<std::uint32_t>{0, 2});
  CHECK(!is_complete(table, table.prompts[0]));
  CHECK(complete_columns(table, table.prompts[1]) == std::vector<std::uint32_t>{0, 1});
  CHECK(is_complete(table, table.prompts[1]));
  CHECK(complete_columns(table, table.prompts[2]).empty());
  CHECK(!is_complete(table, table.prompts[2]));
}
