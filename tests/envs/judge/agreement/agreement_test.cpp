// Agreement statistics: textbook cases, orientation, ties, undefined cases, and rank flips against literal counting.
#include "envs/judge/agreement/agreement.hpp"

#include <cmath>
#include <numeric>
#include <random>
#include <vector>

#include "envs/judge/prompt_statistics.hpp"
#include "tests/catch.hpp"

using namespace odrpo;

namespace {

using Matrix = std::vector<JudgeRow>;

/// Pairs of items times pairs of judges, one by one.
RankFlip flips_by_pairs(const Matrix& judges) {
  double pairs = 0, opposite = 0, decided = 0, places = 0, tied = 0;
  for (std::size_t a = 0; a < judges[0].size(); ++a)
    for (std::size_t b = 0; b < a; ++b)
      for (std::size_t i = 0; i < judges.size(); ++i) {
        places += 1;
        tied += judges[i][a] == judges[i][b];
        for (std::size_t j = 0; j < i; ++j) {
          const double x = judges[i][a] - judges[i][b], y = judges[j][a] - judges[j][b];
          pairs += 1;
          decided += x != 0 && y != 0;
          opposite += x * y < 0;
        }
      }
  return {opposite / pairs, opposite / decided, tied / places};
}

bool same(double a, double b) { return (std::isnan(a) && std::isnan(b)) || a == b; }

}  // namespace

TEST_CASE("Kendall's W: perfect agreement, none, and ties") {
  const KendallW perfect = kendall_w(Matrix{{1, 2, 3, 4}, {2, 5, 6, 9}, {1, 3, 8, 10}});
  CHECK(perfect.w == 1);
  CHECK(perfect.chi2 == 9);
  CHECK(perfect.df == 3);
  CHECK(perfect.p == Approx(0.029290886534888396).epsilon(1e-13));  // chi-square survival at 9, 3 degrees of freedom
  const KendallW opposite = kendall_w(Matrix{{1, 2, 3}, {3, 2, 1}});
  CHECK(opposite.w == 0);
  CHECK(opposite.p == 1);
  // by hand: ranks (1, 2.5, 2.5) and (1, 2, 3); 12 S = 12 (4 + 20.25 + 30.25) = 654, 3 n^2 k (k+1)^2 = 576, 96 - 2 x 6 = 84
  CHECK(kendall_w(Matrix{{4, 7, 7}, {1, 5, 9}}).w == Approx(78.0 / 84).epsilon(1e-15));
}

TEST_CASE("Kendall's W depends on the orientation, not on the order of judges or on scale") {
  const Matrix judges = {{8, 9, 5, 7}, {7, 8, 5, 8}, {9, 7, 3, 8}};
  const Matrix turned = {{8, 7, 9}, {9, 8, 7}, {5, 5, 3}, {7, 8, 8}};
  const Matrix other = {{9, 7, 3, 8}, {8, 9, 5, 7}, {700, 800, 500, 800}};
  CHECK(kendall_w(judges).df == 3);
  CHECK(kendall_w(turned).df == 2);
  CHECK(kendall_w(judges).w != kendall_w(turned).w);
  CHECK(kendall_w(judges).w == kendall_w(other).w);
}

TEST_CASE("Kendall's W is undefined without any ranking") {
  for (const Matrix& judges : {Matrix{{5, 5, 5}, {7, 7, 7}}, Matrix{{3}, {4}}, Matrix{{1, 1}}}) {
    const KendallW k = kendall_w(judges);
    CHECK(std::isnan(k.w));
    CHECK(std::isnan(k.chi2));
    CHECK(std::isnan(k.p));
    CHECK(k.df == static_cast<int>(judges[0].size()) - 1);
  }
  CHECK(kendall_w(Matrix{{5, 5, 5}, {1, 2, 3}}).w == Approx(1.0 / 2));  // one judge without opinion: 24 / 48
  CHECK(kendall_w(Matrix{{1, 2, 3}}).w == 1);
}

TEST_CASE("row statistics reach the extremes of 16 scores on 1..10") {
  std::vector<double> split(16, 1.0), one_off(16, 8.0);
  for (int i = 0; i < 8; ++i) split[i] = 10;
  one_off[15] = 7;
  const RowStats s = row_stats(split, 0), o = row_stats(one_off, 0);
  CHECK(s.mean == 5.5);
  CHECK(s.std == 4.5);
  CHECK(s.skew == 0);
  CHECK(s.exkurt == -2);
  CHECK(o.exkurt == Approx(166.0 / 15).epsilon(1e-14));
  CHECK(o.skew == Approx(-3.6147844564602556).epsilon(1e-14));
  CHECK(row_stats(split, 1).std == Approx(4.5 * std::sqrt(16.0 / 15)).epsilon(1e-15));
}

TEST_CASE("row statistics where they are undefined") {
  const RowStats constant = row_stats(std::vector<double>{0.1, 0.1, 0.1}, 0), one = row_stats(std::vector<double>{3}, 1),
                 none = row_stats(std::vector<double>{}, 0);
  CHECK(constant.mean == 0.1);
  CHECK(constant.std == 0);
  CHECK(std::isnan(constant.skew));
  CHECK(std::isnan(constant.exkurt));
  CHECK(one.mean == 3);
  CHECK(std::isnan(one.std));
  CHECK(row_stats(std::vector<double>{3}, 0).std == 0);
  CHECK(std::isnan(none.mean));
}

TEST_CASE("rank flips: by hand and by counting every pair") {
  const RankFlip f = rank_flip(Matrix{{1, 2}, {2, 1}, {1, 1}});
  CHECK(f.flip == Approx(1.0 / 3));
  CHECK(f.flip_decided == 1);
  CHECK(f.tie == Approx(1.0 / 3));
  const RankFlip single = rank_flip(Matrix{{1, 1, 2}}), lone = rank_flip(Matrix{{1}, {2}}), tied = rank_flip(Matrix{{1, 1}, {2, 2}});
  CHECK(std::isnan(single.flip));
  CHECK(std::isnan(single.flip_decided));
  CHECK(single.tie == Approx(1.0 / 3));
  CHECK(std::isnan(lone.tie));
  CHECK(tied.flip == 0);
  CHECK(std::isnan(tied.flip_decided));
  CHECK(tied.tie == 1);
  std::mt19937_64 draw(5);
  for (int round = 0; round < 100; ++round) {
    Matrix judges(2 + draw() % 10, JudgeRow(2 + draw() % 6));
    for (auto& row : judges)
      for (double& x : row) x = static_cast<double>(draw() % 5);
    const RankFlip got = rank_flip(judges), want = flips_by_pairs(judges);
    CHECK(got.flip == want.flip);
    CHECK(same(got.flip_decided, want.flip_decided));
    CHECK(got.tie == want.tie);
  }
}

namespace {

using Levels = std::vector<std::vector<std::uint8_t>>;  // [response][column]

std::vector<std::uint8_t> flat(const Levels& rows) {
  std::vector<std::uint8_t> out;
  for (const auto& row : rows) out.insert(out.end(), row.begin(), row.end());
  return out;
}

Levels random_levels(std::mt19937_64& draw, std::size_t m, std::size_t n, std::uint64_t levels) {
  Levels rows(m, std::vector<std::uint8_t>(n));
  for (auto& row : rows)
    for (auto& x : row) x = static_cast<std::uint8_t>(1 + draw() % levels);
  return rows;
}

/// A prompt more, of responses whose rating in column j is row[j]; `blank` = no rating.
constexpr std::uint8_t blank = 255;
void add(ScoreTable& table, const Levels& rows) {
  const auto first = static_cast<std::uint32_t>(table.responses.size());
  for (const auto& row : rows) {
    const auto at = static_cast<std::uint32_t>(table.level.size());
    for (std::uint32_t j = 0; j < row.size(); ++j)
      if (row[j] != blank) table.level.push_back(row[j]), table.column.push_back(j);
    table.responses.push_back({at, static_cast<std::uint32_t>(table.level.size()) - at, no_gold});
  }
  table.prompts.push_back({std::to_string(table.prompts.size()), first, static_cast<std::uint32_t>(rows.size())});
}

void check_same(double got, double want) {
  if (std::isnan(want)) CHECK(std::isnan(got));
  else CHECK(got == Approx(want).epsilon(1e-13));
}

/// Everything by the definitions, with a column as a judge.
void check_definitions(const Levels& rows) {
  const std::size_t m = rows.size(), n = rows[0].size();
  INFO(m << " responses x " << n);
  std::vector<JudgeRow> judges(n, JudgeRow(m));
  double sd = 0, constant = 0, mean = 0;
  for (std::size_t r = 0; r < m; ++r) {
    std::vector<double> row(rows[r].begin(), rows[r].end());
    for (std::size_t j = 0; j < n; ++j) judges[j][r] = row[j];
    const RowStats s = row_stats(row, 1);
    sd += s.std;
    constant += s.std == 0;
    mean += std::accumulate(row.begin(), row.end(), 0.0);
  }
  const PromptStatistics got = matrix_statistics(flat(rows), n);
  const KendallW w = kendall_w(judges);
  const RankFlip flip = rank_flip(judges);
  const double nan = std::nan(""), some = static_cast<double>(n);
  CHECK(got.responses == m);
  CHECK(got.columns == n);
  check_same(got.w, n < 2 ? nan : w.w);
  check_same(got.rank_correlation, n < 2 ? nan : (some * w.w - 1) / (some - 1));
  check_same(got.flip, flip.flip);
  check_same(got.tie, flip.tie);
  check_same(got.row_sd, n < 2 ? nan : sd / static_cast<double>(m));
  check_same(got.constant_rows, n < 2 ? nan : constant / static_cast<double>(m));
  check_same(got.mean, mean / static_cast<double>(m * n));
}

}  // namespace

TEST_CASE("statistics of a prompt are those of the definitions") {
  const unsigned seed = 16;
  INFO("seed " << seed);
  std::mt19937_64 draw(seed);
  for (int round = 0; round < 300; ++round) check_definitions(random_levels(draw, 1 + draw() % 12, 1 + draw() % 12, 1 + draw() % 5));
  for (int round = 0; round < 20; ++round)  // many responses: counted by pairs of columns
    check_definitions(random_levels(draw, 60 + draw() % 60, 1 + draw() % 4, 1 + draw() % 5));
  check_definitions(random_levels(draw, 400, 3, 10));
  check_definitions(random_levels(draw, 3, 200, 100));
}

TEST_CASE("statistics of a prompt by hand") {
  // ranks (1, 2.5, 2.5) and (1, 2, 3): 12 S = 654, 3 N^2 M (M+1)^2 = 576, 96 - 2 x 6 = 84
  const PromptStatistics s = matrix_statistics(flat({{4, 1}, {7, 5}, {7, 9}}), 2);
  CHECK(s.w == Approx(78.0 / 84).epsilon(1e-15));
  CHECK(s.rank_correlation == Approx(2 * 78.0 / 84 - 1).epsilon(1e-15));
  CHECK(s.flip == 0);
  CHECK(s.tie == Approx(1.0 / 6));
  CHECK(s.row_sd == Approx((3 + 2 + 2) / std::sqrt(2.0) / 3));
  CHECK(s.constant_rows == 0);
  CHECK(s.mean == Approx(33.0 / 6));
  const PromptStatistics equal = matrix_statistics(flat({{3, 3}, {3, 3}}), 2);
  CHECK(std::isnan(equal.w));
  CHECK(equal.flip == 0);
  CHECK(equal.tie == 1);
  CHECK(equal.constant_rows == 1);
  const PromptStatistics none = matrix_statistics({}, 0);
  CHECK(none.responses == 0);
  CHECK(std::isnan(none.mean));
}

TEST_CASE("statistics of a table's prompts use complete columns and leave out responses without a score") {
  ScoreTable table;
  table.values = {1, 2, 3, 4, 5};
  add(table, {{1, 2, 3}, {2, 3, 4}, {5, 5, 4}});
  add(table, {{1, 2, 3}, {2, blank, 4}, {5, 5, 4}});                       // column 1 is missing once
  add(table, {{1, 2, 3}, {2, ScoreTable::unreadable, 4}, {5, 5, 4}});      // and unreadable once
  add(table, {{1, 2, 3}, {blank, blank, blank}, {5, 5, 4}});               // a response without a rating
  add(table, {{1, 2, 3}, {ScoreTable::unreadable, blank, 0}, {5, 5, 4}});  // and one without a readable one
  add(table, {{1, blank}, {blank, 2}});                                    // no common column
  add(table, {{blank}, {blank}});
  add(table, {});
  const auto got = prompt_statistics(table);
  REQUIRE(got.size() == 8);
  CHECK(got[0].w == matrix_statistics(flat({{1, 2, 3}, {2, 3, 4}, {5, 5, 4}}), 3).w);
  for (const std::size_t p : {std::size_t{1}, std::size_t{2}}) {
    CHECK(got[p].columns == 2);
    CHECK(got[p].w == matrix_statistics(flat({{1, 3}, {2, 4}, {5, 4}}), 2).w);
  }
  for (const std::size_t p : {std::size_t{3}, std::size_t{4}}) {
    CHECK(got[p].responses == 2);
    CHECK(got[p].columns == 3);
    CHECK(got[p].w == 1);
    CHECK(got[p].flip == 0);
  }
  for (std::size_t p = 5; p < 8; ++p) {
    CHECK(got[p].columns == 0);
    CHECK(std::isnan(got[p].w));
    CHECK(std::isnan(got[p].row_sd));
  }
}
