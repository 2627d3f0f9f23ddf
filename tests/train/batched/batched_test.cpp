// Batched runs through the host backend: the same bits as train(), whatever the run and whatever the order of the items of a phase.
#include <set>

#include "config/write/canonical.hpp"
#include "tests/catch.hpp"
#include "tests/rounds.hpp"
#include "tests/source_path.hpp"
#include "tests/train/batched/host_backend.hpp"
#include "tests/train/batched/runs.hpp"
#include "tests/train/tiny.hpp"
#include "tests/train/trained.hpp"
#include "train/run_cache.hpp"

using namespace odrpo;

namespace {

std::vector<RunRecord> batched_records(HostDevice& host, const std::vector<RunSpec>& runs, const std::atomic<bool>& stop = never) {
  std::vector<const RunSpec*> pointers;
  for (const RunSpec& r : runs) pointers.push_back(&r);
  RunCache shared;
  std::vector<RunRecord> records;
  train_batched(host.device(), pointers, shared, stop, [&](RunRecord r) { records.push_back(std::move(r)); });
  return records;
}

// Runs of seeds 1, 2, … in batched runs and on the CPU; how many end well.
unsigned compare(RunSpec (*any)(Chooser&), bool general, unsigned seeds) {
  unsigned good = 0;
  for (unsigned seed = 1; seed <= seeds; ++seed) {
    Chooser c{std::mt19937(seed)};
    const RunSpec spec = any(c);
    INFO("seed " << seed << "\n" << canonical_text(spec));
    REQUIRE(why_not_batched(spec) == "");
    REQUIRE(make_layout(spec).general == (general || leaves_pivot(spec.estimator.form)));
    HostDevice host;
    host.order = static_cast<ItemOrder>(seed % 3);
    const std::vector<RunRecord> batched = batched_records(host, {spec});
    CHECK(host.held == 0);
    REQUIRE(batched.size() == 1);
    check_same(batched[0], run(spec));
    good += batched[0].status == RunStatus::ok;
  }
  return good;
}

}  // namespace

TEST_CASE("a batched run gives a run the bits that train() gives it: any policy, estimator, rater, optimiser and size") {
  CHECK(compare(any_run, false, 150) > 130);
}

TEST_CASE(
    "so does a batched run of the general kind: real-valued rewards, rewards that may be missing, running medians, literal votes, "
    "signals", "[slow]") {
  CHECK(compare(any_general_run, true, rounds(60u, 240u)) > rounds(45u, 200u));
}

TEST_CASE("and batched runs at the ends of the sizes that there are, in each order of the items of a phase") {
  std::size_t compared = 0, lost = 0;
  std::set<std::string> kinds;
  for (const RunSpec& spec : corner_runs()) {
    const RunRecord cpu = run(spec);
    lost += cpu.status == RunStatus::failed;
    const device::Layout layout = make_layout(spec);
    kinds.insert(std::string(layout.linear     ? "linear"
                             : layout.resident ? "resident"
                                               : "in device memory") +
                 (layout.general ? ", general" : ""));
    for (const ItemOrder order : {ItemOrder::forward, ItemOrder::backward, ItemOrder::shuffled}) {
      INFO(spec.id);
      HostDevice host;
      host.order = order;
      const std::vector<RunRecord> batched = batched_records(host, {spec});
      REQUIRE(batched.size() == 1);
      check_same(batched[0], cpu);
      ++compared;
    }
  }
  CHECK(compared == 3 * corner_runs().size());
  CHECK(lost == 2);
  CHECK(kinds == std::set<std::string>{"linear", "linear, general", "resident", "in device memory", "in device memory, general"});
}

TEST_CASE("and where a high learning rate makes gradients and moments subnormal") {
  for (const PolicyKind policy : {PolicyKind::tabular, PolicyKind::linear}) {
    RunSpec spec = base_run(policy, "grpo");
    spec.learn.optimizer.lr = 30;
    spec.learn.steps = 600;
    HostDevice host;
    const std::vector<RunRecord> batched = batched_records(host, {spec});
    REQUIRE(batched.size() == 1);
    check_same(batched[0], run(spec));
  }
}

TEST_CASE("a batched run tells its seconds by stage from its own clock") {
  RunSpec spec = base_run(PolicyKind::tabular, "grpo");
  HostDevice host;
  host.nanoseconds_per_tick = 5;
  const std::vector<RunRecord> batched = batched_records(host, {spec});
  REQUIRE(batched.size() == 1);
  const RunRecord& r = batched[0];
  REQUIRE(r.seconds.size() == r.step.size() * stage_count);
  // a tick a phase: of the estimator three, and one more where a batch is recorded, every tenth step
  const double phases[] = {1, 1, 1, 3.1, 1};
  for (std::size_t i = 1; i < r.step.size(); ++i)
    for (int stage = 0; stage < stage_record; ++stage) CHECK(r.seconds[i * stage_count + stage] == Approx(phases[stage] * 5e-9));
  CHECK(r.step_time_median == Approx(7.1 * 5e-9));

  // redraws for the gradient's signal are part of the record, not of the steps
  spec.rater.aggregate = Aggregate::mean;
  spec.votes = 4;
  const double without = batched_records(host, {spec}).at(0).step_time_median;
  spec.record.gradient = 2;
  CHECK(without > 0);
  CHECK(batched_records(host, {spec}).at(0).step_time_median == Approx(without));
}

TEST_CASE("the suites that are carried to a GPU train there to the last run") {
  for (const char* name : {"suites/quickstart.toml", "suites/yardstick.toml", "tests/config/odd.toml", "tests/config/rules.toml"}) {
    INFO(name);
    for (const RunSpec& r : load_suite(source_path(name), {}, {}).runs) REQUIRE(why_not_batched(r) == "");
  }
}

TEST_CASE("runs of one shape train together, whatever their estimator, rater, votes, seed and rate") {
  std::vector<RunSpec> runs;
  std::vector<std::string_view> words(estimator_catalogue().begin(), estimator_catalogue().end());
  std::erase_if(words, [](std::string_view word) { return only_on_host(parse_estimator(word)->form); });
  words.insert(words.end(), {"corrected(odrpo-gini(maxrl))", "corrected(max-at-k)", "corrected(rank-grpo)"});
  for (const PolicyKind policy : {PolicyKind::tabular, PolicyKind::linear})
    for (const std::string_view word : words)
      for (const int seed : {0, 1}) {
        RunSpec r = base_run(policy, std::string(word));
        r.votes = seed == 0 ? 1 : 8;
        r.rater = rater_presets()[static_cast<std::size_t>(seed)].config;
        r.learn.optimizer.lr = seed == 0 ? 0.1 : 0.03;
        r.run_key = derive_key(3, static_cast<std::uint32_t>(seed));
        r.id = r.estimator_name + std::to_string(seed) + (policy == PolicyKind::linear ? "l" : "t");
        runs.push_back(r);
      }
  HostDevice host;
  host.order = ItemOrder::shuffled;
  const std::vector<RunRecord> batched = batched_records(host, runs);
  REQUIRE(batched.size() == runs.size());
  CHECK(host.launches == 8);  // two shapes and, for the pivots of mc-grpo, two of the general kind; 60 steps in two chunks each
  std::set<std::string> compared;
  for (const RunRecord& run_batched : batched)
    for (const RunSpec& r : runs)
      if (r.id == run_batched.id) {
        INFO(r.id);
        check_same(run_batched, run(r));
        compared.insert(r.id);
      }
  CHECK(compared.size() == runs.size());
}

TEST_CASE("the state that a chunk of steps leaves is all that the next one needs") {
  RunSpec spec = base_run(PolicyKind::tabular, "odrpo-gini(maxrl)");
  spec.env.bandit.prompts = 203;  // 203 = 67 x 3 + 2: rows go unvisited for longer than is remembered
  spec.learn.batch = 3;
  spec.learn.steps = 400;
  const RunRecord cpu = run(spec);
  for (const double seconds : {0.0, 0.01, 0.25}) {  // of a step: long chunks, of some 25, of one
    HostDevice host;
    host.seconds_per_step = seconds;
    const std::vector<RunRecord> batched = batched_records(host, {spec});
    INFO(host.launches << " chunks");
    CHECK(host.launches >= (seconds > 0.1 ? 300 : seconds > 0 ? 10 : 3));
    REQUIRE(batched.size() == 1);
    check_same(batched[0], cpu);
  }
}

TEST_CASE("parameters that do not fit a block's memory stay in the device's") {
  for (const OptimizerKind kind : {OptimizerKind::adam, OptimizerKind::sgd}) {
    RunSpec spec = base_run(PolicyKind::tabular, "odrpo-gini-median(grpo)");
    spec.env.bandit.prompts = 700;
    spec.env.bandit.actions = 100;
    spec.learn.batch = 20;
    spec.learn.steps = 90;
    spec.learn.optimizer.kind = kind;
    CHECK_FALSE(make_layout(spec).resident);
    HostDevice host;
    const std::vector<RunRecord> batched = batched_records(host, {spec});
    REQUIRE(batched.size() == 1);
    check_same(batched[0], run(spec));
  }
}

TEST_CASE("a device with less memory for a block keeps parameters elsewhere, gives the same bits, and refuses larger batches with its limit") {
  constexpr std::size_t a10 = 99 * 1024, a100 = 163 * 1024;
  RunSpec spec = base_run(PolicyKind::tabular, "odrpo-gini(grpo)");
  spec.env.bandit.prompts = 256;
  spec.env.bandit.actions = 32;
  spec.learn.batch = 64;
  CHECK(make_layout(spec, a100).resident);
  CHECK_FALSE(make_layout(spec, a10).resident);
  for (const std::size_t block_bytes : {a10, a100}) {
    CHECK(why_too_large(spec, block_bytes) == "");
    CHECK(make_layout(spec, block_bytes).bytes <= block_bytes);
    HostDevice host;
    host.block_bytes = block_bytes;
    const std::vector<RunRecord> batched = batched_records(host, {spec});
    REQUIRE(batched.size() == 1);
    check_same(batched[0], run(spec));
  }
  spec.env.bandit.prompts = 300;
  spec.learn.batch = 256;
  spec.learn.rollouts = 32;
  CHECK(why_not_batched(spec) == "");
  CHECK(why_too_large(spec, a100, "cuda:0 (NVIDIA A100)") == "");
  CHECK(why_too_large(spec, a10, "cuda:0 (NVIDIA A10)") ==
        "batches of 256 prompts x 32 rollouts on 300 prompts need 131 KiB of shared memory for a block of threads, and cuda:0 (NVIDIA A10) has 99 KiB");
}

TEST_CASE("two batched runs of the yardstick share a processor: its memory, its threads") {
  RunSpec spec = base_run(PolicyKind::tabular, "grpo");
  spec.env.bandit.prompts = 256;
  spec.env.bandit.actions = 32;
  spec.learn.batch = 64;
  const device::Layout layout = make_layout(spec);
  CHECK(layout.resident);
  CHECK(layout.threads == 512);
  CHECK(layout.bytes <= half_processor);
}

TEST_CASE("a run that diverges in a batched run is told as on the CPU, and its neighbours go on") {
  std::vector<RunSpec> runs{base_run(PolicyKind::linear, "grpo"), base_run(PolicyKind::linear, "grpo")};
  for (RunSpec& r : runs) {
    r.learn.optimizer.kind = OptimizerKind::adamw;
    r.learn.optimizer.weight_decay = 1;
    r.learn.steps = 200;
  }
  runs[0].learn.optimizer.lr = 1e6;  // the decay multiplies every parameter by about minus a million at each step
  HostDevice host;
  const std::vector<RunRecord> batched = batched_records(host, runs);
  REQUIRE(batched.size() == 2);
  int failed = 0, compared = 0;
  for (const RunRecord& run_batched : batched) {
    failed += run_batched.status == RunStatus::failed;
    for (const RunSpec& r : runs) {
      const RunRecord cpu = run(r);
      if (cpu.key != run_batched.key) continue;
      check_same(run_batched, cpu);
      ++compared;
    }
  }
  CHECK(failed == 1);
  CHECK(compared == 2);
  CHECK(host.launches > 1);
  CHECK(host.blocks == host.launches + 1);  // the lost run has a block in the first launch alone

  HostDevice alone;
  CHECK(batched_records(alone, {runs[0]})[0].status == RunStatus::failed);
  CHECK(alone.launches == 1);
}

TEST_CASE("a run whose law cannot be made fails with the reason, and its neighbours go on") {
  std::vector<RunSpec> runs{base_run(PolicyKind::tabular, "grpo"), base_run(PolicyKind::tabular, "maxrl")};
  runs[0].rater.tie = TieRule::nearest_mean;
  runs[0].votes = 400;
  HostDevice host;
  const std::vector<RunRecord> batched = batched_records(host, runs);
  REQUIRE(batched.size() == 2);
  CHECK(batched[0].status == RunStatus::failed);
  INFO(batched[0].error);
  CHECK(batched[0].error.find("nearest-mean") != std::string::npos);
  check_same(batched[1], run(runs[1]));
}

TEST_CASE("a stop between two chunks ends a batch, which hands over nothing") {
  std::atomic<bool> stop{false};
  HostDevice host;
  BatchDevice device = host.device();
  const auto steps = device.run;
  device.run = [&](const device::Layout& layout, const device::Run* runs, const std::uint32_t* going_on, std::size_t count, int first, int end) {
    stop = true;
    return steps(layout, runs, going_on, count, first, end);
  };
  const RunSpec spec = base_run(PolicyKind::tabular, "grpo");
  RunCache shared;
  int handed_over = 0;
  train_batched(device, {&spec}, shared, stop, [&](RunRecord) { ++handed_over; });
  CHECK(handed_over == 0);
  CHECK(host.launches == 1);
  CHECK(host.held == 0);
}

TEST_CASE("a stop hands over what is finished and nothing half") {
  const std::vector<RunSpec> runs{base_run(PolicyKind::tabular, "grpo"), base_run(PolicyKind::linear, "grpo")};
  std::atomic<bool> stop{true};
  HostDevice host;
  CHECK(batched_records(host, runs, stop).empty());
  CHECK(host.held == 0);
}

TEST_CASE("formulas of levels train in batched runs with the bits of train(): integer scores read the host's table") {
  for (const auto& [weight, norm] : {std::pair{"sqrt(k)*(0.1 + 4*mu*(1-mu)*exp(-max(med-k, 0)/2))", "mu"}, {"[1, 2, 3, 4, 5, 6, 7, 8, 9, 20]", "1 + med/K"}, {"k", ""}})
    for (const MedianRule median : {MedianRule::lower, MedianRule::mid, MedianRule::upper}) {
      RunSpec spec = base_run(PolicyKind::tabular, "odrpo(grpo)");
      spec.estimator.weight_formula = std::get<Formula>(Formula::parse(weight, spec.estimator.numbers));
      if (*norm != '\0') spec.estimator.norm_formula = std::get<Formula>(Formula::parse(norm, spec.estimator.numbers));
      spec.estimator.median = median;
      REQUIRE(why_not_batched(spec) == "");
      HostDevice host;
      const std::vector<RunRecord> batched = batched_records(host, {spec});
      REQUIRE(batched.size() == 1);
      check_same(batched[0], run(spec));
      CHECK(batched[0].status == RunStatus::ok);
    }
}

TEST_CASE("what cannot be batched says why") {
  const auto why = [](auto change) {
    RunSpec r = base_run(PolicyKind::tabular, "odrpo-gini-median(grpo)");
    REQUIRE(why_not_batched(r) == "");
    change(r);
    return why_not_batched(r);
  };
  const std::string wide = why([](RunSpec& r) {
    r.env.bandit.prompts = 65536;
    r.learn.batch = 65536;
  });
  const std::string apart = why([](RunSpec& r) {
    r.rater.aggregate = Aggregate::fraction;
    r.votes = 4;
    r.rater.sampling = sampling_of(r.rater, r.votes);
  });
  const auto spaced = [&](const char* word, MedianRule median) {
    return why([&](RunSpec& r) {
      r.estimator = *parse_estimator(word);
      r.estimator.median = median;
      r.estimator.values = {1, 2, 3, 4, 5, 6, 7, 8, 9, 19};
    });
  };
  CHECK(why([](RunSpec& r) { r.env.kind = WorldKind::toy_lm; }) == "");  // on threads of its own: toy_lm_test
  CHECK(spaced("grpo", MedianRule::lower).find("`values`") != std::string::npos);
  CHECK(spaced("odrpo-gini-median(grpo)", MedianRule::running).find("running median") != std::string::npos);
  CHECK(spaced("odrpo-gini-median(grpo)", MedianRule::lower) == "");
  CHECK(why([](RunSpec& r) { r.estimator = *parse_estimator("corrected(grpo)"); }).find("`values`") != std::string::npos);
  CHECK(why([](RunSpec& r) { r.estimator = *parse_estimator("corrected(odrpo(grpo))"); }) == "");
  CHECK(why([](RunSpec& r) { r.estimator = *parse_estimator("odrpo-bitwise(grpo)"); }) == "");
  CHECK(why([](RunSpec& r) {
          r.estimator = *parse_estimator("odrpo-bitwise(grpo)");
          r.record.gradient = 2;
        }).starts_with("bits beside"));
  for (const char* word : {"gopo", "arena", "dgae", "qae", "grpo-passk", "corpo"})
    CHECK(why([&](RunSpec& r) {
            r.estimator = *parse_estimator(word);
            r.estimator_name = word;
          }) == "estimator " + std::string(word) + " is worked out on the CPU");
  const auto written = [&](auto change) {
    return why([&](RunSpec& r) {
      r.estimator = *parse_estimator("odrpo(grpo)");
      r.estimator.weight_formula = std::get<Formula>(Formula::parse("1 + abs(k - med)", r.estimator.numbers));
      change(r);
    });
  };
  CHECK(written([](RunSpec&) {}) == "");
  CHECK(written([](RunSpec& r) { r.estimator.median = MedianRule::running; }).starts_with("formulas of levels beside"));
  CHECK(written([](RunSpec& r) {
          r.rater.parse_failure = 0.1;
          r.rater.parse_policy = ParsePolicy::drop;
        }).starts_with("formulas of levels beside"));
  CAPTURE(apart);
  CHECK(apart.find("stay apart") != std::string::npos);
  CHECK(wide == "batches of 65536 prompts x 8 rollouts on 65536 prompts need 14721 KiB of shared memory for a block of threads, and the largest device has 227 KiB");
}

TEST_CASE("the general kind is for what needs it, and takes the largest groups, scales and numbers of votes", "[unsanitized]") {
  RunSpec plain = base_run(PolicyKind::tabular, "odrpo-gini-median(grpo)");
  plain.env.bandit.levels = 100;
  plain.env.bandit.prompts = 13;
  plain.learn.rollouts = 255;
  plain.learn.batch = 6;
  plain.learn.steps = 3;
  plain.votes = 9;
  CHECK_FALSE(make_layout(plain).general);
  const auto check = [&](auto... changes) {
    RunSpec r = plain;
    (changes(r), ...);
    REQUIRE(why_not_batched(r) == "");
    CHECK(make_layout(r).general);
    HostDevice host;
    host.order = ItemOrder::shuffled;
    const std::vector<RunRecord> batched = batched_records(host, {r});
    REQUIRE(batched.size() == 1);
    check_same(batched[0], run(r));
  };
  const auto real = [](RunSpec& r) { r.rater.aggregate = Aggregate::mean; };
  const auto gaps = [](RunSpec& r) {
    r.rater.parse_failure = 0.6;
    r.rater.parse_policy = ParsePolicy::drop;
  };
  const auto running = [](RunSpec& r) { r.estimator.median = MedianRule::running; };
  const auto literal = [](RunSpec& r) {
    r.rater.sampling = Sampling::draws;
    r.votes = 1024;
  };
  const auto gradient_sums = [](RunSpec& r) { r.record.gradient = 2; };
  check(real);
  check(gaps);
  check(running);
  check(literal);
  check(gradient_sums);
  check(real, gaps, running);
  check(gaps, literal, running, gradient_sums);
  check(real, gaps, literal, running, gradient_sums);
}

TEST_CASE("whole suites through batched runs have the digest of the CPU", "[unsanitized]") {
  for (const char* name : {"quickstart.toml", "smoke.toml", "compat.toml", "yardstick.toml", "votes-mean.toml"}) {
    std::vector<std::string> small{"suite.seeds=2", "learn.steps=30", "learn.batch=16", "env.bandit.prompts=80"};
    if (name == std::string("votes-mean.toml")) small.insert(small.end(), {"table.tune_seeds=1", "learn.lr=[0.1, 0.3]"});
    if (name == std::string("compat.toml")) small.push_back("table.tune_seeds=1");
    const Suite suite = load_suite(source_path(std::string("suites/") + name), small, {});
    INFO(name);
    Folder folder;
    RunSettings settings;
    settings.output = folder.file("cpu.h5");
    const std::string cpu = run_suite(suite, suite_facts(suite, "test"), settings).digest;
    HostDevice host;
    BatchEngine engine{"host", 1e9, {}};
    engine.train = [&](const BatchEngine::Call& call) {
      train_batched(host.device(), call.runs, call.shared, call.stop, call.done);
    };
    settings.output = folder.file("batched runs.h5");
    settings.engines = {engine};
    const RunReport report = run_suite(suite, suite_facts(suite, "test"), settings);
    CHECK(report.digest == cpu);
    CHECK(report.by_engines == suite.runs.size());
  }
}
