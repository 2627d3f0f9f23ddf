// Statistics of tables of ratings: textbook examples, cases by hand, and tables where something is undefined.
#include "envs/judge/agreement/score_statistics.hpp"

#include <cmath>
#include <numeric>
#include <random>
#include <string>

#include "envs/judge/agreement/agreement.hpp"
#include "envs/judge/agreement/score_sums.hpp"
#include "tests/catch.hpp"

using namespace odrpo;

namespace {

constexpr int blank = -1;                      ///< no rating
using Levels = std::vector<std::vector<int>>;  // [response][column]; 0 = unreadable

/// A table of judges with `calls` samples each on 1..levels, without prompts.
ScoreTable empty_table(int levels, std::size_t judges, std::size_t calls = 1) {
  ScoreTable table;
  for (int k = 1; k <= levels; ++k) table.values.push_back(k);
  for (std::uint32_t j = 0; j < judges; ++j) {
    table.judges.push_back({std::string(1, static_cast<char>('a' + j))});
    for (std::size_t c = 0; c < calls; ++c) table.columns.push_back({j, std::to_string(c)});
  }
  return table;
}

void add(ScoreTable& table, const Levels& rows, const std::vector<double>& gold = {}) {
  const auto first = static_cast<std::uint32_t>(table.responses.size());
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const auto at = static_cast<std::uint32_t>(table.level.size());
    for (std::uint32_t c = 0; c < rows[r].size(); ++c)
      if (rows[r][c] != blank) table.level.push_back(static_cast<std::uint8_t>(rows[r][c])), table.column.push_back(c);
    table.responses.push_back({at, static_cast<std::uint32_t>(table.level.size()) - at, r < gold.size() ? gold[r] : no_gold});
  }
  table.prompts.push_back({std::to_string(table.prompts.size()), first, static_cast<std::uint32_t>(rows.size())});
}

ScoreStatistics statistics_of(const ScoreSums& sums) {
  std::vector<double> total(sums.width(), 0.0);
  for (std::size_t u = 0; u < sums.units; ++u)
    for (std::size_t i = 0; i < total.size(); ++i) total[i] += sums.row[u * total.size() + i];
  ScoreStatistics out;
  score_statistics(sums, total, {}, out);
  return out;
}
ScoreStatistics statistics_of(const ScoreTable& table) { return statistics_of(sum_scores(table, 1000)); }

double mean(const std::vector<double>& v) { return std::accumulate(v.begin(), v.end(), 0.0) / static_cast<double>(v.size()); }

}  // namespace

TEST_CASE("Krippendorff's alpha of his own example, with gaps") {
  ScoreTable table = empty_table(5, 4);  // observers A..D, units 1..12 (Krippendorff 2011)
  for (const auto& unit : Levels{{1, 1, blank, 1},
                                 {2, 2, 3, 2},
                                 {3, 3, 3, 3},
                                 {3, 3, 3, 3},
                                 {2, 2, 2, 2},
                                 {1, 2, 3, 4},
                                 {4, 4, 4, 4},
                                 {1, 1, 2, 1},
                                 {2, 2, 2, 2},
                                 {blank, 5, 5, 5},
                                 {blank, blank, 1, 1},
                                 {blank, 3, blank, blank}})
    add(table, {unit});
  const ScoreStatistics s = statistics_of(table);
  CHECK(s.alpha_ordinal == Approx(0.815).margin(0.0005));
  CHECK(s.alpha_interval == Approx(0.849).margin(0.0005));
}

TEST_CASE("ICC of the example of Shrout and Fleiss") {
  ScoreTable table = empty_table(10, 4);
  for (const auto& target : Levels{{9, 2, 5, 8}, {6, 1, 3, 2}, {8, 4, 6, 8}, {7, 1, 2, 6}, {10, 5, 6, 9}, {6, 2, 4, 7}})
    add(table, {target});
  ScoreStatistics s = statistics_of(table);
  CHECK(s.icc1 == Approx(0.1657).margin(0.0001));
  CHECK(s.icc21 == Approx(0.2898).margin(0.0001));
  add(table, {{7, blank, 3, 8}});  // ICC(2,1) leaves out what lacks a column, ICC(1) does not
  const double before = s.icc21;
  s = statistics_of(table);
  CHECK(s.icc21 == Approx(before).epsilon(1e-12));
  CHECK(s.icc1 != Approx(0.1657).margin(0.0001));
}

TEST_CASE("severity, repeats and drift of judges, by hand") {
  ScoreTable table = empty_table(5, 2, 2);  // columns: a a b b
  add(table, {{1, 2, 3, 3}, {2, 2, 5, 4}});
  add(table, {{3, 3, 3, blank}});
  const ScoreStatistics s = statistics_of(table);
  // means of a: 1.5, 2, 3; of b: 3, 4.5, 3
  CHECK(s.judge[0].severity == Approx((-1.5 - 2.5 + 0) / 3));
  CHECK(s.judge[1].severity == Approx((1.5 + 2.5 + 0) / 3));
  const double offset = 2.0 / 3, variance = (11.0 / 16 + 27.0 / 16 + 0) / 3;  // of rows 1 2 3 3, 2 2 5 4, 3 3 3, ddof 0
  CHECK(s.severity_share == Approx(2 * offset * offset / variance));
  CHECK(s.judge[0].severity_share + s.judge[1].severity_share == Approx(s.severity_share));
  CHECK(s.judge[0].equal_repeats == Approx(2.0 / 3));
  CHECK(s.judge[1].equal_repeats == Approx(1.0 / 2));
  CHECK(s.equal_repeats == Approx(3.0 / 5));
  CHECK(s.repeat_sd == Approx(std::sqrt((0.5 + 0.5) / 5)));
  CHECK(s.judge[0].drift == Approx(1.0 / 3));   // differences 1, 0, 0
  CHECK(s.judge[1].drift == Approx(-1.0 / 2));  // 0, -1
  CHECK(s.half_difference == Approx((1 + 0 + 0 + 0 - 1) / 5.0).margin(1e-15));
  CHECK(s.judge[0].level == Approx(13.0 / 6));
}

TEST_CASE("drift is the slope over samples and the middle one is in neither half") {
  ScoreTable table = empty_table(9, 1, 5);
  add(table, {{1, 3, 5, 7, 9}, {2, 4, blank, 8, blank}});
  const ScoreStatistics s = statistics_of(table);
  CHECK(s.drift == Approx(2));
  CHECK(s.half_difference == Approx(((8 - 2) + (8 - 3)) / 2.0));
}

TEST_CASE("agreement of pairs of judges, by hand") {
  ScoreTable table = empty_table(5, 3);
  add(table, {{1, 1, 5}, {2, 3, 4}, {3, 5, 3}});
  add(table, {{2, 2, blank}, {2, 4, blank}});  // a ties all: no rank correlation
  const ScoreStatistics s = statistics_of(table);
  REQUIRE(s.pair.size() == 3);
  CHECK(s.pair[0].rank_correlation == Approx(1));   // a, b
  CHECK(s.pair[1].rank_correlation == Approx(-1));  // a, c
  // a 1 2 3 2 2, b 1 3 5 2 4: squared differences 0 1 4 0 4; expected: over all 25 pairs
  double expected = 0;
  for (const int x : {1, 2, 3, 2, 2})
    for (const int y : {1, 3, 5, 2, 4}) expected += (x - y) * (x - y) / 25.0;
  CHECK(s.pair[0].kappa == Approx(1 - 9 / 5.0 / expected));
}

TEST_CASE("gold: confusion, bias and calibration in units of the file") {
  ScoreTable table = empty_table(3, 1, 2);
  table.values = {0, 0.5, 1};
  add(table, {{1, 2}, {3, 3}, {2, 0}, {1, 1}}, {0, 1, 0.75});
  const ScoreSums sums = sum_scores(table, 10);
  CHECK(sums.confusion == std::vector<std::int64_t>{1, 1, 0, 0, 0, 0, 0, 0, 2});
  CHECK(sums.gold_off_levels == 1);
  const ScoreStatistics s = statistics_of(sums);
  CHECK(s.gold_bias == Approx((0 + 0.5 + 0 + 0 - 0.25) / 5));
  CHECK(s.gold_error == Approx(0.75 / 5));
  CHECK(s.level[1].gold == Approx((0 + 0.75) / 2));
  CHECK(s.level[0].score == Approx(0.25));
  CHECK(std::isnan(s.level[1].score));
  CHECK(s.gold_correlation > 0.8);
  CHECK(s.gold_mean_correlation > 0.8);
}

TEST_CASE("rows and prompts: sums of units are the means of the definitions") {
  const unsigned seed = 3;
  INFO("seed " << seed);
  std::mt19937_64 draw(seed);
  ScoreTable table = empty_table(5, 2, 3);
  std::vector<double> sd, skew, w, level;
  double constant = 0;
  for (int p = 0; p < 40; ++p) {
    Levels rows(4, std::vector<int>(6));
    std::vector<JudgeRow> judges(6, JudgeRow(4));
    for (std::size_t r = 0; r < 4; ++r) {
      for (std::size_t c = 0; c < 6; ++c) judges[c][r] = rows[r][c] = static_cast<int>(1 + draw() % 2 + draw() % 4);
      const RowStats s = row_stats(std::vector<double>(rows[r].begin(), rows[r].end()), 1);
      level.push_back(s.mean);
      sd.push_back(s.std);
      constant += s.std == 0;
      if (s.std > 0) skew.push_back(s.skew);
    }
    w.push_back(kendall_w(judges).w);
    add(table, rows);
  }
  for (const std::size_t units : {1u, 7u, 1000u}) {
    const ScoreSums sums = sum_scores(table, units);
    CHECK(sums.units == std::min<std::size_t>(units, 40));
    const ScoreStatistics s = statistics_of(sums);
    CHECK(s.row_sd.mean == Approx(mean(sd)));
    CHECK(s.row_mean.mean == Approx(mean(level)));
    CHECK(s.skew.mean == Approx(mean(skew)));
    CHECK(s.w.mean == Approx(mean(w)));
    CHECK(s.constant == Approx(constant / 160));
    CHECK(s.floor == Approx(1.0 / 6));
    CHECK(std::is_sorted(sums.sd.value.begin(), sums.sd.value.end()));
    CHECK(sums.sd.value.size() == 160);
  }
}

TEST_CASE("what cannot be computed is NaN") {
  ScoreTable single = empty_table(5, 1);
  add(single, {{3}, {4}});
  ScoreTable equal = empty_table(5, 2);
  add(equal, {{3, 3}, {3, 3}});
  ScoreTable nothing = empty_table(5, 1);
  add(nothing, {{0}, {blank}});
  for (const ScoreTable& table : {single, equal, nothing}) {
    const ScoreStatistics s = statistics_of(table);
    for (const double x : {s.w.mean, s.rank_correlation.mean, s.icc1, s.icc21, s.alpha_ordinal, s.alpha_interval, s.skew.mean,
                           s.prompt_share, s.gold_bias, s.gold_correlation, s.disagree, s.drift})
      CHECK(std::isnan(x));
  }
  const ScoreStatistics s = statistics_of(equal);
  CHECK(s.flip == 0);
  CHECK(s.tie == 1);
  CHECK(s.constant == 1);
  CHECK(std::isnan(statistics_of(single).flip));
  CHECK(std::isnan(statistics_of(nothing).tie));
}

TEST_CASE("tables of many judges or columns lack what would take too long") {
  ScoreTable table = empty_table(3, 1, 300);
  add(table, {std::vector<int>(300, 2), std::vector<int>(300, 1)});
  CHECK(sum_scores(table, 10).columns == 0);
  CHECK(std::isnan(statistics_of(table).icc21));
  ScoreTable crowd = empty_table(3, 300);
  add(crowd, {std::vector<int>(300, 2), std::vector<int>(300, 1)});
  CHECK(sum_scores(crowd, 10).judges == 0);
  CHECK(statistics_of(crowd).judge.empty());
  CHECK(statistics_of(crowd).w.mean == 1);
  CHECK(statistics_of(empty_table(3, 13)).pair.empty());
}

TEST_CASE("the tail of chi-square") {
  CHECK(chi_square_above(9, 3) == Approx(0.029290886534888396).epsilon(1e-13));
  CHECK(chi_square_above(0, 5) == 1);
}
