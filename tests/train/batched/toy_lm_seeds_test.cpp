// What the toy language model learns on a device against what it learns on the CPU, over seeds, by the host's queue.
#include <cmath>
#include <cstdio>
#include <string>

#include "config/read/parse.hpp"
#include "config/spec.hpp"
#include "tests/catch.hpp"
#include "tests/rounds.hpp"
#include "tests/train/batched/host_transformers.hpp"
#include "tests/train/checkpoint/checkpoint_sample.hpp"
#include "train/curves.hpp"

using namespace odrpo;
using namespace odrpo::checkpoint_sample;

TEST_CASE("toy-lm on a device: seeds learn what they learn on the CPU, within their spread") {
  const int seeds = rounds(3, 8);
  const Suite suite = load_suite_text("keep.toml", lm,
                                      {"suite.seeds=" + std::to_string(seeds), "learn.steps=60", "learn.batch=12", "learn.rollouts=8", "learn.lr=3e-3", "record.every=60",
                                       "policy.p.warm_steps=300", "policy.p.warm_batch=32", "policy.p.eval_temperature=1",
                                       "env.toy-lm.evaluated_prompts=256"},
                                      {});
  HostTransformers device;
  constexpr CurveId quality = CurveId::quality;
  std::vector<double> cpu, got;
  double start = 0;
  for (const RunSpec& spec : suite.runs) {
    RunCache shared;
    const RunRecord here = train(spec, shared, never), there = train_toy_lm(spec, shared, never, {}, nullptr, device.place());
    REQUIRE(here.status == RunStatus::ok);
    REQUIRE(there.status == RunStatus::ok);
    const auto values = [&](const RunRecord& r) { return r.curves[static_cast<std::size_t>(quality)].values; };
    CHECK(values(here).front() == values(there).front());
    start += values(here).front() / seeds;
    cpu.push_back(values(here).back());
    got.push_back(values(there).back());
  }
  double mean = 0, gap = 0, spread = 0;
  for (const double x : cpu) mean += x / seeds;
  for (std::size_t i = 0; i < cpu.size(); ++i) {
    spread += (cpu[i] - mean) * (cpu[i] - mean) / (seeds - 1);
    gap += (got[i] - cpu[i]) / seeds;
  }
  std::printf("toy-lm on a device: quality %.3f before and %.3f after training on the CPU, device - CPU %+.4f, spread of seeds %.3f\n", start,
              mean, gap, std::sqrt(spread));
  CHECK(mean > start + 0.3);                      // it learns
  CHECK(std::fabs(gap) < std::sqrt(spread / seeds));  // the error of the mean over seeds
}
