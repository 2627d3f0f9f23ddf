// Runs that are stopped and go on, of the toy language model and of the bandit: bit by bit what an undisturbed run gives, whatever lies in the folder.
#include "train/checkpoint/checkpoint.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <random>
#include <thread>

#include "kernels/shared/failure.hpp"
#include "results/store/digest.hpp"
#include "tests/catch.hpp"
#include "tests/config/loading.hpp"
#include "tests/rounds.hpp"
#include "tests/train/checkpoint/checkpoint_sample.hpp"
#include "train/loop.hpp"
#include "train/schedule/run_suite.hpp"
#include "train/worlds/toy_lm.hpp"

using namespace odrpo;
using namespace odrpo::checkpoint_sample;
namespace fs = std::filesystem;

TEST_CASE("toy-lm: a run stopped again and again ends with the same bits", "[slow][unsanitized]") {
  const std::vector<std::vector<std::string>> settings{
      {"suite.seeds=2", "learn.kl=0"},
      {"learn.steps=61", "record.every=7", "record.rollouts=4"},  // the final reward is a mean of six steps
      {"learn.kl=0.05", "record.every=1"},
      {"learn.epochs=2", "learn.ratio_clip=0.01", "learn.lr=0.01", "record.every=5"},
      {"policy.p.lora_rank=3", "learn.kl=0.01", "policy.p.head=untied", "learn.schedule=linear"},
      {"policy.p.warm_steps=0", "policy.p.warm_batch=64", "policy.p.entropy=0.01", "grid.estimator=maxrl", "env.toy-lm.prompts=4"},
      {"grid.estimator=[window, moving]", "suite.seeds=2", "record.every=3"},
      {"grid.estimator=[window, moving]", "grid.votes=4", "rater.mixed.aggregate=mean", "record.every=12"},
      {"grid.estimator=window", "rater.mixed.parse_policy=drop", "rater.mixed.parse_failure=0.3", "learn.dead_groups=drop"},
      {"rater.mixed.parse_policy=resample", "rater.mixed.parse_failure=0.3", "rater.mixed.json_broken=0.2"},
      {"learn.dead_groups=resample", "learn.max_batches=50", "env.toy-lm.prompts=200", "learn.epochs=2", "learn.kl=0.01", "record.every=3", "record.rollouts=1"},
      {"grid.votes=5", "rater.mixed.stop=2", "rater.mixed.parse_failure=0.3"},
      {"grid.estimator=[window, moving]", "grid.votes=3", "rater.mixed.aggregate=fraction", "rater.mixed.parse_failure=0.3"},
      {"grid.estimator=[posterior(grpo), moments]", "suite.seeds=2", "record.every=5"},
  };
  std::mt19937 rng(5);
  int stops = 0;
  for (const auto& set : settings) {
    const Suite suite = loaded(lm, set);
    for (const RunSpec& spec : suite.runs) {
      INFO(spec.id);
      const RunRecord whole = undisturbed(spec);
      Memory memory;
      RunRecord r;
      for (int calls = 0; calls < 100; ++calls) {
        r = call(spec, memory, std::uniform_int_distribution<int>(1, rounds(8, 4))(rng));
        if (r.status == RunStatus::ok || r.error != "stopped") break;
        ++stops;
      }
      check_equal(whole, r);
    }
  }
  CHECK(stops > rounds(10, 20));
}

TEST_CASE("toy-lm: a run whose evaluations are stopped goes on to the same bits, and stops within a block of one", "[unsanitized]") {
  const Suite suite = loaded(lm, {"env.toy-lm.evaluated_prompts=2500", "record.every=1", "learn.steps=3"});
  const RunSpec spec = suite.runs[0];
  const RunRecord whole = undisturbed(spec);
  constexpr unsigned seed = 12;
  std::mt19937 rng(seed);
  Memory memory;
  RunRecord r;
  int stops = 0;
  for (int calls = 0; calls < 60; ++calls) {
    std::atomic<bool> stop{false};
    std::thread stopper([&, wait = std::uniform_int_distribution<int>(1, static_cast<int>(60 * std::pow(1.15, calls)))(rng)] {
      std::this_thread::sleep_for(std::chrono::milliseconds(wait));
      stop = true;
    });
    RunCache cache;
    r = train(spec, cache, stop, memory.store);
    stopper.join();
    if (r.status == RunStatus::ok || r.error != "stopped") break;
    ++stops;
  }
  INFO("seed " << seed << ", " << stops << " stops");
  CHECK(stops > 0);
  check_equal(whole, r);
}

TEST_CASE("bandit: a run stopped again and again ends with the same bits", "[slow]") {
  const std::string bandit = R"toml([suite]
name = "checkpoints"
[grid]
rater = "mixed"
policy = "tabular"
estimator = "grpo"
[env.bandit]
prompts = 40
actions = 12
[learn]
steps = 90
batch = 8
rollouts = 4
lr = 0.1
[record]
collapse_fall = 0.01
collapse_steps = 3
every = 7
[estimator.window]
base = "odrpo-gini-median(grpo)"
median = "running"
window = 20
[estimator.moments]
base = "posterior(maxrl)"
prior = "moments"
)toml";
  const std::vector<std::vector<std::string>> settings{
      {"suite.seeds=2"},
      {"env.bandit.prompts=700", "learn.steps=200"},  // rows that go longer without a visit than Adam remembers
      {"grid.policy=linear", "learn.optimizer=adamw", "learn.weight_decay=0.1", "learn.schedule=cosine"},
      {"learn.optimizer=sgd", "learn.lr=2", "learn.clip=0.05", "record.every=1"},
      {"learn.epochs=3", "learn.ratio_clip=0.1", "record.gradient=3"},
      {"grid.estimator=window", "grid.votes=3", "rater.mixed.aggregate=mean", "rater.mixed.sampling=draws"},
      {"grid.votes=5", "rater.mixed.stop=2", "rater.mixed.sampling=[law, draws]", "record.rollouts=6"},
      {"grid.rater=panel-dialogue", "grid.votes=8", "rater.panel-dialogue.stop=3"},
      {"grid.estimator=[posterior(grpo), moments]", "record.gradient=2", "grid.votes=3", "rater.mixed.aggregate=[mean, mode, all]"},
      {"grid.rater=panel-essays", "grid.votes=6", "rater.panel-essays.stop=[0, 3]", "rater.panel-essays.prices=[1, 2, 4, 16]"},
      {"rater.mixed.parse_policy=drop", "rater.mixed.parse_failure=0.3", "learn.dead_groups=drop"},
      {"policy.tabular.tilt=[0, 0.7]", "learn.lr=[0, 0.1]", "record.gradient=2"},
      {"learn.dead_groups=resample", "env.bandit.prompts=700", "learn.steps=200", "rater.mixed.parse_policy=drop", "rater.mixed.parse_failure=0.5", "record.rollouts=9"},
      {"learn.dead_groups=resample", "env.bandit.prompts=100", "grid.policy=linear", "grid.votes=5", "rater.mixed.stop=2", "record.every=1"},
      {"grid.policy=linear", "policy.linear.tilt=1.5", "learn.optimizer=[adam, sgd]", "record.gradient=2", "record.logits=1"},
      {"policy.tabular.tilt=0.7", "learn.epochs=2", "record.logits=1"},
      {"grid.estimator=window", "grid.votes=5", "rater.mixed.aggregate=fraction", "record.gradient=3", "learn.epochs=2"},
  };
  std::mt19937 rng(9);
  int stops = 0;
  for (const auto& set : settings)
    for (const RunSpec& spec : loaded(bandit, set).runs) {
      INFO(spec.id << " " << set.front());
      const RunRecord whole = undisturbed(spec);
      Memory memory;
      RunRecord r;
      for (int calls = 0; calls < 300; ++calls) {
        r = call(spec, memory, std::uniform_int_distribution<int>(1, rounds(60, 20))(rng));
        if (r.status == RunStatus::ok || r.error != "stopped") break;
        ++stops;
      }
      check_equal(whole, r);
    }
  CHECK(stops > rounds(15, 40));
}

TEST_CASE("toy-lm: a run stopped at any instant goes on, and so does one that was killed") {
  std::mt19937 rng(6);
  const RunSpec spec = loaded(lm, {"grid.estimator=window", "learn.epochs=3", "learn.ratio_clip=0.1", "learn.steps=23"}).runs[0];
  const RunRecord whole = undisturbed(spec);
  int stopped = 0, killed = 0;
  for (int round = 0; round < 3; ++round) {
    Memory memory;
    memory.store.seconds = round == 0 ? 1000 : 0;  // the first round is kept when it is stopped only
    RunRecord r;
    for (int calls = 0; calls < 200; ++calls) {
      auto before = memory.files;
      RunCache shared;
      std::atomic<bool> stop{false};
      const bool kill = round == 2 && calls % 3 == 0;
      if (kill && calls == 0)  // one kill that no machine is too fast for
        memory.saved = [&stop](CheckpointKind kind) { stop = stop || kind == CheckpointKind::run; };
      // longer and longer, so that a slow machine gets to the end too
      std::thread other([&stop, wait = std::uniform_int_distribution<int>(1000, 40'000 << calls / 20)(rng)] {
        std::this_thread::sleep_for(std::chrono::microseconds(wait));
        stop = true;
      });
      r = train(spec, shared, stop, memory.store);
      memory.saved = [](CheckpointKind) {};
      other.join();
      if (r.error != "stopped") break;
      ++stopped;
      if (kill) memory.files = before, ++killed;  // what was kept since then never came to the disk
    }
    check_equal(whole, r);
  }
  CHECK(stopped > 5);
  CHECK(killed > 0);
}

TEST_CASE("toy-lm: nothing is done twice: steps, supervised steps, nor kept without need") {
  const Suite suite = loaded(lm, {"grid.estimator=[grpo, maxrl]"});
  const RunSpec& spec = suite.runs[0];
  Memory memory;
  CHECK(call(spec, memory, 4).error == "stopped");
  CHECK(memory.starts == 6);  // after each of six steps
  CHECK(memory.checkpoints == 4);
  call(spec, memory, 1000);
  CHECK(memory.told == std::vector<std::string>{"continued " + spec.id + " at step 4 of 11"});
  CHECK(memory.starts == 6);
  CHECK(memory.loaded_starts == 1);
  CHECK(memory.checkpoints == 10);  // after each of steps 1..10
  call(suite.runs[1], memory, 1000);
  CHECK(memory.starts == 6);  // shared by what they do not depend on
  CHECK(memory.loaded_starts == 2);

  Memory rarely;
  rarely.store.seconds = 1000;
  call(spec, rarely, 1000);
  CHECK(rarely.checkpoints == 0);
  CHECK(rarely.starts == 0);  // made in less than a second
}

TEST_CASE("toy-lm: what could not be kept is tried again when the run stops, and lack of memory ends none") {
  const RunSpec spec = loaded(lm, {"suite.seeds=1"}).runs[0];
  const RunRecord whole = undisturbed(spec);
  for (const bool memory_lacks : {false, true}) {
    Memory memory;
    RunCache shared;
    memory.refuse = [memory_lacks](CheckpointKind) { return memory_lacks ? throw std::bad_alloc() : true; };
    check_equal(whole, call(spec, memory, 1000));
    CHECK(memory.files.empty());

    const ToyLmProblem problem = *make_toy_lm_problem(spec, shared, best_isa(), never);
    Run<ToyLmRun> run(problem);
    REQUIRE(train_step(run.world, 0, {}, never));
    run.t = 1;
    Checkpoints<Run<ToyLmRun>> checkpoints(memory.store, spec, {best_isa()});
    checkpoints.save_when_due(run, true);
    CHECK(memory.checkpoints == 0);
    memory.refuse = [](CheckpointKind) { return false; };
    checkpoints.save_when_due(run, true);
    checkpoints.save_when_due(run, true);
    CHECK(memory.checkpoints == 1);
  }
}

TEST_CASE("toy-lm: a step that is stopped before it learns leaves no seconds behind") {
  const RunSpec spec = loaded(lm, {"suite.seeds=1"}).runs[0];
  RunCache shared;
  const ToyLmProblem problem = *make_toy_lm_problem(spec, shared, best_isa(), never);
  ToyLmRun run(problem);
  const std::atomic<bool> stopped{true};
  CHECK_FALSE(train_step(run, 0, {}, stopped));
  for (const double seconds : run.step.seconds) CHECK(seconds == 0);
}

TEST_CASE("toy-lm: a checkpoint that is not this run's, or is not whole, is not taken over", "[slow]") {
  const Suite suite = loaded(lm, {"grid.estimator=[window, grpo]", "policy.p.warm_steps=2"});
  const RunSpec& spec = suite.runs[0];
  const RunRecord whole = undisturbed(spec);
  Memory good, other;
  CHECK(call(spec, good, 5).error == "stopped");
  CHECK(call(suite.runs[1], other, 5).error == "stopped");
  const std::string bytes = good.checkpoint();
  int taken = 0;
  const auto try_with = [&](const std::string& what, const std::string& checkpoint) {
    INFO(what);
    Memory memory;
    memory.files = good.files;
    memory.checkpoint() = checkpoint;
    const RunRecord r = call(spec, memory, 1000);
    taken += memory.told.size() == 1 && memory.told[0].starts_with("continued");
    REQUIRE(r.status == RunStatus::ok);
    return result_digest({&r, 1}) == result_digest({&whole, 1});
  };
  CHECK(try_with("its own", bytes));
  CHECK(taken == 1);
  CHECK(try_with("another run's", other.checkpoint()));
  CHECK(try_with("text", "not a checkpoint"));
  CHECK(try_with("more", bytes + '\0'));
  std::mt19937 rng(7);
  for (int i = 0; i < 20; ++i) {
    const std::size_t size =
        i < 10 ? static_cast<std::size_t>(i) * 12 : std::uniform_int_distribution<std::size_t>(1, bytes.size() - 1)(rng);
    CHECK(try_with("cut to " + std::to_string(size), bytes.substr(0, size)));
  }
  // lengths that lie: the store's digest does not let them through, and here they fail cleanly
  const auto count_at = [&](std::size_t at) {
    std::uint64_t count = 0;
    std::memcpy(&count, &bytes[at], sizeof count);
    return count;
  };
  std::size_t at = 0;
  int lies = 0;
  at += 8 + count_at(0);                                        // whose
  for (const std::size_t skip : {2 * sizeof(int), 0ul, 0ul}) {  // t, last record; weights, moments
    at += skip;
    for (const std::uint64_t lie : {std::uint64_t{0}, count_at(at) - 1, count_at(at) + 1, ~std::uint64_t{0}, std::uint64_t{1} << 62}) {
      std::string lying = bytes;
      std::memcpy(&lying[at], &lie, sizeof lie);
      CHECK(try_with("lie", lying));
      ++lies;
    }
    at += 8 + 4 * count_at(at);
  }
  for (std::size_t flip = at; flip < bytes.size(); flip += rounds(251, 17)) {  // the median and all that follows: no crash; values may be believed
    std::string flipped = bytes;
    flipped[flip] = static_cast<char>(flipped[flip] ^ 0x80);
    try_with("flipped", flipped);
    ++lies;
  }
  CHECK(lies > rounds(15, 30));

  for (const char* build : {"build", "another build"}) {
    Memory memory;
    memory.files = good.files;
    memory.store.build = [build] { return std::string(build); };
    check_equal(whole, call(spec, memory, 1000));
    REQUIRE(memory.told.size() == 1);
    CHECK(memory.told[0].starts_with(build == std::string("build") ? "continued" : "ignored"));
    CHECK(memory.loaded_starts == (build == std::string("build") ? 1 : 0));
  }
  for (const std::string& start : {std::string("weights"), std::string(8, '\0'), std::string()}) {
    Memory memory;
    memory.files = good.files;
    for (auto& [name, kept] : memory.files)
      if (name.first == CheckpointKind::start) kept = start.empty() ? kept.substr(0, kept.size() - 4) : start;
    check_equal(whole, call(spec, memory, 1000));
    CHECK(memory.starts == 2);  // both steps made again and kept again
  }
}

TEST_CASE("toy-lm: a suite that is stopped again and again, in a folder on the disk") {
  const Suite suite = loaded(lm, {"grid.estimator=[grpo, window]", "suite.seeds=2", "learn.steps=40"});
  const SuiteFacts facts = suite_facts(suite, "test");
  std::string name = (fs::temp_directory_path() / "odrpo-keep-XXXXXX").string();
  REQUIRE(mkdtemp(name.data()) != nullptr);
  const fs::path folder = name;
  RunSettings settings;
  settings.jobs = 2;
  settings.output = (folder / "whole.h5").string();
  const std::string whole = run_suite(suite, facts, settings).digest;
  settings.output = (folder / "stopped.h5").string();
  settings.checkpoint_seconds = 0;
  std::mt19937 rng(8);
  int stops = 0, continued = 0, damaged = 0, half_way = 0;
  bool harmed = false;
  std::string digest;
  constexpr int stopped_calls = 60;  // then one that is left alone, for machines that get nowhere between two stops
  for (int calls = 0; calls <= stopped_calls && digest.empty(); ++calls) {
    std::atomic<bool> stop{false};
    settings.stop = &stop;
    settings.on_progress = [&, left = std::uniform_int_distribution<int>(1, 4 << calls / 20)(rng)](const Tally&) mutable {
      if (calls < stopped_calls && --left < 0) stop = true;
    };
    const RunReport report = run_suite(suite, facts, settings);
    stops += report.stopped;
    half_way += static_cast<int>(report.half_way);
    for (const auto& note : report.notes) continued += note.starts_with("continued"), damaged += note.starts_with("ignored the damaged");
    digest = report.digest;
    if (stops < 2 || harmed || report.half_way == 0) continue;
    harmed = true;
    for (const auto& entry : fs::directory_iterator(settings.output + ".work"))
      if (entry.path().filename().string().starts_with("checkpoint-")) fs::resize_file(entry.path(), fs::file_size(entry.path()) / 2);
  }
  CHECK(digest == whole);
  CHECK(stops > 2);
  CHECK(continued > 0);
  CHECK(damaged > 0);
  CHECK(half_way > 0);
  CHECK_FALSE(fs::exists(settings.output + ".work"));
  fs::remove_all(folder);
}
