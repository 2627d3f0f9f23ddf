// Frequencies of scores by level: by hand, and against a recomputation of their definition.
#include <cmath>
#include <random>
#include <vector>

#include "envs/judge/resampled.hpp"
#include "kernels/shared/failure.hpp"
#include "tests/catch.hpp"

using namespace odrpo;

namespace {

/// The rows of a table, which may have more levels than were met.
struct Rows {
  std::size_t levels;
  std::vector<double> values;
  double operator()(std::size_t level, std::size_t score) const { return values[(level - 1) * levels + score - 1]; }
};

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

Rows rows_of(ScoreTable table, int levels = 0) {
  while (table.levels() < levels) table.values.push_back(table.levels() + 1);
  return {table.values.size(), level_frequencies(table)};
}

/// The scores of a prompt, one response after the other.
std::vector<int> scores_of(const ScoreTable& table, const ScoreTable::Prompt& prompt) {
  std::vector<int> scores;
  for (const auto& r : table.responses_of(prompt)) for_each_score(table, r, [&](int level, std::uint32_t) { scores.push_back(level); });
  return scores;
}

}  // namespace

TEST_CASE("two prompts, by hand") {
  ScoreTable table;
  add(table, 2, {1, 2, 3, 3});  // means 1.5 -> level 2, 3
  add(table, 2, {3, 3, 4, 5});  // means 3, 4.5 -> level 5
  const Rows row = rows_of(table);
  REQUIRE(row.values.size() == 25);
  // squares around the means: 1/2 + 0 + 0 + 1/2, with 4 x (2 - 1) degrees of freedom: variance 1/4
  // the lattice Gaussian of sd 1/2: exp(-2 d^2) at distance d
  const double e1 = std::exp(-2.0), e2 = std::exp(-8.0), e3 = std::exp(-18.0), e4 = std::exp(-32.0);
  const double edge = 1 + e1 + e2 + e3 + e4, next = 1 + 2 * e1 + e2 + e3, middle = 1 + 2 * e1 + 2 * e2;
  // level 1 without data: the lattice alone
  CHECK(row(1, 1) == Approx(1 / edge).epsilon(1e-14));
  CHECK(row(1, 5) == Approx(e4 / edge).epsilon(1e-14));
  CHECK(row(4, 2) == Approx(e2 / next).epsilon(1e-14));
  // level 2 holds the scores 1, 2: (1 + l/2) / 2.5
  CHECK(row(2, 1) == Approx((1 + 0.5 * e1 / next) / 2.5).epsilon(1e-14));
  CHECK(row(2, 2) == Approx((1 + 0.5 / next) / 2.5).epsilon(1e-14));
  CHECK(row(2, 3) == Approx(0.5 * e1 / next / 2.5).epsilon(1e-14));
  // level 3 holds 3, 3, 3, 3; level 5 holds 4, 5
  CHECK(row(3, 3) == Approx((4 + 0.5 / middle) / 4.5).epsilon(1e-14));
  CHECK(row(5, 4) == Approx((1 + 0.5 * e1 / edge) / 2.5).epsilon(1e-14));
}

TEST_CASE("a level with twenty responses is what was counted, with nineteen it is smoothed") {
  for (const int responses : {thin_row - 1, thin_row}) {
    ScoreTable table;
    for (int i = 0; i < responses; ++i) add(table, 4, {2, 2, 2, 3});  // mean 2.25: level 2
    add(table, 4, {4, 4, 4, 4});
    const Rows row = rows_of(table, 4);
    if (responses == thin_row) {
      CHECK(row(2, 2) == 0.75);
      CHECK(row(2, 3) == 0.25);
      CHECK(row(2, 1) == 0);
    } else {
      CHECK(row(2, 1) > 0);
      CHECK(row(2, 2) < 0.75 + 0.01);
    }
  }
}

TEST_CASE("rows of random tables are what the definition says") {
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
    const Rows found = rows_of(table, levels);

    double deviation = 0, freedom = 0;  // of scores around response means
    std::vector<std::vector<double>> counts(levels + 1, std::vector<double>(levels + 1, 0.0));
    std::vector<long> responses(levels + 1, 0);
    for (const auto& p : table.prompts) {
      const std::vector<int> score = scores_of(table, p);
      const int samples = static_cast<int>(table.responses[p.first].count);
      for (std::uint32_t r = 0; r < p.count && samples > 1; ++r) {
        double mean = 0;
        for (int n = 0; n < samples; ++n) mean += score[r * samples + n] / static_cast<double>(samples);
        const int level = static_cast<int>(std::floor(mean + 0.5 + 1e-9));
        ++responses[level];
        for (int n = 0; n < samples; ++n) {
          deviation += std::pow(score[r * samples + n] - mean, 2);
          counts[level][score[r * samples + n]] += 1;
        }
        freedom += samples - 1;
      }
    }
    const double variance = deviation / freedom;
    for (int level = 1; level <= levels; ++level) {
      std::vector<double> row = counts[level];
      if (responses[level] < 20) {
        double lattice = 0;
        for (int k = 1; k <= levels; ++k) lattice += std::exp(-(k - level) * (k - level) / (2 * variance));
        for (int k = 1; k <= levels; ++k) row[k] += 0.5 * std::exp(-(k - level) * (k - level) / (2 * variance)) / lattice;
      }
      double total = 0, sum = 0;
      for (const double c : row) total += c;
      for (int k = 1; k <= levels; ++k) {
        CHECK(found(level, k) == Approx(row[k] / total).epsilon(1e-11).margin(1e-15));
        sum += found(level, k);
      }
      CHECK(sum == Approx(1).epsilon(1e-14));
    }
  }
}

TEST_CASE("tables without a second score, or without a second level, have no rows") {
  ScoreTable table;
  add(table, 2, {1, 7});
  CHECK(rows_of(table, 7).values.size() == 49);
  CHECK(rows_of(table, 9).values.size() == 81);
  ScoreTable single;
  add(single, 1, {3, 4, 5});
  CHECK_THROWS_AS(rows_of(single), Failure);
  ScoreTable ones;
  add(ones, 2, {1, 1});
  CHECK_THROWS_AS(rows_of(ones), Failure);
  CHECK(rows_of(ones, 3)(1, 1) == 1);  // never a different score: an exact judge
  CHECK(rows_of(ones, 3)(2, 2) == 1);
}

TEST_CASE("responses with different numbers of scores, by hand") {
  ScoreTable table;
  add(table, 3, {2, 2, 0, 4, 5, 4});  // the first has N = 2: 2, 2; the second N = 3: mean 13/3, level 4
  add(table, 1, {0, 0});              // a prompt without a score that could be read
  add(table, 1, {5});                 // one score tells nothing
  const Rows row = rows_of(table);
  // squares around the means: 0 + 2/3, with 1 + 2 degrees of freedom: variance 2/9, the lattice exp(-9/4 d^2)
  const double e1 = std::exp(-2.25), e2 = std::exp(-9.0), e3 = std::exp(-20.25), next = 1 + 2 * e1 + e2 + e3;
  CHECK(row(2, 2) == Approx((2 + 0.5 / next) / 2.5).epsilon(1e-14));
  CHECK(row(4, 4) == Approx((2 + 0.5 / next) / 3.5).epsilon(1e-14));
  CHECK(row(4, 5) == Approx((1 + 0.5 * e1 / next) / 3.5).epsilon(1e-14));
  CHECK(row(4, 1) == Approx(0.5 * e3 / next / 3.5).epsilon(1e-14));
}

TEST_CASE("columns that all responses of a prompt have") {
  ScoreTable table;
  add(table, 3, {1, 2, 3, 4, 0, 5});
  add(table, 2, {1, 2, 3, 4});
  add(table, 1, {0});
  CHECK(complete_columns(table, table.prompts[0]) == std::vector<std::uint32_t>{0, 2});
  CHECK(complete_columns(table, table.prompts[1]) == std::vector<std::uint32_t>{0, 1});
  CHECK(complete_columns(table, table.prompts[2]).empty());
}
