// Which worker trains what: each run once, no more worlds at a time than workers, and nobody idle while runs are left.
#include "train/schedule/run_shares.hpp"

#include <algorithm>
#include <numeric>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include "tests/catch.hpp"

using namespace odrpo;

namespace {

// Worlds of so many runs each: runs 0, 1, … in order, and the world of each.
struct Worlds {
  std::vector<std::size_t> of;
  explicit Worlds(const std::vector<std::size_t>& sizes) {
    for (std::size_t w = 0; w < sizes.size(); ++w) of.insert(of.end(), sizes[w], w);
  }
  RunShares shares(std::size_t workers) const {
    std::vector<std::size_t> runs(of.size());
    std::iota(runs.begin(), runs.end(), std::size_t{0});
    return {runs, [this](std::size_t i, std::size_t j) { return of[i] == of[j]; }, workers};
  }
};

}  // namespace

TEST_CASE("one worker takes the runs in their order and is told where a world begins") {
  const Worlds worlds({3, 1, 2});
  RunShares shares = worlds.shares(1);
  for (std::size_t i = 0; i < 6; ++i) {
    const auto taken = shares.next(0);
    REQUIRE(taken);
    CHECK(taken->run == i);
    CHECK(taken->opens_world == (i == 0 || i == 3 || i == 4));
  }
  CHECK_FALSE(shares.next(0));
}

TEST_CASE("a worker stays with its world, then opens another, then takes half of the world with most runs left") {
  const Worlds worlds({4, 9, 1});
  RunShares shares = worlds.shares(2);
  const auto run = [&](std::size_t w) { return shares.next(w)->run; };
  CHECK(run(0) == 0);
  CHECK(run(1) == 4);  // another world
  for (std::size_t i : {1, 2, 3}) CHECK(run(0) == i);
  CHECK(run(0) == 13);               // the third world
  const auto half = shares.next(0);  // 5 … 12 are left of the second
  CHECK(half->run == 9);
  CHECK_FALSE(half->opens_world);
  for (std::size_t i : {5, 6, 7, 8}) CHECK(run(1) == i);
  CHECK(run(1) == 11);  // 10 … 12 were left to the other
  CHECK(run(0) == 10);
  CHECK(run(0) == 12);
  CHECK_FALSE(shares.next(0));
  CHECK_FALSE(shares.next(1));
}

TEST_CASE("any order of workers: each run once, each world opened once, no world returned to") {
  for (unsigned seed = 0; seed < 200; ++seed) {
    INFO("seed " << seed);
    std::mt19937 rng(seed);
    std::vector<std::size_t> sizes(rng() % 8);
    for (auto& size : sizes) size = 1 + rng() % 9;
    const std::size_t workers = 1 + rng() % 5;
    const Worlds worlds(sizes);
    RunShares shares = worlds.shares(workers);
    std::set<std::size_t> runs, opened;
    std::vector<std::size_t> now(workers, sizes.size());
    std::vector<std::set<std::size_t>> left(workers);
    for (std::size_t idle = 0; idle < 50;) {
      const std::size_t w = rng() % workers;
      const auto taken = shares.next(w);
      if (!taken) {
        CHECK(runs.size() == worlds.of.size());  // nobody is idle before
        ++idle;
        continue;
      }
      CHECK(runs.insert(taken->run).second);
      const std::size_t world = worlds.of[taken->run];
      if (taken->opens_world) CHECK(opened.insert(world).second);
      CHECK(opened.count(world) == 1);
      if (world != now[w] && now[w] < sizes.size()) left[w].insert(now[w]);
      // a worker holds one world at a time, and comes back to one only to help when none is untouched
      if (left[w].count(world) == 1) CHECK(opened.size() == sizes.size());
      now[w] = world;
    }
    CHECK(runs.size() == worlds.of.size());
    CHECK(opened.size() == sizes.size());
  }
}

TEST_CASE("threads take each run once") {
  const Worlds worlds(std::vector<std::size_t>(50, 40));
  RunShares shares = worlds.shares(4);
  std::vector<std::vector<std::size_t>> taken(4);
  std::vector<std::thread> threads;
  for (std::size_t w = 0; w < 4; ++w)
    threads.emplace_back([&, w] {
      while (const auto next = shares.next(w)) taken[w].push_back(next->run);
    });
  for (auto& t : threads) t.join();
  std::vector<std::size_t> all;
  for (const auto& some : taken) all.insert(all.end(), some.begin(), some.end());
  std::sort(all.begin(), all.end());
  REQUIRE(all.size() == 2000);
  for (std::size_t i = 0; i < all.size(); ++i) CHECK(all[i] == i);
}
