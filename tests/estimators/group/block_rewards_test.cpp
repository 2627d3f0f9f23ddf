// Groups of real rewards as a block's threads estimate them, against the batch form: every convention, gaps, columns of any stride.
#include "estimators/group/block_groups.hpp"

#include <cmath>
#include <random>
#include <vector>

#include "estimators/batch.hpp"
#include "tests/catch.hpp"
#include "tests/estimators/configs.hpp"

using namespace odrpo;

namespace {

// What the phases of a block make of one group.
template <class T>
std::vector<float> by_lane(const EstimatorView& e, const std::vector<T>& seen) {
  const int n = static_cast<int>(seen.size()), stride = 3;
  std::vector<double> memory(static_cast<std::size_t>(2 * n * stride), 1e300);
  const device::Cells reward{memory.data() + 1, stride}, to{memory.data() + 1 + n * stride, stride};
  int count = 0;
  for (const T s : seen)
    if (present(s)) reward[count++] = static_cast<double>(s);
  const Range<T> range = range_of(seen.data(), n);
  std::vector<float> out(seen.size(), 0.0f);
  if (!group::teaches(e, range.low == range.high, count)) return out;
  for (int i = count - 1; i >= 0; --i) device::place_member(e, reward, to, count, i);
  device::estimate_group(e, to, reward, count);
  for (int i = 0; i < n; ++i)
    if (present(seen[i])) out[i] = static_cast<float>(reward[device::place_of(e, seen.data(), i, n)]);
  return out;
}

}  // namespace

TEST_CASE("a block's groups of real rewards and of scores with gaps have the bits of the batch form") {
  std::mt19937 g(5);
  for (const EstimatorConfig& config : every_config())
    for (const auto& [rollouts, levels] : {std::pair{2, 3}, {8, 10}, {9, 10}, {33, 100}}) {
      if (whole_only(config)) continue;  // on the host alone
      BatchEstimator batch(config, levels, rollouts);
      if (batch.needs_median()) batch.set_median(0.5 * levels);
      const EstimatorView& e = batch.view();
      bool same = true;
      for (int trial = 0; trial < 24; ++trial) {
        const unsigned gaps = trial % 4 == 0 ? 1000 : 2 + g() % 4, values = 1 + g() % 30;  // a gap in so many; different values
        std::vector<float> real(static_cast<std::size_t>(rollouts)), want(real.size());
        std::vector<std::uint8_t> score(real.size());
        for (std::size_t i = 0; i < real.size(); ++i) {
          real[i] = g() % gaps == 0 ? std::nanf("") : static_cast<float>(g() % values) * static_cast<float>(levels) / 30.0f;
          score[i] = g() % gaps == 0 ? no_score : static_cast<std::uint8_t>(g() % values * static_cast<unsigned>(levels) / 30);
        }
        batch.real(real.data(), 1, want.data());
        same = same && by_lane(e, real) == want;
        score[g() % score.size()] = no_score;
        batch.with_gaps(estimator_stages(Isa::portable), score.data(), 1, want.data());
        same = same && by_lane(e, score) == want;
      }
      INFO(text_of(config) << ", G " << rollouts << ", K " << levels);
      CHECK(same);
    }
}
