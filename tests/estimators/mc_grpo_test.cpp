// mc-grpo on groups worked out by hand, its pivot, and what it leaves out of the update.
#include <cmath>
#include <random>
#include <vector>

#include "estimators/batch.hpp"
#include "estimators/definition.hpp"
#include "estimators/group/range.hpp"
#include "tests/catch.hpp"

using namespace odrpo;

namespace {

using Values = std::vector<double>;

const EstimatorConfig mc_grpo = estimator_named("mc-grpo");

Values run(const Values& rewards) {
  Values out(rewards.size());
  advantages(mc_grpo, 10, rewards, no_median, out);
  return out;
}

void check_close(const Values& got, const Values& want, double tolerance) {
  REQUIRE(got.size() == want.size());
  for (std::size_t i = 0; i < got.size(); ++i) CHECK(std::abs(got[i] - want[i]) <= tolerance * (1 + std::abs(want[i])));
}

}  // namespace

TEST_CASE("mc-grpo by hand") {
  const double a = 5 / 4.0 / 1.001, b = 9 / 6.0 / 1.001;
  check_close(run({7, 5, 6, 9, 2}), {a, -a, 0, 3 * a, -4 * a}, 1e-14);
  check_close(run({1, 7, 8, 8, 7, 7, 9, 10, 3}), {-6 * b, 0, b, b, 0, 0, 2 * b, 3 * b, -4 * b}, 1e-14);
  check_close(run({1, 7, 8, 8, 7, 7, 7, 10, 7}), {-13500, 0, 2250, 2250, 0, 0, 0, 6750, 0}, 1e-12);  // MAD = 0
  check_close(run({0, 0, 1, 0, 0}), {0, 0, 5000, 0, 0}, 1e-12);
  CHECK(run({4, 4, 4}) == Values(3, 0.0));
  const double c = 5 / 4.0 / (0.65 + 1e-3);
  check_close(run({0.2, -1.5, 0.25, 3.25, 0.9}), {-0.05 * c, -1.75 * c, 0, 3 * c, 0.65 * c}, 1e-14);
}

TEST_CASE("mc-grpo in batches of every kind is its definition") {
  std::mt19937 g(11);
  for (const auto& [levels, members] : {std::pair{10, 9}, {5, 3}, {10, 8}, {100, 33}}) {
    const std::size_t n = static_cast<std::size_t>(members), groups = 60;
    std::vector<std::uint8_t> score(groups * n);
    for (std::size_t i = 0; i < score.size(); ++i)
      score[i] = static_cast<std::uint8_t>(g() % static_cast<unsigned>(i / n % 2 == 0 ? levels + 1 : 3));  // half of them with many ties
    const std::vector<float> rewards(score.begin(), score.end());
    std::vector<float> whole(score.size()), reals(score.size());
    BatchEstimator batch(mc_grpo, levels, members);
    batch(estimator_stages(best_isa()), score.data(), static_cast<int>(groups), whole.data());
    batch.real(rewards.data(), static_cast<int>(groups), reals.data());
    for (std::size_t at = 0; at < score.size(); at += n) {
      const Values want = run(Values(score.begin() + static_cast<long>(at), score.begin() + static_cast<long>(at + n)));
      for (std::size_t i = 0; i < n; ++i) {
        CHECK(whole[at + i] == Approx(want[i]).epsilon(1e-6));
        CHECK(reals[at + i] == Approx(want[i]).epsilon(1e-6));
      }
    }
  }
}

TEST_CASE("the pivot is the first present rollout at the lower median, and leaves the update") {
  const std::uint8_t none = no_score;
  const std::uint8_t score[] = {1, 7, 8, 8, 7, 4, 4, 4, 4, 4, none, 2, none, 9, 5, none, none, none, none, none};
  CHECK(pivot_of(score, 5) == 1);
  CHECK(pivot_of(score + 5, 5) == 0);
  CHECK(pivot_of(score + 10, 5) == 4);
  CHECK(pivot_of(score + 15, 5) == -1);
  const float reward[] = {0.5f, 2.5f, 1.25f};
  CHECK(pivot_of(reward, 3) == 2);
  std::vector<std::uint8_t> kept(20);
  CHECK(fill_mask(score, 4, 5, false, kept.data()) == 13);
  leave_pivots_out(score, 4, 5, kept.data());
  CHECK(kept == std::vector<std::uint8_t>{1, 0, 1, 1, 1, 0, 1, 1, 1, 1, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0});
}
