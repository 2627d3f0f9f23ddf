// Batches of integer scores have the same bits as group::estimate() of each group, for every form, on many sizes and instruction sets.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <random>
#include <vector>

#include "estimators/batch.hpp"
#include "estimators/group/group.hpp"
#include "tests/catch.hpp"
#include "tests/estimators/configs.hpp"
#include "tests/isas.hpp"

using namespace odrpo;

TEST_CASE("advantages of a batch have the bits of group::estimate, of all sizes, scores from 0, and numbers of groups that no vector holds") {
  const unsigned seed = 20261129;
  std::mt19937 g(seed);
  INFO("seed " << seed);
  for (const EstimatorConfig& c : every_config())
    for (const auto& [levels, members] : {std::pair{20, 8}, {100, 8}, {17, 16}, {10, 16}, {10, 8}, {1, 5}, {10, 7}, {33, 31}, {100, 127}, {100, 128}, {3, 255}}) {
      if (whole_only(c) && levels < 2) continue;
      BatchEstimator estimator(c, levels, members);
      if (estimator.needs_median()) estimator.set_median(0.37 * levels);
      const int groups = 21;
      std::vector<std::uint8_t> score(static_cast<std::size_t>(groups * members));
      std::vector<float> want(score.size()), got(score.size());
      for (int j = 0; j < groups; ++j) {
        const unsigned low = g() % static_cast<unsigned>(levels + 1), spread = 1 + g() % (static_cast<unsigned>(levels) + 1 - low);
        std::int32_t reached[102] = {};
        float by_score[101];
        const int first = j * members;
        for (int i = first; i < first + members; ++i) ++reached[score[i] = static_cast<std::uint8_t>(low + g() % spread)];
        for (int k = levels; k >= 0; --k) reached[k] += reached[k + 1];
        group::estimate<group::WholeNumbers>(estimator.view(), group::WideScores{reached, levels}, group::Array<float>{by_score});
        for (int i = first; i < first + members; ++i) want[i] = by_score[score[i]];
      }
      for (const Isa isa : isas()) {
        estimator_stages(isa).estimate(estimator.view(), score.data(), groups, got.data());
        INFO(isa_name(isa) << " " << text_of(c) << " levels " << levels << " members " << members);
        CHECK(std::equal(want.begin(), want.end(), got.begin(),
                         [](float a, float b) { return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b); }));
      }
    }
}
