// max-at-k and max-at-k-centred against the mean over subsets that defines it, and against the gradient of the expected maximum.
#include <algorithm>
#include <cmath>
#include <random>
#include <tuple>
#include <vector>

#include "estimators/batch.hpp"
#include "estimators/definition.hpp"
#include "estimators/group/entries.hpp"
#include "kernels/shared/failure.hpp"
#include "tests/catch.hpp"
#include "tests/estimators/configs.hpp"

using namespace odrpo;

namespace {

EstimatorConfig best_of(const char* word, int k) {
  EstimatorConfig c = estimator_named(word);
  c.k = k;
  return c;
}

/// Calls with every subset of `size` of the members in `from`, by their numbers.
template <class F>
void for_each_subset(const std::vector<int>& from, std::size_t size, F f, std::vector<int> chosen = {}, std::size_t next = 0) {
  if (chosen.size() == size) return f(chosen);
  for (std::size_t i = next; i < from.size(); ++i) {
    chosen.push_back(from[i]);
    for_each_subset(from, size, f, chosen, i + 1);
    chosen.pop_back();
  }
}

double largest(const Values& rewards, const std::vector<int>& of) {
  double most = -1e300;
  for (const int i : of) most = std::max(most, rewards[static_cast<std::size_t>(i)]);
  return most;
}

/// Members 0..n-1 without some.
std::vector<int> all_but(std::size_t n, int out) {
  std::vector<int> others;
  for (int i = 0; i < static_cast<int>(n); ++i)
    if (i != out) others.push_back(i);
  return others;
}

/// Mean over the k-subsets T that contain i of max T - max(T without i).
Values by_subsets(const Values& rewards, int k) {
  Values out;
  for (int i = 0; i < static_cast<int>(rewards.size()); ++i) {
    double sum = 0, count = 0;
    for_each_subset(all_but(rewards.size(), i), static_cast<std::size_t>(k - 1), [&](std::vector<int> rest) {
      const double without = largest(rewards, rest);
      rest.push_back(i);
      sum += largest(rewards, rest) - without;
      count += 1;
    });
    out.push_back(sum / count);
  }
  return out;
}

/// Mean of max T over the k-subsets T that contain i, less the mean over those that do not.
Values by_subsets_centred(const Values& rewards, int k) {
  Values out;
  for (int i = 0; i < static_cast<int>(rewards.size()); ++i) {
    double with = 0, without = 0, of_with = 0, of_without = 0;
    for_each_subset(all_but(rewards.size(), i), static_cast<std::size_t>(k - 1), [&](std::vector<int> rest) {
      rest.push_back(i);
      with += largest(rewards, rest), of_with += 1;
    });
    for_each_subset(all_but(rewards.size(), i), static_cast<std::size_t>(k),
                    [&](const std::vector<int>& others) { without += largest(rewards, others), of_without += 1; });
    out.push_back(with / of_with - without / of_without);
  }
  return out;
}

void check_close(const Values& got, const Values& want, double tolerance = 1e-12) {
  REQUIRE(got.size() == want.size());
  for (std::size_t i = 0; i < got.size(); ++i) CHECK(std::abs(got[i] - want[i]) <= tolerance * (1 + std::abs(want[i])));
}

/// Groups of whole levels with ties, and of real rewards.
template <class F>
void for_each_group(F f) {
  const unsigned seed = 20261122;
  CAPTURE(seed);
  std::mt19937 g(seed);
  for (int round = 0; round < 60; ++round) {
    Values rewards(3 + g() % 6);
    for (double& r : rewards) r = round % 2 == 0 ? 1.0 + static_cast<double>(g() % 5) : static_cast<double>(g() % 1000) / 100 - 2;
    f(rewards);
  }
}

/// E over groups of `size` iid rewards of sum_i A_i d ln p(x_i) / d theta_b, of a softmax with probabilities p over arms of those rewards;
/// and the derivative of the expected maximum of k.
struct Gradient {
  Values expected, of_maximum;
};
Gradient gradient_of(const EstimatorConfig& c, const Values& reward, const Values& p, int size) {
  const std::size_t arms = reward.size();
  Gradient g{Values(arms), Values(arms)};
  const auto each = [&](int draws, auto use) {
    std::vector<std::size_t> arm(static_cast<std::size_t>(draws), 0);
    for (;;) {
      double probability = 1;
      for (const std::size_t a : arm) probability *= p[a];
      use(arm, probability);
      std::size_t at = 0;
      while (at < arm.size() && ++arm[at] == arms) arm[at++] = 0;
      if (at == arm.size()) return;
    }
  };
  each(size, [&](const std::vector<std::size_t>& arm, double probability) {
    Values group;
    for (const std::size_t a : arm) group.push_back(reward[a]);
    const Values advantage = run(c, group);
    for (std::size_t i = 0; i < arm.size(); ++i)
      for (std::size_t b = 0; b < arms; ++b) g.expected[b] += probability * advantage[i] * ((arm[i] == b) - p[b]);
  });
  each(c.k, [&](const std::vector<std::size_t>& arm, double probability) {
    double most = -1e300;
    for (const std::size_t a : arm) most = std::max(most, reward[a]);
    for (const std::size_t a : arm)
      for (std::size_t b = 0; b < arms; ++b) g.of_maximum[b] += probability * most * ((a == b) - p[b]);
  });
  return g;
}

void check_gradient(const char* word) {
  std::mt19937 g(7);
  for (const auto& [arms, size] : {std::pair{3, 4}, {3, 5}, {4, 4}, {2, 7}})
    for (int k = 2; k < size; ++k) {
      Values reward(static_cast<std::size_t>(arms)), p(reward.size());
      double sum = 0;
      for (std::size_t a = 0; a < p.size(); ++a) {
        reward[a] = static_cast<double>(g() % 40) / 8;
        sum += p[a] = 0.1 + static_cast<double>(g() % 100) / 100;
      }
      for (double& x : p) x /= sum;
      const Gradient gradient = gradient_of(best_of(word, k), reward, p, size);
      CAPTURE(word, size, k, reward, p);
      for (std::size_t b = 0; b < p.size(); ++b)
        CHECK(gradient.expected[b] == Approx(size / static_cast<double>(k) * gradient.of_maximum[b]).margin(1e-12));
    }
}

void check_invariances(const char* word) {
  for_each_group([&](const Values& rewards) {
    for (int k = 2; k < static_cast<int>(rewards.size()); ++k) {
      const EstimatorConfig c = best_of(word, k);
      const Values a = run(c, rewards);
      Values moved, turned(rewards.rbegin(), rewards.rend());
      for (const double r : rewards) moved.push_back(3 * r + 20);
      Values thrice, back = run(c, turned);
      for (const double x : a) thrice.push_back(3 * x);
      std::reverse(back.begin(), back.end());
      check_close(run(c, moved, 100), thrice, 1e-11);
      check_close(back, a);
      for (std::size_t i = 0; i < a.size(); ++i)
        for (std::size_t j = 0; j < a.size(); ++j)
          if (rewards[i] <= rewards[j]) CHECK(a[i] <= a[j]);
    }
  });
}

}  // namespace

TEST_CASE("max-at-k is the mean over subsets of what a member adds to their maximum") {
  check_close(run(best_of("max-at-k", 2), {1, 2, 3, 5}), {0, 1 / 3.0, 1, 3});
  check_close(run(best_of("max-at-k", 3), {1, 2, 3, 5}), {0, 0, 1 / 3.0, 7 / 3.0});
  check_close(run(best_of("max-at-k", 4), {3, 7, 7, 8, 8, 1, 7, 10}), {0, 0, 0, 2 / 7.0, 2 / 7.0, 0, 0, 16 / 7.0});
  for_each_group([](const Values& rewards) {
    for (int k = 2; k < static_cast<int>(rewards.size()); ++k) check_close(run(best_of("max-at-k", k), rewards), by_subsets(rewards, k));
  });
}

TEST_CASE("max-at-k-centred is the maximum of subsets with a member, less that of subsets without") {
  check_close(run(best_of("max-at-k-centred", 2), {1, 2, 3, 5}), {-1, -1, -1 / 3.0, 7 / 3.0});
  check_close(run(best_of("max-at-k-centred", 3), {1, 2, 3, 5}), {-2 / 3.0, -2 / 3.0, -2 / 3.0, 2});
  check_close(run(best_of("max-at-k-centred", 7), {3, 7, 7, 8, 8, 1, 7, 10}),
              {-2 / 7.0, -2 / 7.0, -2 / 7.0, -2 / 7.0, -2 / 7.0, -2 / 7.0, -2 / 7.0, 2});
  for_each_group([](const Values& rewards) {
    for (int k = 2; k < static_cast<int>(rewards.size()); ++k) {
      const Values a = run(best_of("max-at-k-centred", k), rewards);
      check_close(a, by_subsets_centred(rewards, k));
      double sum = 0;
      for (const double x : a) sum += x;
      CHECK(std::abs(sum) < 1e-12);
    }
  });
}

TEST_CASE("the expected sum of max-at-k is G/k times the gradient of the expected maximum") {
  check_gradient("max-at-k");
  check_gradient("max-at-k-centred");
}

TEST_CASE("max-at-k follows scale, ignores shift and order, and never pays a lower reward more") {
  check_invariances("max-at-k");
  check_invariances("max-at-k-centred");
}

TEST_CASE("a group of fewer than k, or of equal rewards, gets zeros from max-at-k") {
  CHECK(run(best_of("max-at-k", 4), {1, 7, 9}) == Values(3, 0.0));
  CHECK(run(best_of("max-at-k", 4), {4, 4, 4, 4, 4}) == Values(5, 0.0));
  CHECK(run(best_of("max-at-k", 4), {5}) == Values(1, 0.0));
  CHECK(run(best_of("max-at-k-centred", 4), {1, 7, 9, 3}) == Values(4, 0.0));
  CHECK(run(best_of("max-at-k-centred", 4), {1, 7}) == Values(2, 0.0));
}

TEST_CASE("max-at-k in batches of every kind is its definition") {
  for (const auto& [levels, members, word] : {std::tuple{10, 8, "max-at-k"},
                                              {5, 16, "max-at-k-centred"},
                                              {10, 5, "max-at-k-centred"},
                                              {100, 33, "max-at-k"},
                                              {10, 8, "max-at-k-centred"}}) {
    std::mt19937 g(3);
    const EstimatorConfig c = best_of(word, 3);
    const std::size_t n = static_cast<std::size_t>(members), groups = 50;
    std::vector<std::uint8_t> score(groups * n);
    for (auto& s : score) s = static_cast<std::uint8_t>(g() % static_cast<unsigned>(levels + 1));
    BatchEstimator plain(c, levels, members), table = plain;
    table.expect(1e9, best_isa());
    std::vector<float> by_pass(score.size()), by_table(score.size()), by_reals(score.size());
    const std::vector<float> rewards(score.begin(), score.end());
    plain(estimator_stages(best_isa()), score.data(), static_cast<int>(groups), by_pass.data());
    table(estimator_stages(best_isa()), score.data(), static_cast<int>(groups), by_table.data());
    plain.real(rewards.data(), static_cast<int>(groups), by_reals.data());
    CHECK(by_table == by_pass);
    for (std::size_t at = 0; at < score.size(); at += n) {
      const Values want = run(c, Values(score.begin() + static_cast<long>(at), score.begin() + static_cast<long>(at + n)), levels);
      for (std::size_t i = 0; i < n; ++i) {
        CHECK(by_pass[at + i] == Approx(want[i]).epsilon(1e-5).margin(1e-5));
        CHECK(by_reals[at + i] == Approx(want[i]).epsilon(1e-6).margin(1e-6));
      }
    }
  }
}

namespace {

const EstimatorConfig mc_grpo = estimator_named("mc-grpo");

Values run(const Values& rewards) { return run(mc_grpo, rewards); }

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
