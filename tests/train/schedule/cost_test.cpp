// What a suite is said to cost: what runs share counts once, what waits in caches up to their limit. tests/app/memory_test.py holds it to a process.
#include <string>
#include <vector>

#include "config/spec.hpp"
#include "config/suite.hpp"
#include "tests/catch.hpp"
#include "tests/train/tiny.hpp"
#include "train/run_cache.hpp"
#include "train/schedule/preflight.hpp"
#include "train/train.hpp"

using namespace odrpo;

namespace {

double memory(const std::vector<std::string>& set, int jobs = 1) { return total_cost(tiny(set), jobs).memory_bytes; }

const std::vector<std::string> large{"env.bandit.prompts=65536", "env.bandit.actions=64"};
std::vector<std::string> large_with(std::vector<std::string> more) {
  more.insert(more.end(), large.begin(), large.end());
  return more;
}

}  // namespace

TEST_CASE("a world counts once, however many runs are trained in it and however many workers share it") {
  const double world = world_bytes(tiny(large).runs[0]);
  REQUIRE(world > double{400} * (1 << 20));
  const double one = memory(large_with({"suite.seeds=1", "grid.votes=[1]", "grid.estimator=[grpo]"}));
  CHECK(one > world);
  CHECK(one < 1.3 * world);
  const double eight = memory(large_with({"suite.seeds=1", "learn.lr=[0.1, 0.2]"}));
  CHECK(eight < 1.4 * world);
  CHECK(memory(large_with({"suite.seeds=1", "learn.lr=[0.1, 0.2]"}), 8) < 1.6 * world);
  // a worker holds one world at a time: with two seeds two workers hold two, one holds one
  CHECK(memory(large_with({"suite.seeds=2"}), 1) < 1.4 * world);
  CHECK(memory(large_with({"suite.seeds=2"}), 2) > 2 * world);
  CHECK(memory(large_with({"suite.seeds=2"}), 8) < 3 * world);
}

TEST_CASE("small worlds are kept up to the cache's limit") {
  const std::vector<std::string> small{"env.bandit.prompts=256", "env.bandit.actions=32"};
  const auto of_seeds = [&](int seeds) {
    std::vector<std::string> set = small;
    set.push_back("suite.seeds=" + std::to_string(seeds));
    return memory(set);
  };
  const double world = world_bytes(tiny(small).runs[0]);
  CHECK(of_seeds(21) - of_seeds(1) > 20 * world);
  CHECK(of_seeds(21) - of_seeds(1) < 32 * world);
  CHECK(of_seeds(3000) - of_seeds(1) < 3.0 * static_cast<double>(RunCache::unused_bytes));
}

TEST_CASE("records that wait to be committed and the time to store them grow with their number") {
  const auto every = [](const char* n) { return total_cost(tiny({"learn.steps=2000", std::string("record.every=") + n}), 1); };
  CHECK(every("1").cpu_seconds > 2 * every("100").cpu_seconds);
  CHECK(every("1").recorded_bytes > 50 * every("100").recorded_bytes);
  CHECK(every("1").memory_bytes > every("100").memory_bytes);
}
