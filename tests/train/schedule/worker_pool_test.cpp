// Engines beside the workers: the same digest whoever trains what; an engine that fails, stops or has bad news loses nothing that is done.

#include "train/schedule/worker_pool.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <map>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "config/spec.hpp"
#include "tests/catch.hpp"
#include "tests/results/sample.hpp"
#include "tests/train/tiny.hpp"
#include "train/run_record.hpp"
#include "train/schedule/run_order.hpp"
#include "train/train.hpp"

using namespace odrpo;
namespace fs = std::filesystem;

namespace {

// What fake engines were asked for, from any of their threads.
struct Calls {
  std::mutex mutex;
  std::map<std::string, std::vector<std::size_t>> batches;  // engine -> sizes
  std::vector<std::string> runs;
  void add(const std::string& engine, const std::vector<const RunSpec*>& specs) {
    const std::lock_guard lock(mutex);
    batches[engine].push_back(specs.size());
    for (const RunSpec* s : specs) runs.push_back(s->id);
  }
};

using Train = std::function<void(const BatchEngine::Call&)>;

// An engine that trains on the host, one run after another.
void train_all(const BatchEngine::Call& call) {
  for (const RunSpec* spec : call.runs) {
    RunRecord r = train(*spec, call.shared, call.stop);
    if (r.error == "stopped") return;
    call.done(std::move(r));
  }
}

// Some of them.
void train_some(const BatchEngine::Call& call, std::size_t first, std::size_t end) {
  const auto begin = call.runs.begin();
  const std::vector<const RunSpec*> some(begin + static_cast<std::ptrdiff_t>(first), begin + static_cast<std::ptrdiff_t>(end));
  train_all({some, call.shared, call.stop, call.store, call.done, call.progress});
}

// The first `n` of them.
void train_first(std::size_t n, const BatchEngine::Call& call) { train_some(call, 0, std::min(n, call.runs.size())); }

// Settings in which every run can be batched of one byte and all have one shape.
struct Settings : RunSettings {
  BatchRules batch_rules;
};
Settings with_engines(const std::string& output, const std::vector<Train>& trains, double memory = 1000) {
  Settings s;
  s.output = output;
  s.jobs = 2;
  s.batch_rules.why_not_batched = [](const RunSpec&) { return std::string(); };
  s.batch_rules.batch_shape = [](const RunSpec&) { return std::string(); };
  s.batch_rules.batched_bytes = [](const RunSpec&) { return 1.0; };
  for (const Train& t : trains) s.engines.push_back({"fake:" + std::to_string(s.engines.size()), memory, t});
  return s;
}

RunReport run(const Suite& suite, Settings settings) {
  settings.schedule = make_schedule(suite.runs, run_order(suite), settings.engines, settings.batch_rules);
  return run_suite(suite, suite_facts(suite, "test"), settings);
}

// The failure that the suite ends with.
Failure failure_of(const Suite& suite, const Settings& settings) {
  try {
    run(suite, settings);
  } catch (const Failure& f) {
    return f;
  }
  return {Exit::ok, "nothing failed"};
}

bool says(const Failure& f, const std::string& words) { return std::string(f.what()).find(words) != std::string::npos; }

}  // namespace

TEST_CASE("the digest does not depend on who trains what") {
  const Folder folder;
  const Suite suite = tiny();
  const std::string digest = run(suite, folder.file("cpu.h5"), 2).digest;
  const auto odd = [](const RunSpec& s) { return s.votes == 8 ? std::string("eight votes") : std::string(); };
  const auto by_votes = [](const RunSpec& s) { return std::to_string(s.votes); };
  for (const int engines : {1, 2, 3})
    for (const bool unbatched : {false, true})
      for (const double memory : {1000.0, 3.0, 1.0}) {
        Calls calls;
        std::vector<Train> trains;
        for (int e = 0; e < engines; ++e)
          trains.push_back([&calls, e](const BatchEngine::Call& call) {
            calls.add("fake:" + std::to_string(e), call.runs);
            train_all(call);
          });
        const std::string name = std::to_string(engines) + (unbatched ? "some" : "all") + std::to_string(memory) + ".h5";
        INFO(name);
        Settings settings = with_engines(folder.file(name.c_str()), trains, memory);
        settings.batch_rules.batch_shape = by_votes;
        if (unbatched) settings.batch_rules.why_not_batched = odd;
        const RunReport report = run(suite, settings);
        CHECK(report.digest == digest);
        CHECK(report.ran == 8);
        const std::size_t batched = unbatched ? 4 : 8;
        CHECK(report.by_engines == batched);
        CHECK(calls.runs.size() == batched);
        std::sort(calls.runs.begin(), calls.runs.end());
        CHECK(std::adjacent_find(calls.runs.begin(), calls.runs.end()) == calls.runs.end());
        for (const auto& [engine, batches] : calls.batches)
          for (const std::size_t size : batches) CHECK(static_cast<double>(size) <= memory);
      }
}

TEST_CASE("engines and workers train at the same time") {
  const Folder folder;
  const Suite suite = tiny();
  std::atomic<int> there{0};
  std::atomic<bool> together{true};
  // each of them goes on only when both are there
  const auto meet = [&](const BatchEngine::Call& call) {
    ++there;
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(120);
    while (there < 2 && std::chrono::steady_clock::now() < limit) std::this_thread::yield();
    if (there < 2) together = false;
    train_all(call);
  };
  Settings settings = with_engines(folder.file("both.h5"), {meet, meet});
  CHECK(run(suite, settings).by_engines == 8);
  CHECK(together);

  // a run of the workers ends while the engine is in its only batch
  std::atomic<std::size_t> trained{0};
  const auto wait = [&](const BatchEngine::Call& call) {
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(120);
    while (trained < 4 && std::chrono::steady_clock::now() < limit) std::this_thread::yield();
    if (trained < 4) together = false;
    train_all(call);
  };
  Settings mixed = with_engines(folder.file("mixed.h5"), {wait});
  mixed.batch_rules.why_not_batched = [](const RunSpec& s) { return s.votes == 8 ? std::string("eight votes") : std::string(); };
  mixed.on_progress = [&](const Tally& t) { trained = t.trained; };
  CHECK(run(suite, mixed).ran == 8);
  CHECK(together);
}

TEST_CASE("a device that fails ends the suite with what is done saved, and the same suite goes on without it") {
  const Folder folder;
  const Suite suite = tiny();
  const std::string digest = run(suite, folder.file("cpu.h5"), 2).digest;
  const auto lost = [](const BatchEngine::Call& call) {
    train_first(3, call);
    throw Failure(Exit::device, "the device was lost");
  };
  Settings settings = with_engines(folder.file("lost.h5"), {lost});
  Tally last;
  settings.on_progress = [&](const Tally& t) { last = t; };
  const Failure f = failure_of(suite, settings);
  INFO(f.what());
  CHECK(f.code == Exit::device);
  CHECK(says(f, "fake:0: the device was lost; 3 of 8 runs are saved in "));
  CHECK(says(f, "the same command continues, with --device cpu too"));
  CHECK(last.over);
  CHECK(last.committed == 3);
  CHECK_FALSE(fs::exists(settings.output));

  // a second failure counts the runs of both calls
  settings.engines[0].train = [](const BatchEngine::Call& call) {
    train_first(1, call);
    throw Failure(Exit::device, "out of memory");
  };
  CHECK(says(failure_of(suite, settings), "4 of 8 runs are saved"));
  const RunReport rest = run(suite, settings.output, 1);
  CHECK(rest.resumed == 4);
  CHECK(rest.digest == digest);

  // before anything was done there is nothing to continue
  settings.output = folder.file("none.h5");
  settings.engines[0].train = [](const auto&...) { throw Failure(Exit::device, "out of memory"); };
  CHECK(says(failure_of(suite, settings), "none of 8 runs is saved; the same command begins again, with --device cpu too"));
}

TEST_CASE("an engine that fails stops the other engines and the workers, which lose nothing that is finished") {
  const Folder folder;
  const Suite suite = tiny({"suite.seeds=6", "learn.steps=200"});
  const std::string digest = run(suite, folder.file("cpu.h5"), 2).digest;
  std::atomic<bool> other{false};
  const auto lost = [&](const BatchEngine::Call& call) {
    while (!other && !call.stop) std::this_thread::yield();
    throw Failure(Exit::device, "the device was lost");
  };
  const auto slow = [&](const BatchEngine::Call& call) {
    train_first(2, call);
    other = true;
    while (!call.stop) std::this_thread::yield();
  };
  Settings settings = with_engines(folder.file("lost.h5"), {lost, slow, lost});
  settings.batch_rules.why_not_batched = [](const RunSpec& s) { return s.votes == 8 ? std::string("eight votes") : std::string(); };
  Tally last;
  settings.on_progress = [&](const Tally& t) { last = t; };
  const Failure f = failure_of(suite, settings);
  CHECK(f.code == Exit::device);
  CHECK(last.committed == last.trained);
  CHECK(last.committed >= 2);
  CHECK(says(f, std::to_string(last.committed) + " of 24 runs are saved"));
  const RunReport rest = run(suite, settings.output, 2);
  CHECK(rest.resumed == last.committed);
  CHECK(rest.digest == digest);
}

TEST_CASE("whatever an engine throws is told with its exit code") {
  const Folder folder;
  const Suite suite = tiny();
  const auto ends = [&](const char* name, Train last) {
    return failure_of(suite,
                      with_engines(folder.file(name), {[last](const BatchEngine::Call& call) {
                                     train_first(2, call);
                                     last(call);
                                   }}));
  };
  const Failure memory = ends("memory.h5", [](const auto&...) { throw std::bad_alloc(); });
  CHECK(memory.code == Exit::internal);
  CHECK(says(memory, "fake:0: out of memory on the host; 2 of 8 runs are saved"));
  CHECK_FALSE(says(memory, "--device"));
  const Failure odd = ends("odd.h5", [](const auto&...) { throw std::runtime_error("odd"); });
  CHECK(odd.code == Exit::internal);
  CHECK(says(odd, "fake:0: internal error: odd; 2 of 8"));
  CHECK(ends("number.h5", [](const auto&...) { throw 3; }).code == Exit::internal);
  const Failure early = ends("early.h5", [](const auto&...) {});
  CHECK(early.code == Exit::internal);
  CHECK(says(early, "2 of 8 runs came back; 2 of 8 runs are saved"));
}

TEST_CASE("a stop reaches engines: what they have finished is saved, and goes on to the same digest") {
  const Folder folder;
  const Suite suite = tiny();
  const std::string digest = run(suite, folder.file("cpu.h5"), 2).digest;
  std::atomic<bool> stop{false};
  const auto until_stopped = [](const BatchEngine::Call& call) {
    train_first(2, call);
    while (!call.stop) std::this_thread::yield();
  };
  Settings settings = with_engines(folder.file("stopped.h5"), {until_stopped, until_stopped});
  settings.stop = &stop;
  settings.on_progress = [&](const Tally& t) { stop = t.trained == 4; };
  const RunReport first = run(suite, settings);
  CHECK(first.stopped);
  CHECK(first.ran == 4);
  CHECK(first.by_engines == 4);
  Settings again = with_engines(settings.output, {train_all});
  const RunReport second = run(suite, again);
  CHECK(second.resumed == 4);
  CHECK(second.by_engines == 4);
  CHECK(second.digest == digest);
}

TEST_CASE("a failed run that an engine hands over is recorded with its reason") {
  const Folder folder;
  const Suite suite = tiny();
  const auto unlucky = [](const BatchEngine::Call& call) {
    call.done(failed_record(*call.runs.front(), "parameters are no numbers after step 3"));
    train_some(call, 1, call.runs.size());
  };
  const RunReport report = run(suite, with_engines(folder.file("unlucky.h5"), {unlucky}));
  CHECK_FALSE(report.stopped);
  CHECK(report.failed == 1);
  REQUIRE(report.failures.size() == 1);
  CHECK(report.failures[0].find("no numbers after step 3") != std::string::npos);
  const auto file = sample::read_all(folder.file("unlucky.h5"));
  CHECK(std::count_if(file.records.begin(), file.records.end(), [](const RunRecord& r) { return r.status == RunStatus::failed; }) == 1);
}

TEST_CASE("nobody waits for ever for room in a queue of one byte") {
  const Folder folder;
  const Suite suite = tiny();
  const std::string digest = run(suite, folder.file("cpu.h5"), 2).digest;
  Settings settings = with_engines(folder.file("full.h5"), {train_all, train_all});
  settings.queue_bytes = 1;
  settings.batch_rules.why_not_batched = [](const RunSpec& s) { return s.votes == 8 ? std::string("eight votes") : std::string(); };
  CHECK(run(suite, settings).digest == digest);

  // engines fail, or the committing thread does, while the others push
  const auto lost = [](const BatchEngine::Call& call) {
    train_first(1, call);
    throw Failure(Exit::device, "the device was lost");
  };
  settings.output = folder.file("lost.h5");
  for (BatchEngine& e : settings.engines) e.train = lost;
  CHECK(failure_of(suite, settings).code == Exit::device);
  settings.output = folder.file("disk.h5");
  for (BatchEngine& e : settings.engines) e.train = train_all;
  settings.on_progress = [](const Tally& t) {
    if (t.trained > 0) throw Failure(Exit::io, "the disk is full");
  };
  CHECK(failure_of(suite, settings).code == Exit::io);
}
