// Runs of the toy language model on a device beside the CPU's: of which settings, and how near they must be.
#pragma once
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "results/store/record.hpp"
#include "tests/catch.hpp"

namespace odrpo {

/// For the suite of tests/train/checkpoint/checkpoint_sample.hpp: every basis of an estimator, loss and mask, adapters, several updates a batch, means
/// and missing scores; ten steps, each recorded.
inline const std::vector<std::vector<std::string>> near_settings{
    {"learn.steps=10", "record.every=1"},
    {"learn.steps=10", "record.every=1", "policy.p.lora_rank=4", "policy.p.head=untied"},
    {"learn.steps=10", "record.every=1", "learn.epochs=2", "learn.ratio_clip=0.05", "learn.lr=0.01", "policy.p.entropy=0.01",
     "policy.p.loss=sequence-mean"},
    {"learn.steps=10", "record.every=1", "learn.kl=0.05", "grid.votes=4", "rater.mixed.aggregate=mean", "policy.p.loss=sequence-sum"},
    {"learn.steps=10", "record.every=1", "rater.mixed.parse_policy=drop", "rater.mixed.parse_failure=0.3", "learn.dead_groups=drop",
     "policy.p.temperature=0.8", "policy.p.top_p=0.9"},
    {"learn.steps=10", "record.every=1", "grid.estimator=[window, moments]", "learn.optimizer=sgd", "learn.lr=0.05", "policy.p.size=large",
     "policy.p.warm_steps=0", "policy.p.warm_batch=64"},
};

/// Every value of every curve, relative to 1 + itself: of the first record and of all. A choice of a token moves only where a rounding does
/// it; then all after it is farther away. What the policy says before the first step is the same.
inline void check_near(const RunRecord& cpu, const RunRecord& got, double first_record, double all_records) {
  INFO(cpu.error << got.error);
  REQUIRE(cpu.status == RunStatus::ok);
  REQUIRE(got.status == RunStatus::ok);
  CHECK(got.step == cpu.step);
  CHECK(got.seconds.size() == cpu.seconds.size());
  double first = 0, all = 0;
  for (std::size_t c = 0; c < cpu.curves.size(); ++c) {
    const std::vector<double>&want = cpu.curves[c].values, &have = got.curves[c].values;
    INFO(cpu.curves[c].name);
    REQUIRE(want.size() == have.size());
    if (cpu.curves[c].name == "quality") CHECK(want.front() == have.front());
    for (std::size_t i = 0; i < want.size(); ++i) {
      if (std::isnan(want[i]) && std::isnan(have[i])) continue;
      const double gap = std::fabs(want[i] - have[i]) / (1 + std::fabs(want[i]));
      (i == 0 ? first : all) = std::fmax(i == 0 ? first : all, gap);
      CHECK(gap < (i == 0 ? first_record : all_records));
    }
  }
  std::printf("parity of a run %s: worst gap of a curve at the first record %.1e, after it %.1e\n", cpu.id.c_str(), first, all);
}

}  // namespace odrpo
