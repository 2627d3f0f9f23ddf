// Batched runs on a GPU against train() on the host, bit for bit: the runs of tests/train/batched/batched_test.cpp, alone and together.
#include <cstdio>
#include <map>

#include "config/write/canonical.hpp"
#include "results/store/digest.hpp"
#include "tests/config/loading.hpp"
#include "tests/gpu/present.hpp"
#include "tests/train/batched/runs.hpp"
#include "tests/train/batched/toy_lm_near.hpp"
#include "tests/train/checkpoint/checkpoint_sample.hpp"
#include "tests/train/trained.hpp"
#include "train/batched/engine.hpp"
#include "train/run_cache.hpp"

using namespace odrpo;

namespace {

std::vector<RunRecord> on_gpu(const std::vector<RunSpec>& runs) {
  std::vector<const RunSpec*> pointers;
  for (const RunSpec& r : runs) pointers.push_back(&r);
  RunCache shared;
  std::vector<RunRecord> records;
  cuda_engine(0, ProductPrecision::fp32).train({pointers, shared, never, {}, [&](RunRecord r) { records.push_back(std::move(r)); }, {}});
  return records;
}

void compare(std::vector<RunSpec> runs) {
  const BatchEngine engine = cuda_engine(0, ProductPrecision::fp32);
  if (const std::size_t left_out = std::erase_if(runs, [&](const RunSpec& r) { return !engine.too_large(r).empty(); }))
    std::printf("%zu runs are too large for a block of this device: left out\n", left_out);
  REQUIRE(!runs.empty());
  const std::vector<RunRecord> batched = on_gpu(runs);
  REQUIRE(batched.size() == runs.size());
  std::size_t compared = 0;
  for (const RunRecord& run_batched : batched)
    for (const RunSpec& spec : runs) {
      if (spec.id != run_batched.id) continue;
      INFO(spec.id << "\n" << canonical_text(spec));
      check_same(run_batched, run(spec));
      ++compared;
    }
  CHECK(compared == runs.size());
}
// Seeds first .. last of any().
void compare(RunSpec (*any)(Chooser&), unsigned first, unsigned last) {
  std::vector<RunSpec> runs;
  for (unsigned seed = first; seed <= last; ++seed) {
    Chooser c{std::mt19937(seed)};
    runs.push_back(any(c));
    runs.back().id = "seed " + std::to_string(seed);
  }
  compare(runs);
}

}  // namespace

TEST_CASE("batched runs have the same bits on the GPU: any policy, estimator, rater, optimiser and size") {
  if (gpu::absent()) return;
  compare(any_run, 1, 400);
}

TEST_CASE(
    "batched runs of the general kind too: real-valued and missing rewards, running medians, literal votes, signals of the gradient") {
  if (gpu::absent()) return;
  compare(any_general_run, 1, 400);
}

TEST_CASE("batched runs at the ends of the sizes that there are, some of whose parameters are lost") {
  if (gpu::absent()) return;
  compare(corner_runs());
}

TEST_CASE("batched runs that fill the device many times over have the bits of the host") {
  if (gpu::absent()) return;
  std::vector<RunSpec> runs;
  for (unsigned i = 0; i < 1000; ++i) {
    RunSpec r = base_run(PolicyKind::tabular, std::string(estimator_catalogue()[i % estimator_catalogue().size()]));
    r.env.bandit.prompts = 256;
    r.env.bandit.actions = 32;
    r.learn.batch = 64;
    r.learn.steps = 30;
    r.run_key = derive_key(5, i % 7);
    r.id = std::to_string(i);
    runs.push_back(r);
  }
  const std::vector<RunRecord> batched = on_gpu(runs);
  REQUIRE(batched.size() == runs.size());
  for (const RunRecord& run_batched : batched) {
    const RunSpec& spec = runs[static_cast<std::size_t>(std::stoi(run_batched.id))];
    INFO(spec.id << " " << spec.estimator_name);
    check_same(run_batched, run(spec));
  }
}

namespace {

void compare_toy_lm(std::size_t settings) {
  for (std::size_t i = 0; i < settings; ++i) {
    const Suite suite = loaded(checkpoint_sample::lm, near_settings[i]);
    std::vector<RunSpec> runs;
    for (const RunSpec& r : suite.runs) runs.push_back(r);
    for (const RunRecord& got : on_gpu(runs))
      for (const RunSpec& spec : runs)
        if (spec.id == got.id) check_near(run(spec), got, 2e-6, 0.3);  // a rounding may choose another token
  }
}

}  // namespace

TEST_CASE("runs of the toy language model on the GPU are near the CPU's") {
  if (gpu::absent()) return;
  compare_toy_lm(near_settings.size());
}

TEST_CASE("a suite of the toy language model on the GPU has one digest for any number of runs at a time") {
  if (gpu::absent()) return;
  const Suite suite = loaded(checkpoint_sample::lm, {"suite.seeds=12"});
  std::vector<const RunSpec*> pointers;
  std::vector<RunSpec> runs;
  for (const RunSpec& r : suite.runs) runs.push_back(r);
  for (const RunSpec& r : runs) pointers.push_back(&r);
  std::vector<std::map<std::string, std::string>> digests;
  for (const int threads : {1, 12}) {
    RunCache shared;
    shared.threads = threads;
    auto& to = digests.emplace_back();
    cuda_engine(0, ProductPrecision::fp32).train({pointers, shared, never, {}, [&](RunRecord r) { to[r.id] = result_digest({&r, 1}); }, {}});
  }
  CHECK(digests[0].size() == 12);
  CHECK(digests[0] == digests[1]);
}

TEST_CASE("batched runs on the GPU, as few as find a stray access or a race", "[brief]") {
  if (gpu::absent()) return;
  compare(any_run, 1, 12);
  compare(any_general_run, 1, 12);
  compare_toy_lm(2);
}
