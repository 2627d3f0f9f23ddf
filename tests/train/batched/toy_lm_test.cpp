// Runs of the toy language model whose transformers train on a device, by the host's queue: how near they are to the CPU's, whole suites,
// stops and checkpoints, failures at every call, how many train at a time.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "config/spec.hpp"
#include "kernels/shared/failure.hpp"
#include "tests/config/loading.hpp"
#include "tests/rounds.hpp"
#include "tests/train/batched/host_transformers.hpp"
#include "tests/train/batched/toy_lm_near.hpp"
#include "tests/train/checkpoint/checkpoint_sample.hpp"
#include "tests/train/tiny.hpp"
#include "train/batched/toy_lm_runs.hpp"
#include "train/run_record.hpp"
#include "train/schedule/run_order.hpp"

using namespace odrpo;
using namespace odrpo::checkpoint_sample;
namespace fs = std::filesystem;

namespace {

RunRecord on_device(const RunSpec& spec, HostTransformers& device, const CheckpointStore& store = {}, const std::atomic<bool>& stop = never) {
  RunCache shared;
  return train_toy_lm(spec, shared, stop, store, nullptr, device.place());
}

// As call() of checkpoint_sample, on a device.
RunRecord call_on(HostTransformers& device, const RunSpec& spec, Memory& memory, int saves) {
  std::atomic<bool> stop{false};
  memory.saved = [&](CheckpointKind kind) {
    if (kind == CheckpointKind::run && --saves == 0) stop = true;
  };
  const RunRecord r = on_device(spec, device, memory.store, stop);
  memory.saved = [](CheckpointKind) {};
  return r;
}

RunSettings settings_of(const std::string& output, HostTransformers& device, int jobs = 2) {
  RunSettings s;
  s.output = output;
  s.jobs = jobs;
  s.engines = {device.engine()};
  return s;
}
RunReport run_on(const Suite& suite, const RunSettings& settings) { return run_suite(suite, suite_facts(suite, "test"), settings); }
std::string digest_of(const Suite& suite, const std::string& output, HostTransformers& device, int jobs = 2) {
  return run_on(suite, settings_of(output, device, jobs)).digest;
}

}  // namespace

TEST_CASE("toy-lm on a device: the first step and ten steps are the CPU's, within roundings", "[unsanitized]") {
  for (const auto& set : near_settings)
    for (const RunSpec& spec : loaded(lm, set).runs) {
      INFO(spec.id << " " << set.back());
      HostTransformers device;
      check_near(undisturbed(spec), on_device(spec, device), 2e-6, 1e-3);
    }
}

TEST_CASE("toy-lm on a device: a run stopped again and again ends with the same bits", "[unsanitized]") {
  std::mt19937 rng(15);
  int stops = 0;
  for (const auto& set : near_settings) {
    const RunSpec spec = loaded(lm, set).runs[0];
    INFO(spec.id << " " << set.back());
    HostTransformers device;
    const RunRecord whole = on_device(spec, device);
    Memory memory;
    RunRecord r;
    for (int calls = 0; calls < 100; ++calls) {
      r = call_on(device, spec, memory, std::uniform_int_distribution<int>(1, 4)(rng));
      if (r.status == RunStatus::ok || r.error != "stopped") break;
      ++stops;
    }
    check_equal(whole, r);
  }
  CHECK(stops > 10);
}

TEST_CASE("toy-lm: neither the CPU nor another device goes on from a device's checkpoint, both begin again") {
  const RunSpec spec = loaded(lm, {}).runs[0];
  HostTransformers device, other;
  other.name = "another queue";
  const RunRecord on_cpu_alone = undisturbed(spec), whole = on_device(spec, device);
  for (const int who : {0, 1, 2}) {
    Memory memory;
    REQUIRE(call_on(device, spec, memory, 3).error == "stopped");
    const RunRecord r = who == 0 ? call(spec, memory, -1) : call_on(who == 1 ? other : device, spec, memory, -1);
    check_equal(who == 0 ? on_cpu_alone : whole, r);
    REQUIRE(memory.told.size() == 1);
    CHECK(memory.told[0] == (who == 2 ? "continued " + spec.id + " at step 3 of 11"
                                      : "ignored the checkpoint of " + spec.id + ": another program, kind of processor or device left it"));
  }
}

TEST_CASE("toy-lm on a device: a suite has one digest for any number of jobs, and as many runs train at a time as jobs and memory allow", "[unsanitized]") {
  const Folder folder;
  const Suite suite = loaded(lm, {"suite.seeds=3", "grid.estimator=[grpo, maxrl, window]", "learn.steps=5"});
  const double bytes = toy_lm_device_bytes(suite.runs[0]);
  std::string digest;
  for (const int jobs : {1, 3}) {
    HostTransformers device;
    const std::string one = digest_of(suite, folder.file("jobs.h5"), device, jobs);
    fs::remove(folder.file("jobs.h5"));
    if (digest.empty()) digest = one;
    CHECK(one == digest);
    CHECK(device.made == 9);
    CHECK(device.most <= jobs);
    CHECK(device.alive == 0);
    CHECK(device.faults.held == 0);
  }
  HostTransformers device;
  RunSettings narrow = settings_of(folder.file("narrow.h5"), device, 4);
  narrow.engines = {device.engine(2.5 * bytes)};
  const RunReport report = run_on(suite, narrow);
  CHECK(report.digest == digest);
  CHECK(report.by_engines == 9);
  CHECK(device.most <= 2);
}

TEST_CASE("toy-lm on a device: so many runs do train at a time, the first of each seed, and all steps are told") {
  const Folder folder;
  const Suite suite = loaded(lm, {"suite.seeds=3", "policy.p.warm_steps=[3, 6]", "learn.steps=3"});
  HostTransformers device;
  device.meet = 3;  // the first runs wait for so many to be there
  RunSettings settings = settings_of(folder.file("meet.h5"), device, 3);
  double left = 1;
  std::uint64_t steps = 0;
  settings.on_progress = [&](const Tally& t) { left = t.work.seconds_left, steps = t.work.steps_done; };
  const RunReport report = run_on(suite, settings);
  CHECK(report.by_engines == 6);
  CHECK(device.met);
  CHECK(device.most == 3);
  CHECK(device.first_starts.size() == 3);  // of three seeds
  CHECK(steps == 18);
  CHECK(left == Approx(0).margin(1e-6));
}

TEST_CASE("toy-lm on a device: two devices share a suite, and one that fails stops the other, which loses nothing that is finished", "[unsanitized]") {
  const Folder folder;
  const Suite suite = loaded(lm, {"suite.seeds=5", "grid.estimator=[grpo, maxrl]", "learn.steps=5"});
  HostTransformers one, other;
  const std::string digest = digest_of(suite, folder.file("one.h5"), one, 2);
  RunSettings settings = settings_of(folder.file("two.h5"), one, 4);
  settings.engines.push_back(other.engine());
  const int before = one.made;
  CHECK(run_on(suite, settings).digest == digest);
  CHECK(one.made > before);
  CHECK(other.made > 0);

  settings.output = folder.file("lost.h5");
  other.faults.calls = 0;
  other.faults.fail_at = 2000;
  try {
    run_on(suite, settings);
    FAIL("no failure");
  } catch (const Failure& failure) {
    CHECK(failure.code == Exit::device);
  }
  CHECK((one.alive == 0 && other.alive == 0));
  other.faults.fail_at = 0;
  other.faults.lost = false;
  const RunReport rest = run_on(suite, settings);
  CHECK(rest.digest == digest);
}

TEST_CASE("toy-lm on a device: a stop keeps what is half way, and the same suite goes on to the same digest", "[unsanitized]") {
  const Folder folder;
  const Suite suite = loaded(lm, {"suite.seeds=2", "grid.estimator=[grpo, maxrl]", "learn.steps=30"});
  HostTransformers device;
  const std::string digest = digest_of(suite, folder.file("whole.h5"), device);
  RunSettings settings = settings_of(folder.file("stopped.h5"), device);
  int stops = 0;
  for (int calls = 0; calls < 50; ++calls) {
    std::atomic<bool> stop{false};
    settings.stop = &stop;
    const std::size_t end = device.faults.calls + 500 + 300 * static_cast<std::size_t>(calls);
    std::thread stopper([&] {
      while (!stop && device.faults.calls < end) std::this_thread::yield();
      stop = true;
    });
    const RunReport report = run_on(suite, settings);
    stop = true;
    stopper.join();
    if (!report.stopped) {
      CHECK(report.digest == digest);
      break;
    }
    ++stops;
  }
  CHECK(stops > 0);
  CHECK(fs::exists(settings.output));
}

TEST_CASE("toy-lm on a device: whichever call fails, finished runs are saved and the same suite goes on, on the CPU too", "[slow]") {
  const Folder folder;
  const Suite suite = loaded(lm, {"suite.seeds=3", "learn.steps=3", "env.toy-lm.evaluated_prompts=8", "policy.p.warm_steps=0",
                                  "policy.p.warm_batch=64"});
  std::string digest;
  std::size_t calls = 0;
  {
    HostTransformers device;
    digest = digest_of(suite, folder.file("whole.h5"), device, 1);
    calls = device.faults.calls - 1;  // the last is the last run's end, which waits for nothing that is needed
  }
  CHECK(calls > 1000);
  std::size_t saved_somewhere = 0;
  std::mt19937 rng(16);
  const bool every = std::getenv("ODRPO_FAULTS") != nullptr;  // as the tests of labels `faults`
  const std::size_t tries = every ? calls : rounds<std::size_t>(16, 60);
  for (std::size_t i = 0; i < tries; ++i) {
    HostTransformers device;
    // the first calls one by one, which make a run; then from everywhere
    device.faults.fail_at = every || i < rounds<std::size_t>(6, 20) ? i + 1 : 1 + rng() % calls;
    INFO("call " << device.faults.fail_at << " of " << calls << " fails, seed 16");
    RunSettings settings = settings_of(folder.file("lost.h5"), device, i % 2 == 0 ? 1 : 3);
    try {
      run_on(suite, settings);
      FAIL("no failure");
    } catch (const Failure& failure) {
      INFO(failure.what());
      REQUIRE(failure.code == Exit::device);
      CHECK(std::string(failure.what()).find("host:0 (queue): the device is lost: cannot ") == 0);
      CHECK(std::string(failure.what()).find("with --device cpu too") != std::string::npos);
    }
    CHECK(device.alive == 0);
    CHECK_FALSE(fs::exists(settings.output));
    // the device is well again, or the CPU takes what is left
    device.faults.lost = false;
    device.faults.fail_at = 0;
    if (i % 4 == 3) settings.engines.clear();
    const RunReport rest = run_on(suite, settings);
    saved_somewhere += rest.resumed;
    CHECK(rest.failed == 0);
    CHECK(rest.resumed + rest.ran == 3);
    if (i % 4 != 3) CHECK(rest.digest == digest);
    fs::remove(settings.output);
  }
  CHECK(saved_somewhere > 0);
}

TEST_CASE("toy-lm on a device: a run that diverges fails alone") {
  const Suite suite = loaded(lm, {"learn.lr=[1e-3, 1e6]", "learn.steps=8", "learn.weight_decay=1", "learn.schedule=constant", "learn.warmup=0"});
  const Folder folder;
  HostTransformers device;
  const RunReport report = run_on(suite, settings_of(folder.file("diverged.h5"), device));
  CHECK(report.ran == 2);
  CHECK(report.failed == 1);
  REQUIRE(report.failures.size() == 1);
  CHECK(report.failures[0].find("not finite") != std::string::npos);
}

TEST_CASE("toy-lm: which runs a device trains, and why not") {
  const RunSpec spec = loaded(lm, {}).runs[0];
  CHECK(why_not_batched(spec) == "");
  CHECK(batched_at_once(spec) == toy_lm_at_once);
  CHECK(batched_bytes(spec) > 30e6);
  RunSpec huge = spec;
  huge.learn.batch = 1 << 16;
  huge.learn.rollouts = 255;
  CHECK(why_not_batched(huge).find("more values than a device counts") != std::string::npos);
  RunSpec other = spec;
  other.learn.rollouts = 4;
  CHECK(batch_shape(other) != batch_shape(spec));
  other = spec;
  other.learn.optimizer.lr = 0.5;
  CHECK(batch_shape(other) == batch_shape(spec));

  // a machine without the library of products
  const Suite suite = loaded(lm, {"suite.seeds=2"});
  HostTransformers device;
  std::vector<BatchEngine> engines{device.engine()};
  CHECK(make_schedule(suite.runs, run_order(suite), engines, {}).in_batches() == 2);
  engines[0].no_transformers = [] { return std::string("there is no cuBLASLt"); };
  const Schedule without = make_schedule(suite.runs, run_order(suite), engines, {});
  CHECK(without.in_batches() == 0);
  REQUIRE(without.why.size() == 1);
  CHECK(without.why[0].why == "there is no cuBLASLt");
}
