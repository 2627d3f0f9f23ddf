// Compares advantages of groups of a dump with the definition of every form, under every convention, for groups of any size with missing rewards.
#include <cmath>
#include <limits>
#include <random>

#include "estimators/batch_forms.hpp"
#include "estimators/definition.hpp"
#include "estimators/level_values.hpp"
#include "kernels/shared/failure.hpp"
#include "tests/catch.hpp"
#include "train/rollouts/advantages.hpp"

using namespace odrpo;

namespace {

using Values = std::vector<double>;
constexpr double missing = std::numeric_limits<double>::quiet_NaN();

/// Groups of one step, of 1 to 9 rewards each, one in ten missing.
struct DrawnStep {
  std::vector<RolloutGroup> groups;
  Values rewards, length;

  DrawnStep(std::mt19937& random, const Values& worth) {
    for (int g = 0; g < 12; ++g) {
      RolloutGroup group{3, static_cast<std::uint32_t>(g), static_cast<std::uint32_t>(rewards.size()), static_cast<std::uint32_t>(1 + random() % 9)};
      const std::size_t some = 1 + random() % worth.size();  // few different rewards make ties and dead groups
      for (std::uint32_t i = 0; i < group.count; ++i) {
        rewards.push_back(random() % 10 == 0 ? missing : worth[random() % some]);
        length.push_back(1 + random() % 40);
      }
      groups.push_back(group);
    }
  }
};

/// The scale as the definition reads it: rewards as levels, whose values the config has; for forms of rewards the rewards themselves.
Values by_definition(EstimatorConfig config, const Values& scale, std::span<const double> rewards) {
  Values present, made(rewards.size(), 0);
  for (const double r : rewards)
    if (r == r) present.push_back(reads_levels(config) ? level_on(scale, r) : r);
  if (reads_levels(config) && is_spaced(scale)) config = with_values(config, scale);
  Values out(present.size());
  if (!present.empty()) advantages(config, static_cast<int>(scale.size()), present, no_median, out);
  std::size_t n = 0;
  for (std::size_t i = 0; i < rewards.size(); ++i)
    if (rewards[i] == rewards[i]) made[i] = out[n++];
  return made;
}

}  // namespace

TEST_CASE("Groups of a dump get the advantages of the definition, whatever their size and scale") {
  std::mt19937 random(51);
  const std::vector<Values> scales = {{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, {0, 1}, {-1, -0.5, 0, 0.5, 1}, {0, 0.25, 0.5, 0.75, 1}, {0, 1, 2, 7}};
  for (const Values& scale : scales)
    for (const std::string_view word : estimator_catalogue())
      for (const auto& compat : compat_words) {
        EstimatorConfig config = estimator_named(word);
        config.compat = compat.value;
        if (compat_refusal(config)) continue;
        const DrawnStep drawn(random, scale);
        GroupAdvantages made(config, scale, 9);
        Values out(drawn.rewards.size(), missing);
        made.step(drawn.groups, drawn.rewards, {}, out);
        for (const RolloutGroup& g : drawn.groups) {
          const auto rewards = std::span(drawn.rewards).subspan(g.first, g.count);
          const Values expected = by_definition(config, scale, rewards);
          for (std::size_t i = 0; i < g.count; ++i) {
            INFO(word << " of " << compat.word << " on " << scale.size() << " levels, group " << g.prompt << " member " << i);
            REQUIRE(std::fabs(out[g.first + i] - expected[i]) <= 1e-9 * std::max(1.0, std::fabs(expected[i])));
          }
        }
      }
}

TEST_CASE("Forms of the batch and of lengths read all groups of a step of a dump") {
  std::mt19937 random(52);
  const Values scale = {1, 2, 3, 4, 5};
  for (const std::string_view word : batch_catalogue()) {
    const EstimatorConfig config = estimator_named(word);
    const DrawnStep drawn(random, scale);
    GroupAdvantages made(config, scale, 9);
    Values out(drawn.rewards.size(), missing), padded(drawn.groups.size() * 9, missing), expected(padded.size());
    std::vector<int> lengths(padded.size(), 1);
    made.step(drawn.groups, drawn.rewards, drawn.length, out);
    for (std::size_t g = 0; g < drawn.groups.size(); ++g)
      for (std::size_t i = 0; i < drawn.groups[g].count; ++i) {
        padded[g * 9 + i] = drawn.rewards[drawn.groups[g].first + i];
        lengths[g * 9 + i] = static_cast<int>(drawn.length[drawn.groups[g].first + i]);
      }
    batch_advantages(config, 5, 9, padded, row_of(config.form).reads == Reads::lengths ? std::span<const int>(lengths) : std::span<const int>(), expected);
    for (std::size_t g = 0; g < drawn.groups.size(); ++g)
      for (std::size_t i = 0; i < drawn.groups[g].count; ++i) {
        INFO(word << ", group " << g << " member " << i);
        REQUIRE(std::fabs(out[drawn.groups[g].first + i] - expected[g * 9 + i]) < 1e-12);
      }
  }
}

TEST_CASE("Real rewards need no scale for forms of rewards, and forms of levels are refused without one") {
  Values out(3);
  GroupAdvantages grpo(estimator_named("reinforce"), {}, 3);
  grpo.group(Values{0.125, -3.5, 7}, out);
  CHECK(std::fabs(out[0] - (0.125 - 3.625 / 3)) < 1e-15);
  CHECK_THROWS_AS(GroupAdvantages(estimator_named("odrpo(grpo)"), {}, 3), Failure);
  CHECK_THROWS_AS(GroupAdvantages(estimator_named("posterior(grpo)"), Values{1, 2}, 3), Failure);
  CHECK_THROWS_AS(GroupAdvantages(estimator_named("grpo"), {}, most_scores + 1), Failure);
  GroupAdvantages levels(estimator_named("odrpo(grpo)"), Values{0, 1}, 3);
  CHECK_THROWS_AS(levels.group(Values{0, 0.5, 1}, out), Failure);
  GroupAdvantages opo(estimator_named("opo"), {}, 3);
  CHECK_THROWS_AS(opo.group(Values{0, 1, 1}, out), Failure);
  const std::vector<RolloutGroup> one = {{1, 0, 0, 3}};
  CHECK_THROWS_AS(opo.step(one, Values{0, 1, 1}, Values{5, missing, 2}, out), Failure);
  opo.step(one, Values{0, missing, 1}, Values{5, missing, 2}, out);  // no reward, no length wanted
  CHECK(std::fabs(out[0] + 2.0 / 7) < 1e-15);
  CHECK(out[1] == 0);
}

TEST_CASE("Large groups, and levels that differ by rounding") {
  std::mt19937 random(53);
  Values scale, rewards(3000), out(3000);
  for (int k = 0; k <= 10; ++k) scale.push_back(k / 10.0);
  for (double& r : rewards) r = 0.1 * static_cast<double>(random() % 11);  // 3 * 0.1 != 0.3
  for (const char* word : {"odrpo-gini-median(maxrl)", "grpo", "maxrl"}) {
    const EstimatorConfig config = estimator_named(word);
    GroupAdvantages made(config, scale, 3000);
    made.group(rewards, out);
    const Values expected = by_definition(config, scale, rewards);
    for (std::size_t i = 0; i < out.size(); ++i) REQUIRE(std::fabs(out[i] - expected[i]) <= 1e-9 * std::max(1.0, std::fabs(expected[i])));
  }
}
