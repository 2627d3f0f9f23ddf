// Defines the sections of a suite that change none of its runs: [table], [gate] and [limits].
#pragma once
#include <vector>

#include "results/stats/gate_limit.hpp"
#include "results/table/table_spec.hpp"

namespace odrpo {

/// Config of [table]: the table that `run` prints at the end, and `table` by default.
using TableConfig = TableSpec;

/// Config of [gate]: the limits by which `gate FILE.h5` judges a result file. It changes no run.
struct GateConfig {
  std::vector<GateLimit> step_time, quality, gain;
  std::vector<GateLimit> all() const {
    std::vector<GateLimit> limits = step_time;
    limits.insert(limits.end(), quality.begin(), quality.end());
    limits.insert(limits.end(), gain.begin(), gain.end());
    return limits;
  }
};
template <class V>
void describe(V& v, GateConfig& c) {
  v.limits("step_time", LimitedValue::step_time, c.step_time,
           "limits of the time of a training step, a ratio with `over`, else seconds: [{ row = \"odrpo(grpo)\", over = \"grpo\", "
           "at_most = 1.1 }], also with `axis` (unset: the table's rows), `at_least` and `where` (\"votes=8\")");
  v.limits("quality", LimitedValue::quality, c.quality, "likewise of the quality at the end, in levels; a difference with `over`");
  v.limits("gain", LimitedValue::gain, c.gain, "likewise of the gain at the end, a share of the possible; a difference with `over`");
}

/// Config of [limits]: `run` refuses (exit 4) a suite that would exceed one of them.
struct LimitsConfig {
  double runs = 200'000;
  double judge_calls = 1e13;
  double memory_gib = 8;
  double disk_gib = 8;
  double cpu_hours = 48;
};
template <class V>
void describe(V& v, LimitsConfig& c) {
  v.number("runs", c.runs, 1, 1e9, "largest number of runs");
  v.number("judge_calls", c.judge_calls, 1, 1e18, "largest number of simulated judge calls");
  v.number("memory_gib", c.memory_gib, 0.01, 1e4, "largest estimated memory");
  v.number("disk_gib", c.disk_gib, 0.001, 1e5, "largest estimated disk space, until the work folder is gone");
  v.number("cpu_hours", c.cpu_hours, 1e-3, 1e6, "largest estimated CPU time");
}

}  // namespace odrpo
