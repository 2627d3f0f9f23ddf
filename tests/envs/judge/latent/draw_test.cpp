// Scores drawn from a latent scale against its definition, and against themselves: any number of prompts, any judge, one set of bits.
#include "envs/judge/latent/draw.hpp"

#include <cmath>
#include <random>
#include <string>

#include "kernels/shared/failure.hpp"
#include "tests/catch.hpp"
#include "tests/envs/judge/latent/latent_judges.hpp"

using namespace odrpo;

namespace {

/// Two judges on 1..3, with every part of the model at work.
LatentScale pair() { return latent_judge(0.4, 0.4, 0.5, 0.6, 3, {0.2, 0.5, 0.3, 0.5, 0.3, 0.2}); }

/// A prompt of two responses, two calls of each judge: the shares of pairs of levels, [case][first level - 1][second level - 1].
struct Joint {
  double share[4][3][3] = {};                               // same judge twice; two judges; two responses by one judge; by two judges
  void add(const std::vector<int>& level, double weight) {  // [response][judge][call]
    const auto put = [&](int which, int a, int b) { share[which][level[a] - 1][level[b] - 1] += weight; };
    put(0, 0, 1), put(1, 0, 2), put(2, 0, 4), put(3, 1, 7);
  }
};

std::string levels_of(const ScoreTable& table) {
  std::string text;
  for (const auto level : table.level) text += static_cast<char>('0' + level);
  return text;
}

}  // namespace

TEST_CASE("drawn scores have the joint frequencies of the definition", "[latent]") {
  const LatentScale judge = pair();
  const int n = 200'000;
  Joint drawn, literal;
  const DrawnScores scores = draw_scores(judge, ScoreShape{n, 2, 2}, 20261201);
  REQUIRE(scores.table.level.size() == std::size_t{n} * 8);
  REQUIRE(scores.place.size() == std::size_t{n} * 2);
  double mean = 0, square = 0, product = 0;
  for (int p = 0; p < n; ++p) {
    const auto at = scores.table.level.begin() + 8 * p;
    drawn.add({at, at + 8}, 1.0 / n);
    const double a = scores.place[2 * static_cast<std::size_t>(p)], b = scores.place[2 * static_cast<std::size_t>(p) + 1];
    mean += a / n, square += a * a / n, product += a * b / n;
  }
  CHECK(std::abs(mean) < 4.5 / std::sqrt(n));
  CHECK(std::abs(square - 1) < 4.5 * std::sqrt(2.0 / n));
  CHECK(std::abs(product - judge.prompt_share) < 4.5 * std::sqrt(1.2 / n));

  std::mt19937_64 random(20261202);
  std::normal_distribution<double> normal;
  for (int p = 0; p < n; ++p) {
    const double b = normal(random);
    std::vector<int> level;
    for (int r = 0; r < 2; ++r) {
      const double x = std::sqrt(judge.prompt_share) * b + std::sqrt(1 - judge.prompt_share) * normal(random);
      const double s = std::exp(judge.spread * normal(random));
      for (int j = 0; j < 2; ++j) {
        const double u = normal(random);
        for (int call = 0; call < 2; ++call) {
          const double y = x + s * (judge.judge_sigma * u + judge.sigma * normal(random));
          level.push_back(1);
          for (const double t : judge.thresholds(j)) level.back() += y > t;
        }
      }
    }
    literal.add(level, 1.0 / n);
  }
  for (int which = 0; which < 4; ++which)
    for (int a = 0; a < 3; ++a)
      for (int b = 0; b < 3; ++b) {
        const double x = drawn.share[which][a][b], y = literal.share[which][a][b];
        INFO("case " << which << ", levels " << a + 1 << " and " << b + 1 << ": drawn " << x << ", literal " << y);
        CHECK(std::abs(x - y) < 4.5 * std::sqrt(2 * y * (1 - y) / n));
      }
}

TEST_CASE("a prompt's scores do not depend on how many prompts there are", "[latent]") {
  const LatentScale judge = pair();
  const std::string few = levels_of(draw_scores(judge, ScoreShape{3, 4, 2}, 7).table),
                    many = levels_of(draw_scores(judge, ScoreShape{9, 4, 2}, 7).table);
  CHECK(many.substr(0, few.size()) == few);
  CHECK(levels_of(draw_scores(judge, ScoreShape{3, 4, 2}, 8).table) != few);
  CHECK(few.substr(0, 48) == "332222122233331233333333333323221111222123321111");  // the same bits on every machine
}

TEST_CASE("a drawn table is as a reader would make it", "[latent]") {
  const ScoreTable table = draw_scores(pair(), ScoreShape{5, 4, 3}, 7).table;
  CHECK(table.values == std::vector<double>{1, 2, 3});
  REQUIRE(table.judges.size() == 2);
  CHECK(table.judges[1].name == "2");
  CHECK(table.judges[1].ratings == 60);
  REQUIRE(table.columns.size() == 6);
  CHECK(table.columns[3].judge == 1);
  CHECK(table.columns[3].sample == "1");
  REQUIRE(table.prompts.size() == 5);
  CHECK(table.prompts[4].id == "5");
  for (const auto& prompt : table.prompts) {
    CHECK(complete_columns(table, prompt).size() == 6);
    for (const auto& response : table.responses_of(prompt)) CHECK(response.count == 6);
  }
  CHECK(draw_scores(single_judge(), ScoreShape{1, 1, 2}, 7).table.judges[0].name.empty());
  CHECK_THROWS_AS(draw_scores(pair(), ScoreShape{65536, 65536, 1}, 7), Failure);
}

TEST_CASE("scores are drawn in the shape of a table, without what it lacks", "[latent]") {
  ScoreTable like = draw_scores(pair(), ScoreShape{4, 3, 2}, 7).table;
  like.values = {0, 50, 100};
  like.level[5] = ScoreTable::unreadable;
  like.responses[2].count = 1;  // two calls of judge 2 and one of judge 1 are missing
  const DrawnScores drawn = draw_scores(pair(), like, 3, 9);
  CHECK(drawn.table.values == like.values);
  REQUIRE(drawn.table.prompts.size() == 12);
  CHECK(drawn.table.level.size() == 3 * (like.level.size() - 1 - 3));
  CHECK(drawn.table.responses[1].count == 3);
  CHECK(drawn.table.columns_of(drawn.table.responses[1])[1] == 2);
  CHECK(drawn.table.responses[12 + 2].count == 1);
  CHECK(drawn.place.size() == 36);
  for (const auto level : drawn.table.level) CHECK((level >= 1 && level <= 3));
}

TEST_CASE("scores of many judges from the same normals are those of each alone", "[latent]") {
  const ScoreTable like = draw_scores(pair(), ScoreShape{6, 4, 2}, 7).table;
  ScoreDraws draws(like, 2, 11);
  LatentScale other = pair();
  other.judge_sigma = 0, other.spread = 0, other.sigma = 0.1, other.prompt_share = 0;
  for (const LatentScale& judge : {pair(), other, pair()})
    CHECK(levels_of(draws.scores(judge)) == levels_of(draw_scores(judge, like, 2, 11).table));
}
