// What progress counts: steps of runs in progress, and estimated seconds, of which only those of this call say how fast it is.
#include "train/schedule/workload.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <string>
#include <vector>

#include "config/spec.hpp"
#include "config/suite.hpp"
#include "tests/catch.hpp"
#include "tests/train/tiny.hpp"
#include "train/run_cache.hpp"
#include "train/schedule/cost.hpp"
#include "train/schedule/run_order.hpp"
#include "train/train.hpp"

using namespace odrpo;

namespace {

// Two worlds (seeds) of four runs each; learn.steps 20.
struct Eight {
  Suite suite;
  RunWorlds worlds{suite.runs};
  double run = core_seconds(suite.runs[0]), world = world_seconds(suite.runs[0]);
  explicit Eight(const std::vector<std::string>& set = {}) : suite(tiny(set)) {}
  Workload workload(const std::vector<bool>& done = std::vector<bool>(8, false)) const {
    return {suite.runs, done, without_done(make_schedule(suite.runs, worlds.order(), {}, {}), done), worlds, 2};
  }
};

bool about(double a, double b) { return std::abs(a - b) <= 1e-9 * std::max(std::abs(a), std::abs(b)) + 1e-15; }

}  // namespace

TEST_CASE("the ETA is the estimate of what is left, by the speed that was seen") {
  CHECK(seconds_to_go({100, 10, 2, 30}, 4) == 60);
  CHECK(seconds_to_go({100, 10, 0, 30}, 4) < 0);  // nothing is known yet
  CHECK(seconds_to_go({100, 10, .002, 30}, 1) < 0);  // one slow step of thousands
  CHECK(seconds_to_go({100, 10, .004, 30}, 1) == 30 / .004);
  CHECK(seconds_to_go({100, 10, 2, 30}, 0) < 0);
  CHECK(seconds_to_go({100, 100, 2, 0}, 4) == 0);
  CHECK(seconds_to_go({100, 100, 0, 0}, 0) == 0);
}

TEST_CASE("a workload begins with all runs and worlds, and ends with none") {
  const Eight suite;
  Workload load = suite.workload();
  CHECK(load.now().steps_total == 160);
  CHECK(load.now().steps_done == 0);
  CHECK(load.now().seconds_seen == 0);
  CHECK(about(load.now().seconds_left, 8 * suite.run + 2 * suite.world));
  for (std::size_t i = 0; i < 8; ++i) {
    RunSteps& steps = load.begin(i % 2, suite.suite.runs[i], i < 2);
    CHECK(load.now().steps_done == 20 * i);  // its world is being made
    steps.begin(0);
    steps.reached(20);
    CHECK(load.now().steps_done == 20 * (i + 1));
    load.end(i % 2);
  }
  CHECK(load.now().steps_done == 160);
  CHECK(about(load.now().seconds_seen, 8 * suite.run + 2 * suite.world));
  CHECK(load.now().seconds_left < 1e-9 * suite.run + 1e-12);
}

TEST_CASE("steps of runs in progress count, but restored ones and loaded worlds say nothing of the speed") {
  const Eight suite;
  Workload load = suite.workload();
  const double all = load.now().seconds_left;
  RunSteps& first = load.begin(0, suite.suite.runs[0], true);
  CHECK(load.now().seconds_seen == 0);  // until the world is made
  CHECK(load.now().worlds_in_making == 1);
  first.begin(0);
  CHECK(load.now().worlds_in_making == 0);
  CHECK(about(load.now().seconds_seen, suite.world));
  first.reached(5);
  CHECK(load.now().steps_done == 5);
  CHECK(about(load.now().seconds_seen, suite.world + suite.run * 5 / 20));

  RunSteps& second = load.begin(1, suite.suite.runs[1], true);
  second.begin_world(7, 7);  // an earlier call made it
  second.begin(12);  // from a checkpoint
  second.reached(15);
  CHECK(load.now().steps_done == 20);
  CHECK(about(load.now().seconds_seen, suite.world + suite.run * 8 / 20));
  CHECK(about(load.now().seconds_left, all - 2 * suite.world - suite.run));
  second.reached(20);
  load.end(1);
  CHECK(about(load.now().seconds_seen, suite.world + suite.run * 13 / 20));
}

TEST_CASE("a world in the making counts by the time that it has taken, so that the ETA does not rise") {
  const Eight suite({"env.bandit.prompts=4096"});
  double time = 100;
  const std::vector<bool> none(8, false);
  Workload load(suite.suite.runs, none, make_schedule(suite.suite.runs, suite.worlds.order(), {}, {}), suite.worlds, 1, 0,
                [&] { return time; });
  const double all = load.now().seconds_left;
  RunSteps& steps = load.begin(0, suite.suite.runs[0], true);
  time += 5;
  CHECK(load.now().seconds_seen == 0);  // nothing to compare it with
  steps.begin(0);
  steps.reached(20);
  load.end(0);
  const double first = suite.world + suite.run;  // estimated seconds, in 5 s
  CHECK(about(load.now().seconds_seen, first));
  load.begin(0, suite.suite.runs[1], true);
  time += 2;
  CHECK(about(load.now().seconds_seen, first + first * 2 / 5));
  CHECK(about(load.now().seconds_left, all - first - first * 2 / 5));
  CHECK(about(seconds_to_go(load.now(), 7), (all - first * 7 / 5) / (first / 5)));
  time += 200;
  CHECK(about(load.now().seconds_seen, first + 0.95 * suite.world));  // it takes longer than estimated
}

TEST_CASE("a world whose steps are counted counts by them, and says how fast it goes before any run has begun") {
  const Eight suite;
  double time = 100;
  const std::vector<bool> none(8, false);
  Workload load(suite.suite.runs, none, make_schedule(suite.suite.runs, suite.worlds.order(), {}, {}), suite.worlds, 2, 0,
                [&] { return time; });
  const double all = load.now().seconds_left;
  RunSteps& first = load.begin(0, suite.suite.runs[0], true);
  CHECK(load.now().world_steps_total == 0);
  first.begin_world(0, 40);
  CHECK(load.now().worlds_in_making == 1);
  CHECK(load.now().world_steps_total == 40);
  CHECK(load.now().seconds_seen == 0);
  first.world_reached(10);
  time += 4;
  CHECK(load.now().world_steps_done == 10);
  CHECK(about(load.now().seconds_seen, suite.world / 4));
  CHECK(about(load.now().seconds_left, all - suite.world / 4));
  CHECK(about(seconds_to_go(load.now(), 4), (all - suite.world / 4) / (suite.world / 16)));

  RunSteps& second = load.begin(1, suite.suite.runs[1], true);
  second.begin_world(20, 40);  // half of it is an earlier call's
  second.world_reached(30);
  CHECK(load.now().worlds_in_making == 2);
  CHECK(load.now().world_steps_done == 40);
  CHECK(load.now().world_steps_total == 80);
  CHECK(about(load.now().seconds_seen, suite.world / 2));
  CHECK(about(load.now().seconds_left, all - suite.world));
  second.world_reached(40);
  second.begin(0);
  first.world_reached(40);
  first.begin(0);
  CHECK(load.now().worlds_in_making == 0);
  CHECK(load.now().world_steps_total == 0);
  CHECK(about(load.now().seconds_seen, 1.5 * suite.world));
  CHECK(about(load.now().seconds_left, all - 2 * suite.world));
  load.end(1);
  CHECK(about(load.now().seconds_seen, 1.5 * suite.world));
}

TEST_CASE("a run that fails leaves nothing to do, and counts for the speed by the steps that it took") {
  const Eight suite;
  Workload load = suite.workload();
  const double all = load.now().seconds_left;
  load.begin(0, suite.suite.runs[0], true).begin(0);
  RunSteps& diverging = load.begin(1, suite.suite.runs[4], false);
  diverging.begin(0);
  diverging.reached(3);
  load.end(1);
  CHECK(load.now().steps_done == 20);
  CHECK(about(load.now().seconds_seen, suite.world + suite.run * 3 / 20));
  CHECK(about(load.now().seconds_left, all - suite.world - suite.run));
  load.begin(1, suite.suite.runs[5], false);  // that fails before its first step
  load.end(1);
  CHECK(load.now().steps_done == 40);
  CHECK(about(load.now().seconds_seen, suite.world + suite.run * 3 / 20));
}

TEST_CASE("runs of an earlier call are done and say nothing of the speed, and their world may still be needed") {
  const Eight suite;
  std::vector<bool> done(8, false);
  for (const std::size_t i : {0, 2, 4, 6, 1}) done[i] = true;  // all of seed 0, one of seed 1
  const Work work = suite.workload(done).now();
  CHECK(work.steps_total == 160);
  CHECK(work.steps_done == 100);
  CHECK(work.seconds_seen == 0);
  CHECK(about(work.seconds_left, 3 * suite.run + suite.world));
}

TEST_CASE("runs of different cost weigh as they cost") {
  const Suite suite = tiny({"learn.steps=[10, 1000]"});
  const RunWorlds worlds(suite.runs);
  Workload load(suite.runs, std::vector<bool>(16, false), make_schedule(suite.runs, worlds.order(), {}, {}), worlds, 1);
  CHECK(load.now().steps_total == 8 * 1010);
  const double before = load.now().seconds_left;
  for (const std::size_t i : {0, 2}) {  // of 10 and of 1000 steps
    REQUIRE(suite.runs[i].learn.steps == (i == 0 ? 10 : 1000));
    const double seen = load.now().seconds_seen;
    RunSteps& steps = load.begin(0, suite.runs[i], false);
    steps.begin(0);
    steps.reached(suite.runs[i].learn.steps);
    load.end(0);
    CHECK(about(load.now().seconds_seen - seen, core_seconds(suite.runs[i])));
  }
  CHECK(about(before - load.now().seconds_left, load.now().seconds_seen));
}

TEST_CASE("what engines hand over counts by runs") {
  const Eight suite;
  Workload load = suite.workload();
  load.add_batched(suite.suite.runs[3]);
  CHECK(load.now().steps_done == 20);
  CHECK(about(load.now().seconds_seen, suite.run));
}

TEST_CASE("the training loop tells its steps, from its checkpoint on") {
  const Eight suite;
  RunCache shared;
  std::atomic<bool> never{false};
  RunSteps steps;
  const RunSpec spec = suite.suite.runs[0];
  CHECK(steps.restored == RunSteps::not_begun);
  CHECK(train(spec, shared, never, {}, &steps).status == RunStatus::ok);
  CHECK(steps.restored == 0);
  CHECK(steps.done == 20);
}

TEST_CASE("a suite tells steps that rise to all of them, and after a stop begins where it was") {
  const Folder folder;
  const Suite suite = tiny({"suite.seeds=4"});
  std::atomic<bool> stop{false};
  RunSettings settings;
  settings.output = folder.file("steps.h5");
  settings.jobs = 2;
  settings.stop = &stop;
  std::vector<Tally> seen;
  settings.on_progress = [&](const Tally& t) {
    seen.push_back(t);
    if (t.trained >= 3) stop = true;
  };
  const auto rises = [&] {
    for (std::size_t i = 1; i < seen.size(); ++i) {
      CHECK(seen[i].work.steps_done >= seen[i - 1].work.steps_done);
      CHECK(seen[i].work.steps_total == 320);
      CHECK(seen[i].work.steps_done >= 20 * (seen[i].resumed + seen[i].trained));
      CHECK(seen[i].elapsed >= seen[i - 1].elapsed);
    }
  };
  const RunReport first = run_suite(suite, suite_facts(suite, "test"), settings);
  rises();
  const std::size_t ran = first.ran;
  seen.clear();
  settings.on_progress = [&](const Tally& t) { seen.push_back(t); };
  stop = false;
  if (first.stopped) {
    run_suite(suite, suite_facts(suite, "test"), settings);
    REQUIRE(seen.size() >= 2);
    CHECK(seen.front().work.steps_done == 20 * ran);
    CHECK(seen.front().work.seconds_seen == 0);
    CHECK(seen.back().work.steps_done == 320);
    CHECK(seconds_to_go(seen.back().work, seen.back().elapsed) < 1e-6);
    rises();
  }
}

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
