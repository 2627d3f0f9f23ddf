// Moments of updates against sums over every group, the best map against a generic optimiser, and the expected cosine.
#include "estimators/theory/bound.hpp"

#include <cmath>
#include <functional>
#include <random>

#include "kernels/shared/failure.hpp"
#include "tests/catch.hpp"
#include "tests/estimators/theory/settings.hpp"

using namespace odrpo;

namespace {

/// Random prompts: score functions of a softmax policy's logits (own parameters), or of its features (shared ones).
BoundProblem random_problem(std::mt19937_64& g, int levels, int members, bool shared, int prompts, int batch) {
  const std::size_t actions = 4, features = 3;
  std::normal_distribution<double> normal;
  BoundProblem problem{levels, members, shared, batch, {}};
  std::vector<double> gradient(features);
  for (double& x : gradient) x = normal(g);
  for (int n = 0; n < prompts; ++n) {
    BoundPrompt prompt;
    prompt.policy = simplex_point(g, actions);
    for (std::size_t a = 0; a < actions; ++a) {
      const std::vector<double> row = simplex_point(g, static_cast<std::size_t>(levels));
      prompt.channel.insert(prompt.channel.end(), row.begin(), row.end());
    }
    const std::size_t parameters = shared ? features : actions;
    std::vector<double> x(actions * parameters), mean(parameters, 0.0);
    for (std::size_t a = 0; a < actions; ++a)
      for (std::size_t d = 0; d < parameters; ++d) {
        x[a * parameters + d] = shared ? normal(g) : a == d;
        mean[d] += prompt.policy[a] * x[a * parameters + d];
      }
    for (std::size_t i = 0; i < x.size(); ++i) x[i] -= mean[i % parameters];
    prompt.score = x;
    prompt.gradient = gradient;
    if (!shared) {
      prompt.gradient.clear();
      for (std::size_t a = 0; a < actions; ++a) prompt.gradient.push_back(prompt.policy[a] * normal(g));
    }
    problem.prompts.push_back(prompt);
  }
  return problem;
}

/// R of a map by every choice of actions and scores.
double efficiency_by_hand(const BoundProblem& problem, const HistogramIndex& index, std::span<const double> map) {
  const auto levels = static_cast<std::size_t>(problem.levels), members = static_cast<std::size_t>(problem.members);
  const std::size_t d = problem.parameters();
  double along = 0, square = 0, goal = 0;
  std::vector<double> mean(d, 0.0);
  for (const BoundPrompt& prompt : problem.prompts) {
    const double weight = 1.0 / static_cast<double>(problem.prompts.size());
    for (const double g : prompt.gradient) goal += weight * g * g;
    std::vector<std::size_t> action(members), score(members);
    const std::function<void(std::size_t, double)> visit = [&](std::size_t i, double p) {
      if (i < members) {
        for (action[i] = 0; action[i] < prompt.policy.size(); ++action[i])
          for (score[i] = 0; score[i] < levels; ++score[i])
            visit(i + 1, p * prompt.policy[action[i]] * prompt.channel[action[i] * levels + score[i]]);
        return;
      }
      std::vector<int> counts(levels, 0);
      for (const std::size_t k : score) ++counts[k];
      std::vector<double> u(d, 0.0);
      for (std::size_t m = 0; m < members; ++m) {
        std::size_t entry = index.first(index.place(counts));
        for (std::size_t k = 0; k < score[m]; ++k) entry += counts[k] > 0;
        for (std::size_t j = 0; j < d; ++j) u[j] += map[entry] * prompt.score[action[m] * d + j];
      }
      for (std::size_t j = 0; j < d; ++j) along += p * u[j] * prompt.gradient[j], square += p * u[j] * u[j], mean[j] += p * u[j];
    };
    visit(0, weight);
  }
  if (problem.shared) {
    double of_mean = 0;
    for (const double m : mean) of_mean += m * m;
    square = (square + (problem.batch - 1) * of_mean) / problem.batch;
  }
  return along * along / (square * goal);
}

/// The highest value that quasi-Newton steps (BFGS) with numerical slopes find from there: it knows nothing of what it climbs.
template <class Height>
double climb(std::vector<double> x, Height height) {
  const std::size_t n = x.size();
  const auto slope_at = [&](std::vector<double> at) {
    std::vector<double> slope(n);
    for (std::size_t i = 0; i < n; ++i) {
      const double here = at[i], h = 1e-5;
      at[i] = here + h;
      const double up = height(at);
      at[i] = here - h;
      slope[i] = (up - height(at)) / (2 * h);
      at[i] = here;
    }
    return slope;
  };
  std::vector<double> inverse(n * n, 0.0), slope = slope_at(x);
  for (std::size_t i = 0; i < n; ++i) inverse[i * n + i] = 1;
  double now = height(x);
  for (int round = 0; round < 2000; ++round) {
    std::vector<double> direction(n, 0.0);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) direction[i] += inverse[i * n + j] * slope[j];
    std::vector<double> moved = x;
    double best = now, best_step = 0;
    for (double step = 64; step > 1e-8; step *= 0.5) {
      for (std::size_t i = 0; i < n; ++i) moved[i] = x[i] + step * direction[i];
      const double r = height(moved);
      if (r > best) best = r, best_step = step;
    }
    if (best_step == 0) break;
    std::vector<double> way(n), bend(n), pulled(n, 0.0);
    for (std::size_t i = 0; i < n; ++i) way[i] = best_step * direction[i], x[i] += way[i];
    const std::vector<double> next = slope_at(x);
    double along = 0;
    for (std::size_t i = 0; i < n; ++i) bend[i] = slope[i] - next[i], along += way[i] * bend[i];
    slope = next, now = best;
    if (!(along > 1e-300)) continue;
    double square = 0;
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) pulled[i] += inverse[i * n + j] * bend[j];
    for (std::size_t i = 0; i < n; ++i) square += bend[i] * pulled[i];
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j)
        inverse[i * n + j] += (1 + square / along) * way[i] * way[j] / along - (pulled[i] * way[j] + way[i] * pulled[j]) / along;
  }
  return now;
}

}  // namespace

TEST_CASE("bound: places of histograms follow their order") {
  for (const auto& [levels, members] : {std::pair{2, 5}, {3, 4}, {5, 3}, {4, 1}, {10, 8}}) {
    const HistogramIndex index(levels, members);
    std::size_t next = 0, entry = 0;
    bool good = true;
    for_each_histogram(levels, members, [&](std::span<const int> counts) {
      good = good && index.place(counts) == next && index.first(next) == entry;
      ++next;
      for (const int n : counts) entry += n > 0;
    });
    CHECK(good);
    CHECK(index.histograms() == next);
    CHECK(index.entries() == entry);
  }
}

TEST_CASE("bound: R of any map against the sum over all groups, 1/|g*|^2 included") {
  std::mt19937_64 g(20261127);
  std::normal_distribution<double> normal;
  for (const bool shared : {false, true})
    for (const int batch : {1, 5}) {
      const BoundProblem problem = random_problem(g, 3, 3, shared, 2, batch);
      const UpdateMoments moments(problem);
      for (int trial = 0; trial < 3; ++trial) {
        std::vector<double> map(moments.index().entries());
        for (double& a : map) a = normal(g);
        CHECK(moments.efficiency(map) == Approx(efficiency_by_hand(problem, moments.index(), map)).epsilon(1e-11));
      }
      const std::vector<double> zero(moments.index().entries(), 0.0);
      CHECK(std::isnan(moments.efficiency(zero)));
    }
}

TEST_CASE("bound: a generic optimiser from random starts finds the R of the best map, and no more") {
  std::mt19937_64 g(20261128);
  std::normal_distribution<double> normal;
  for (const bool shared : {false, true}) {
    const BoundProblem problem = random_problem(g, 3, 3, shared, 3, 4);
    const UpdateMoments moments(problem);
    const double most = moments.efficiency(moments.best_map());
    CAPTURE(shared, most);
    CHECK(most <= 1);
    const std::size_t n = moments.index().entries();
    for (int start = 0; start < 3; ++start) {
      std::vector<double> map(n);
      for (double& a : map) a = normal(g);
      const double now = climb(map, [&](const std::vector<double>& x) { return moments.efficiency(x); });
      CHECK(now <= most * (1 + 1e-9));
      CHECK(now == Approx(most).epsilon(1e-5));
    }
  }
}

TEST_CASE("bound: with score functions that are orthogonal the best map is the posterior mean of <s, g*>") {
  // many equally likely actions with logits of their own: two members' products are of the order of 1 / actions
  std::mt19937_64 g(20261129);
  const std::size_t actions = 600, levels = 3;
  std::normal_distribution<double> normal;
  BoundPrompt prompt;
  prompt.policy.assign(actions, 1.0 / actions);
  std::vector<double> seen(levels, 0.0), along(levels, 0.0);
  double mean = 0;
  for (std::size_t a = 0; a < actions; ++a) {
    const std::vector<double> row = simplex_point(g, levels);
    prompt.channel.insert(prompt.channel.end(), row.begin(), row.end());
    prompt.gradient.push_back(normal(g) + 2 * row[2]);
    mean += prompt.gradient.back() / actions;
    for (std::size_t b = 0; b < actions; ++b) prompt.score.push_back((a == b) - 1.0 / actions);
  }
  for (std::size_t a = 0; a < actions; ++a)
    for (std::size_t k = 0; k < levels; ++k) seen[k] += prompt.channel[a * levels + k], along[k] += prompt.channel[a * levels + k] * (prompt.gradient[a] - mean);
  const UpdateMoments moments({3, 4, false, 1, {prompt}});
  const std::vector<double> map = moments.best_map();
  std::size_t entry = 0;
  for_each_histogram(3, 4, [&](std::span<const int> counts) {
    for (std::size_t k = 0; k < levels; ++k)
      if (counts[k] > 0) CHECK(map[entry++] == Approx(along[k] / seen[k]).margin(0.02));
  });
}

TEST_CASE("bound: an estimator's map has its advantages, and no estimator is above the best map") {
  std::mt19937_64 g(20261130);
  const BoundProblem problem = random_problem(g, 4, 4, false, 6, 1);
  const UpdateMoments moments(problem);
  const double most = moments.efficiency(moments.best_map());
  for (const TheorySetting& s : every_setting(plain_values(4), 4)) {
    CAPTURE(text_of(s.estimator));
    const std::vector<double> map = estimator_map(s.estimator, s.values, moments.index());
    std::size_t entry = 0;
    bool good = true;
    for_each_histogram(4, 4, [&](std::span<const int> counts) {
      const std::vector<double> want = group_advantages(s, counts);
      for (std::size_t k = 0; k < 4; ++k)
        if (counts[k] > 0) good = good && std::abs(map[entry++] - want[k]) <= 1e-10 * (1 + std::abs(want[k]));
    });
    CHECK(good);
    const double r = moments.efficiency(map);
    CHECK((std::isnan(r) || (r >= 0 && r <= most * (1 + 1e-12))));
  }
}

TEST_CASE("bound: expected cosines against an exact sum over one group, and a map that is better") {
  std::mt19937_64 g(20261201);
  const BoundProblem problem = random_problem(g, 3, 2, false, 2, 1);
  const UpdateMoments moments(problem);
  const HistogramIndex& index = moments.index();
  const std::vector<double> best = moments.best_map();
  double exact = 0;
  const std::size_t actions = problem.prompts[0].policy.size(), levels = 3, d = problem.parameters();
  for (const BoundPrompt& prompt : problem.prompts)
    for (std::size_t code = 0; code < actions * actions * levels * levels; ++code) {
      const std::size_t a[2] = {code % actions, code / actions % actions}, k[2] = {code / 16 % levels, code / 48};
      double p = 0.5;
      std::vector<int> counts(levels, 0);
      for (int i = 0; i < 2; ++i) p *= prompt.policy[a[i]] * prompt.channel[a[i] * levels + k[i]], ++counts[k[i]];
      double along = 0, square = 0, goal = 0;
      for (std::size_t j = 0; j < d; ++j) {
        double u = 0;
        for (int i = 0; i < 2; ++i) u += best[index.first(index.place(counts)) + (k[0] != k[1] && k[i] > k[1 - i])] * prompt.score[a[i] * d + j];
        along += u * prompt.gradient[j], square += u * u, goal += prompt.gradient[j] * prompt.gradient[j];
      }
      if (square > 0) exact += p * along / std::sqrt(square * goal);
    }
  const std::vector<double> better = improve_cosine(problem, moments, best, 20'000, 1);
  const std::vector<std::vector<double>> maps = {best, better};
  const auto cosines = mean_cosines(problem, index, maps, 20'000, 2);
  CHECK(std::abs(cosines[0].mean - exact) <= 4 * cosines[0].error);
  CHECK(cosines[1].less > 3 * cosines[1].less_error);  // of single groups the cosine does not feel a group's scale
  CHECK(cosines[0].less == 0);
}

TEST_CASE("bound: ascent finds a better map where there is one, and keeps the map where it finds none") {
  std::mt19937_64 g(20261204);
  const BoundProblem problem = random_problem(g, 3, 3, true, 4, 6);
  const UpdateMoments moments(problem);
  const std::vector<double> best = moments.best_map();
  std::vector<double> away = moments.scaled(best);
  std::normal_distribution<double> normal;
  for (double& a : away) a += 0.7 * normal(g);
  const std::vector<std::vector<double>> maps = {away, improve_cosine(problem, moments, away, 40'000, 1), best};
  const auto cosines = mean_cosines(problem, moments.index(), maps, 20'000, 2);
  CHECK(cosines[1].less > 5 * cosines[1].less_error);
  CHECK(cosines[1].less > 0.5 * cosines[2].less);  // it goes more than half of the way to the best map's
  CHECK(improve_cosine(problem, moments, best, 32, 3) == moments.scaled(best));  // two batches show nothing
}

TEST_CASE("bound: what is too large is refused") {
  std::mt19937_64 g(1);
  CHECK_THROWS_AS(UpdateMoments(random_problem(g, 10, 16, false, 1, 1)), Failure);
}
