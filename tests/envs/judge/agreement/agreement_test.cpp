// Agreement statistics: textbook cases, orientation, ties, undefined cases, and rank flips against literal counting.
#include "envs/judge/agreement/agreement.hpp"

#include <cmath>
#include <random>
#include <vector>

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
