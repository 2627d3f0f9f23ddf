// run_suite: the digest depends neither on jobs nor on interruptions; stops save; failures are recorded while the others go on.
#include "train/schedule/run_suite.hpp"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "config/spec.hpp"
#include "estimators/batch.hpp"
#include "tests/catch.hpp"
#include "tests/results/sample.hpp"
#include "tests/train/tiny.hpp"
#include "train/run_cache.hpp"
#include "train/schedule/run_order.hpp"
#include "train/train.hpp"

using namespace odrpo;
namespace fs = std::filesystem;

TEST_CASE("the digest does not depend on jobs or on how often commits happen") {
  const Folder folder;
  const Suite suite = tiny();
  const RunReport one = run(suite, folder.file("one.h5"), 1);
  REQUIRE(one.total == 8);
  CHECK(one.ran == 8);
  CHECK(one.failed == 0);
  CHECK(one.digest.size() == 64);
  CHECK(run(suite, folder.file("three.h5"), 3).digest == one.digest);
  CHECK(run(suite, folder.file("many.h5"), 64).digest == one.digest);

  RunSettings often;
  often.output = folder.file("often.h5");
  often.commit_seconds = 0;
  CHECK(run_suite(suite, suite_facts(suite, "test"), often).digest == one.digest);
  RunSettings rarely;
  rarely.output = folder.file("rarely.h5");
  rarely.commit_seconds = 1000;
  CHECK(run_suite(suite, suite_facts(suite, "test"), rarely).digest == one.digest);
}

TEST_CASE("a stopped suite saves what is done and continues to the same digest") {
  const Folder folder;
  const Suite suite = tiny({"learn.steps=3000"});
  const std::string whole = run(suite, folder.file("whole.h5"), 2).digest;
  std::atomic<bool> stop{false};
  RunSettings settings;
  settings.output = folder.file("stopped.h5");
  settings.stop = &stop;
  settings.on_progress = [&](const Tally& t) {
    if (t.trained >= 2) stop = true;
  };
  const RunReport first = run_suite(suite, suite_facts(suite, "test"), settings);
  REQUIRE(first.stopped);
  CHECK(first.ran >= 2);
  CHECK(first.ran < first.total);
  CHECK(first.digest.empty());
  CHECK_FALSE(fs::exists(settings.output));

  const RunReport second = run(suite, settings.output, 2);
  CHECK_FALSE(second.stopped);
  CHECK(second.resumed == first.ran);
  CHECK(second.ran + second.resumed == second.total);
  CHECK(second.digest == whole);

  const RunReport third = run(suite, settings.output, 2);
  CHECK(third.complete);
  CHECK(third.ran == 0);
}

TEST_CASE("a damaged shard is told of and its runs are trained again") {
  const Folder folder;
  const Suite suite = tiny({"learn.steps=3000"});
  std::atomic<bool> stop{false};
  RunSettings settings;
  settings.output = folder.file("damaged.h5");
  settings.stop = &stop;
  settings.on_progress = [&](const Tally& t) { stop = t.trained >= 1; };
  REQUIRE(run_suite(suite, suite_facts(suite, "test"), settings).stopped);
  int damaged = 0;
  for (const auto& entry : fs::directory_iterator(settings.output + ".work"))
    if (entry.path().filename().string().starts_with("shard-")) {
      fs::resize_file(entry.path(), fs::file_size(entry.path()) / 2);
      ++damaged;
    }
  REQUIRE(damaged > 0);
  const RunReport again = run(suite, settings.output, 2);
  const auto continued = [](const std::string& note) { return note.starts_with("continued "); };  // runs that were stopped half-way
  CHECK(std::count_if(again.notes.begin(), again.notes.end(), std::not_fn(continued)) == damaged);
  CHECK(again.resumed == 0);
  CHECK(again.digest == run(suite, folder.file("whole.h5"), 2).digest);
}

TEST_CASE("a shard that changes before the output is made is told of, and its runs are trained again in the same call") {
  const Folder folder;
  const Suite suite = tiny();
  RunSettings settings;
  settings.output = folder.file("damaged.h5");
  settings.commit_seconds = 0;
  int damaged = 0;
  settings.on_progress = [&](const Tally& t) {  // the bit of a number in the first shard, once all runs are committed
    if (t.committed < suite.runs.size() || std::exchange(damaged, 1)) return;
    const std::string shard = sample::files_in(settings.output + ".work", "shard-")[0];
    std::string bytes = sample::bytes_of(shard);
    bytes[bytes.size() / 2] ^= 1;
    sample::write_bytes(shard, bytes);
  };
  const RunReport report = run_suite(suite, suite_facts(suite, "test"), settings);
  REQUIRE(damaged == 1);
  REQUIRE(report.notes.size() == 1);
  CHECK(report.notes[0].find("was damaged after it was committed") != std::string::npos);
  CHECK(report.ran > 0);  // those of the first shard, which may hold all runs on a busy machine
  CHECK(report.ran + report.resumed == suite.runs.size());
  CHECK(report.digest == run(suite, folder.file("whole.h5"), 2).digest);
}

TEST_CASE("runs that are one computation under two ids are two runs of the file, and go on after a stop") {
  const Folder folder;
  const Suite suite = tiny({"learn.epochs=[1, 2]", "learn.ratio_clip=[0.1, 0.2]", "learn.steps=100"});
  REQUIRE(suite.runs.size() == 32);
  std::atomic<bool> stop{false};
  RunSettings settings;
  settings.output = folder.file("keys.h5");
  settings.stop = &stop;
  settings.on_progress = [&](const Tally& t) { stop = t.trained >= 3; };
  REQUIRE(run_suite(suite, suite_facts(suite, "test"), settings).stopped);
  const RunReport rest = run(suite, settings.output, 2);
  CHECK(rest.ran + rest.resumed == 32);
  const auto file = sample::read_all(settings.output);
  std::map<std::string, const RunRecord*> by_key;
  int twice = 0;
  for (const RunRecord& r : file.records) {
    const auto [at, fresh] = by_key.emplace(r.key, &r);
    if (fresh) continue;
    ++twice;
    CHECK(at->second->id != r.id);
    CHECK(at->second->finals.front().value == r.finals.front().value);
    CHECK(at->second->curves.front().values == r.curves.front().values);
  }
  CHECK(twice == 8);  // epochs = 1 under either clip
}

TEST_CASE("a stop before the start trains nothing") {
  const Folder folder;
  const Suite suite = tiny();
  std::atomic<bool> stop{true};
  RunSettings settings;
  settings.output = folder.file("never.h5");
  settings.stop = &stop;
  const RunReport report = run_suite(suite, suite_facts(suite, "test"), settings);
  CHECK(report.stopped);
  CHECK(report.ran == 0);
  CHECK_FALSE(fs::exists(settings.output));
}

TEST_CASE("progress starts with what was resumed, never runs backwards, ends once") {
  const Folder folder;
  const Suite suite = tiny();
  std::vector<Tally> seen;
  RunSettings settings;
  settings.output = folder.file("tiny.h5");
  settings.on_progress = [&](const Tally& t) { seen.push_back(t); };
  run_suite(suite, suite_facts(suite, "test"), settings);
  REQUIRE(seen.size() >= 2);
  CHECK(seen.front().trained == 0);
  CHECK(std::is_sorted(seen.begin(), seen.end(), [](const Tally& a, const Tally& b) { return a.trained < b.trained; }));
  CHECK(std::count_if(seen.begin(), seen.end(), [](const Tally& t) { return t.over; }) == 1);
  CHECK(seen.back().over);
  CHECK(seen.back().committed == 8);
}

TEST_CASE("the schedule is a permutation that keeps the runs of one world together") {
  const Suite suite = tiny({"env.bandit.prompts=[16, 32]", "learn.lr=[0.1, 0.3]", "grid.rater=[\"mixed\", \"veto\"]"});
  const auto order = run_order(suite);
  REQUIRE(order.size() == suite.runs.size());
  CHECK(std::set<std::size_t>(order.begin(), order.end()).size() == order.size());
  using World = std::tuple<int, int, std::string>;
  std::set<World> left;
  World current{-1, 0, ""};
  for (std::size_t i : order) {
    const RunSpec& run = suite.runs[i];
    const World world{run.seed, run.env.bandit.prompts, run.rater_name};
    if (world == current) continue;
    CHECK(left.insert(world).second);  // a world that was left does not come back
    current = world;
  }
  CHECK(left.size() == 8);
}

TEST_CASE("the fingerprint covers the runs and the version, not the table or the limits") {
  const Suite suite = tiny();
  const std::string print = suite_facts(suite, "1").fingerprint;
  CHECK(suite_facts(suite, "2").fingerprint != print);
  CHECK(suite_facts(tiny({"suite.seed=8"}), "1").fingerprint != print);
  CHECK(suite_facts(tiny({"learn.lr=0.2"}), "1").fingerprint != print);
  CHECK(suite_facts(tiny({"table.value=\"regret\""}), "1").fingerprint == print);
  CHECK(suite_facts(tiny({"limits.cpu_hours=7"}), "1").fingerprint == print);
}

TEST_CASE("a run that diverges is recorded with its reason and the others go on") {
  const Folder folder;
  // the decay multiplies every parameter by about minus a million at each step, where lr is a million
  const Suite suite = tiny({"learn.optimizer=\"adamw\"", "learn.weight_decay=1", "learn.lr=[0.1, 1000000]", "learn.steps=60"});
  const RunReport report = run(suite, folder.file("some.h5"), 2);
  CHECK(report.total == 16);
  CHECK(report.failed == 8);
  CHECK(report.failures.size() == 8);
  CHECK_FALSE(report.stopped);
  const auto file = sample::read_all(folder.file("some.h5"));
  REQUIRE(file.records.size() == 16);
  for (const RunRecord& r : file.records) {
    const bool wild = r.id.find("1e+06") != std::string::npos || r.id.find("1000000") != std::string::npos;
    INFO(r.id);
    CHECK((r.status == RunStatus::failed) == wild);
    CHECK(r.error.empty() != wild);
  }
  CHECK(run(suite, folder.file("again.h5"), 1).digest == report.digest);
}

TEST_CASE("runs that share an estimator's tables, made while others train, end as runs that have none") {
  const Suite suite = tiny({"suite.seeds=12", "grid.votes=1", R"_(grid.estimator=["odrpo-gini(grpo)", "odrpo-gini-median(grpo)"])_",
                            "env.bandit.prompts=64", "learn.batch=64", "learn.steps=500", "record.every=100"});
  const double groups = 500 * 64;  // of one run: too few for a table, those of 12 enough for either kind
  for (const RunSpec& spec : {suite.runs.front(), suite.runs.back()}) {
    BatchEstimator estimator(spec.estimator, 10, 8);
    estimator.expect(groups, Isa::portable);
    CHECK_FALSE(estimator.tabulated());
    estimator.expect(12 * groups, Isa::portable);
    CHECK(estimator.tabulated());
  }
  const std::atomic<bool> never{false};
  std::vector<RunRecord> alone;
  for (const RunSpec& spec : suite.runs) {
    RunCache shared;
    alone.push_back(train(spec, shared, never));
  }
  const Folder folder;
  for (const int jobs : {1, 2, 5})
    CHECK(run(suite, folder.file(("jobs" + std::to_string(jobs) + ".h5").c_str()), jobs).digest == result_digest(alone));
}
