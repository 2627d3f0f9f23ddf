// The functors that a GPU runs, lane by lane on the host, against the batch form: the same bits for every estimator, scale and size.
#include "estimators/group_pass.hpp"

#include "tests/catch.hpp"
#include "tests/estimators/host_groups.hpp"

using namespace odrpo;

TEST_CASE("what a device does for a group gives the bits of the batch form") {
  unsigned seed = 1;
  for (const auto [levels, rollouts] : host_backend::shapes)
    for (const host_backend::Case& c : host_backend::cases(levels, rollouts, rollouts > 50 ? 40 : 300, seed++)) {
      const BatchEstimator estimator = host_backend::estimator_of(c);
      std::vector<float> want(c.score.size()), got(c.score.size(), 1e30f);
      estimator(estimator_stages(best_isa()), c.score.data(), c.groups, want.data());
      host_backend::estimate(estimator, c.score.data(), c.groups, got.data());
      INFO(host_backend::text_of(c));
      REQUIRE(std::memcmp(want.data(), got.data(), want.size() * sizeof(float)) == 0);
    }
}

TEST_CASE("scores in words are counted, added and squared as bytes") {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    std::uint8_t score[16];
    const int top = 1 + static_cast<int>(random() % (round % 2 ? 127 : 31));
    for (auto& s : score) s = static_cast<std::uint8_t>(random() % (top + 1));
    group_pass::Packed<16> packed;
    std::memcpy(packed.word, score, 16);
    const group_pass::Sums sums = group_pass::sums(packed), loose = group_pass::sums(group_pass::Loose{score, 16});
    REQUIRE(sums.score == loose.score);
    REQUIRE(sums.square == loose.square);
    for (int k = 1; top < 32 && k < 32; ++k) {
      int count = 0;
      for (int i = 0; i < 16; ++i) count += score[i] >= k;
      REQUIRE(group_pass::reach(packed, k) == count);
    }
  }
}
