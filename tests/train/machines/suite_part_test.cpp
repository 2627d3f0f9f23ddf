// Parts of a suite: the cheapest cut of a row against every cut, and parts of grids that hold each run once.
#include "train/machines/suite_part.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>

#include "config/spec.hpp"
#include "kernels/shared/failure.hpp"
#include "tests/catch.hpp"
#include "tests/train/tiny.hpp"
#include "train/schedule/run_order.hpp"
#include "train/schedule/scheduler.hpp"
#include "train/train.hpp"

using namespace odrpo;

namespace {

double load_of(std::span<const CutItem> items, std::size_t from, std::size_t to) {
  double load = items[from].world;
  for (std::size_t i = from; i < to; ++i) load += items[i].cost + (i > from && items[i].opens ? items[i].world : 0);
  return load;
}

double dearest(std::span<const CutItem> items, const std::vector<std::size_t>& begins) {
  double most = 0;
  for (std::size_t p = 0; p + 1 < begins.size(); ++p) most = std::max(most, load_of(items, begins[p], begins[p + 1]));
  return most;
}

/// The dearest stretch of the best of all cuts of the items from `from` on.
double best_of_all(std::span<const CutItem> items, std::size_t from, std::size_t count) {
  if (count == 1) return load_of(items, from, items.size());
  double best = std::numeric_limits<double>::infinity();
  for (std::size_t to = from + 1; to + count - 1 <= items.size(); ++to)
    best = std::min(best, std::max(load_of(items, from, to), best_of_all(items, to, count - 1)));
  return best;
}

}  // namespace

TEST_CASE("the dearest stretch is as cheap as that of the best of all cuts") {
  constexpr unsigned seed = 20;
  std::mt19937 rng(seed);
  for (int trial = 0; trial < 400; ++trial) {
    const std::size_t n = 1 + rng() % 9;
    std::vector<CutItem> items(n);
    for (std::size_t i = 0; i < n; ++i) {
      const bool opens = i == 0 || rng() % 3 == 0;
      items[i] = {static_cast<float>(trial % 3 == 0 ? 1 : 1 + rng() % 20), opens ? static_cast<float>(rng() % 12) : items[i - 1].world, opens};
    }
    for (std::size_t count = 1; count <= n; ++count) {
      const auto begins = cut_evenly(items, count);
      INFO("seed " << seed << ", trial " << trial << ", " << n << " items, " << count << " stretches");
      REQUIRE(begins.size() == count + 1);
      CHECK(begins.front() == 0);
      CHECK(begins.back() == n);
      CHECK(std::is_sorted(begins.begin(), begins.end(), std::less_equal<>()));  // none is empty
      CHECK(dearest(items, begins) == Approx(best_of_all(items, 0, count)).epsilon(1e-9));
    }
  }
}

TEST_CASE("every run is in one part, parts cost about the same, and few worlds are made twice") {
  const Suite suite = tiny({"suite.seeds=40", "learn.lr=[0.1,0.3]", "grid.policy=[\"linear\",\"tabular\"]"});
  const RunWorlds worlds(suite.runs);
  for (const std::size_t count : {1, 2, 3, 7, 8, 40, 100, 640}) {
    const auto parts = parts_of(suite.runs, count);
    REQUIRE(parts.size() == count);
    std::vector<int> times(suite.runs.size(), 0);
    double least = std::numeric_limits<double>::infinity(), most = 0, largest = 0;
    std::size_t made = 0;
    for (const auto& part : parts) {
      CHECK_FALSE(part.empty());
      CHECK(std::is_sorted(part.begin(), part.end()));
      double load = 0;
      std::vector<std::pair<int, std::uint32_t>> seen;
      for (const std::uint32_t run : part) {
        ++times.at(run);
        const double cost = core_seconds(suite.runs[run]);
        load += cost;
        largest = std::max(largest, cost + world_seconds(suite.runs[run]));
        seen.emplace_back(suite.runs.seed(run), worlds.world(run));
      }
      std::sort(seen.begin(), seen.end());
      seen.erase(std::unique(seen.begin(), seen.end()), seen.end());
      made += seen.size();
      least = std::min(least, load), most = std::max(most, load);
    }
    INFO(count << " parts");
    CHECK(std::all_of(times.begin(), times.end(), [](int n) { return n == 1; }));
    CHECK(made <= worlds.count() * 40 + count - 1);
    if (count <= 8) CHECK(most - least < 0.2 * most + 2 * largest);
  }
  CHECK_THROWS_AS(parts_of(suite.runs, suite.runs.size() + 1), Failure);
}

TEST_CASE("a part of a suite has its runs alone, and another fingerprint") {
  const Suite whole = tiny();
  std::size_t runs = 0;
  std::vector<std::string> ids, fingerprints = {suite_facts(whole, "test").fingerprint};
  for (std::size_t i = 0; i < 3; ++i) {
    Suite part = whole;
    take_part(part, {i, 3});
    runs += part.runs.size();
    for (std::size_t k = 0; k < part.runs.size(); ++k) ids.push_back(part.runs.id(k));
    fingerprints.push_back(suite_facts(part, "test").fingerprint);
  }
  CHECK(runs == whole.runs.size());
  std::sort(ids.begin(), ids.end());
  CHECK(std::unique(ids.begin(), ids.end()) == ids.end());
  std::sort(fingerprints.begin(), fingerprints.end());
  CHECK(std::unique(fingerprints.begin(), fingerprints.end()) == fingerprints.end());
  Suite part = whole;
  CHECK_THROWS_AS(take_part(part, {3, 3}), Failure);
}
