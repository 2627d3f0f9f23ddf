// What a thread of a batched run's block does for a group of integer scores, on the host, against the batch form: the same bits for every
// estimator, scale and size of group.
#include "estimators/group/block_groups.hpp"

#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "estimators/batch.hpp"
#include "tests/catch.hpp"
#include "tests/estimators/configs.hpp"

using namespace odrpo;

namespace {

// An estimator and groups for it.
struct Case {
  EstimatorConfig config;
  int levels, rollouts, groups;
  std::vector<std::uint8_t> score;
};

std::string text_of(const Case& c) {
  return odrpo::text_of(c.config) + ", G " + std::to_string(c.rollouts) + ", K " + std::to_string(c.levels) + ", groups " +
         std::to_string(c.groups);
}

// Every config on a scale, with groups of every spread from all equal to uniform; 0 is a score too where `zeros`.
std::vector<Case> cases(int levels, int rollouts, int groups, unsigned seed) {
  std::vector<Case> all;
  std::mt19937 random(seed);
  for (const EstimatorConfig& config : every_config()) {
    Case c{config, levels, rollouts, groups, std::vector<std::uint8_t>(static_cast<std::size_t>(groups) * rollouts)};
    for (int g = 0; g < groups; ++g) {
      const int span = 1 + static_cast<int>(random() % (levels + 1)), low = static_cast<int>(random() % (levels + 2 - span));
      for (int i = 0; i < rollouts; ++i)
        c.score[static_cast<std::size_t>(g) * rollouts + i] = static_cast<std::uint8_t>(low + random() % span);
    }
    all.push_back(std::move(c));
  }
  return all;
}

BatchEstimator estimator_of(const Case& c) {
  BatchEstimator estimator(c.config, c.levels, c.rollouts);
  if (estimator.needs_median()) estimator.set_median(0.5 + 0.5 * c.levels);
  return estimator;
}

// Scales and sizes of group: the usual ones, their neighbours, the largest.
struct Shape {
  int levels, rollouts;
};
constexpr Shape shapes[] = {{10, 8},  {5, 16}, {5, 8},  {10, 16}, {1, 8},  {2, 16},  {3, 8},  {16, 8},  {16, 16},  {17, 8},
                                   {17, 16}, {10, 1}, {10, 2}, {9, 3},   {10, 7}, {10, 12}, {4, 31}, {100, 8}, {100, 64}, {100, 255}};

}  // namespace

TEST_CASE("what a thread of a block does for a group gives the bits of the batch form") {
  unsigned seed = 1;
  for (const auto [levels, rollouts] : shapes) {
    if (rollouts == 1) continue;  // read from a table
    for (const Case& c : cases(levels, rollouts, rollouts > 50 ? 40 : 300, seed++)) {
      if (only_on_host(c.config.form)) continue;
      const BatchEstimator estimator = estimator_of(c);
      std::vector<float> want(c.score.size()), got(c.score.size(), 1e30f);
      estimator(estimator_stages(best_isa()), c.score.data(), static_cast<std::size_t>(c.groups), want.data());
      const int stride = 3;  // other threads' columns lie between; shared memory begins as garbage
      std::vector<std::uint32_t> shared(static_cast<std::size_t>(device::column_rows(levels)) * stride, 0xdeadbeefu);
      for (int g = 0; g < c.groups; ++g) {
        const device::ScoreColumn column{shared.data() + g % stride, stride};
        const std::size_t first = static_cast<std::size_t>(g) * rollouts;
        device::prepare(estimator.view(), c.score.data() + first, column);
        for (int i = 0; i < rollouts; ++i) got[first + i] = device::member(column, c.score[first + i]);
      }
      INFO(text_of(c));
      REQUIRE(std::memcmp(want.data(), got.data(), want.size() * sizeof(float)) == 0);
    }
  }
}

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
      if (whole_only(config) || only_on_host(config.form)) continue;
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
