// A small suite of the toy language model, and a work folder in memory: for the tests of what is kept of a run.
#pragma once
#include <atomic>
#include <cstring>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "config/spec.hpp"
#include "results/store/digest.hpp"
#include "tests/catch.hpp"
#include "tests/train/trained.hpp"
#include "train/checkpoint/checkpoint.hpp"
#include "train/run_cache.hpp"
#include "train/schedule/run_suite.hpp"
#include "train/train.hpp"

namespace odrpo::checkpoint_sample {

inline const std::string lm = R"toml([suite]
name = "keep"
[grid]
env = "toy-lm"
rater = "mixed"
policy = "p"
estimator = "grpo"
[env.toy-lm]
vocabulary = 40
prompts = 13
response_tokens = 12
evaluated_prompts = 20
[policy.p]
base = "transformer"
warm_steps = 6
warm_batch = 4
[learn]
steps = 11
batch = 4
rollouts = 3
optimizer = "adamw"
lr = 1e-3
clip = 0.5
schedule = "cosine"
[record]
collapse_fall = 0.01
collapse_steps = 3
every = 2
[estimator.window]
base = "odrpo-gini-median(grpo)"
median = "running"
window = 20
[estimator.moments]
base = "posterior(maxrl)"
prior = "moments"
[estimator.moving]
base = "odrpo-gini-median(maxrl)"
median = "running"
running = "ema"
)toml";

// A folder in memory, which counts what is asked of it.
struct Memory {
  std::map<std::pair<CheckpointKind, std::string>, std::string> files;
  std::function<void(CheckpointKind)> saved = [](CheckpointKind) {};
  std::function<bool(CheckpointKind)> refuse = [](CheckpointKind) { return false; };  // or throws
  int checkpoints = 0, starts = 0, loaded_starts = 0;
  std::vector<std::string> told;
  CheckpointStore store{[] { return std::string("build"); }, 0};
  Memory() {
    store.load = [this](CheckpointKind kind, const std::string& name) {
      const auto at = files.find({kind, name});
      loaded_starts += kind == CheckpointKind::start && at != files.end();
      return at == files.end() ? std::string() : at->second;
    };
    store.save = [this](CheckpointKind kind, const std::string& name, std::string_view bytes) {
      if (refuse(kind)) return false;
      ++(kind == CheckpointKind::start ? starts : checkpoints);
      files[{kind, name}] = bytes;
      saved(kind);
      return true;
    };
    store.report = [this](const std::string& text) { told.push_back(text); };
  }
  std::string& checkpoint() {
    for (auto& [name, bytes] : files)
      if (name.first == CheckpointKind::run) return bytes;
    throw std::runtime_error("no checkpoint");
  }
};

inline RunRecord undisturbed(const RunSpec& spec) {
  RunCache shared;
  return train(spec, shared, never);
}

// Equal in all that the digest covers, and in kept rollouts: NaN and signs of zero included.
inline void check_equal(const RunRecord& a, const RunRecord& b) {
  INFO(a.error << b.error);
  REQUIRE(a.status == RunStatus::ok);
  REQUIRE(b.status == RunStatus::ok);
  CHECK(a.step == b.step);
  CHECK(a.seconds.size() == b.seconds.size());
  for (const auto& values : {&RunRecord::curves, &RunRecord::rollouts}) {
    REQUIRE((a.*values).size() == (b.*values).size());
    for (std::size_t c = 0; c < (a.*values).size(); ++c) {
      const std::vector<double>&one = (a.*values)[c].values, &other = (b.*values)[c].values;
      INFO((a.*values)[c].name);
      REQUIRE(one.size() == other.size());
      CHECK(std::memcmp(one.data(), other.data(), one.size() * sizeof(double)) == 0);
    }
  }
  REQUIRE(a.finals.size() == b.finals.size());
  for (std::size_t i = 0; i < a.finals.size(); ++i) {
    INFO(a.finals[i].name);
    CHECK(std::memcmp(&a.finals[i].value, &b.finals[i].value, sizeof(double)) == 0);
  }
  CHECK(result_digest({&a, 1}) == result_digest({&b, 1}));
}

// One call of a worker that is stopped after some checkpoints, in the step that follows the last of them (-1 = never).
inline RunRecord call(const RunSpec& spec, Memory& memory, int saves) {
  RunCache shared;
  std::atomic<bool> stop{false};
  memory.saved = [&](CheckpointKind kind) {
    if (kind == CheckpointKind::run && --saves == 0) stop = true;
  };
  const RunRecord r = train(spec, shared, stop, memory.store);
  memory.saved = [](CheckpointKind) {};
  return r;
}

}  // namespace odrpo::checkpoint_sample
