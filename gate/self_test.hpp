// `gate --self-test`: how often the gate is wrong and how much it sees on this host, with work whose true change is known.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "gate/measure/measure.hpp"

namespace odrpo {

/// A case of `worker --self-test`: the candidate does `added` times as much work more.
struct KnownChange {
  const char* name;
  double added;
};
inline constexpr KnownChange known_changes[] = {{"same", 0}, {"plus 2 %", 0.02}, {"plus 5 %", 0.05}, {"plus 10 %", 0.10}};

struct SelfTestOptions {
  int trials = 0;  ///< 0 = as many as end in 40 s
  std::uint64_t seed = 0;
  ChildRules rules;
  GateRules gate;
};

/// The trials of one amount of added work; every trial is a gate of one case.
struct SelfTestRow {
  double added = 0;  ///< 0.02 = 2 % more work in the candidate
  /// [trials] 0 or 1: how this gate ended
  std::vector<double> slower, faster, void_control, inconclusive;
  /// What other methods say of the recordings of the trial's first look: alarms of two means 5 % apart, and of Mann and Whitney's U test
  /// with p < .05. Of all recordings, whose sides are interleaved; and of the baseline's in the first half of the blocks and the
  /// candidate's in the second half, as two programs run one after the other give.
  struct Others {
    std::vector<double> two_means, u_test;  ///< [trials] 0 or 1
  };
  Others interleaved, in_sequence;
  double seconds = 0;  ///< of a case until its verdict, mean over trials
};

struct SelfTest {
  std::vector<SelfTestRow> rows;  ///< of known_changes
  double seconds = 0;
  double load = -1;  ///< mean of the last minute at the end; below 0: unknown
};

/// Failure as Child's members.
SelfTest run_self_test(const SelfTestOptions& options, ChildKeeper& keeper, const std::function<void(const std::string&)>& tell);

std::string self_test_text(const SelfTest& test, const std::string& host);
std::string self_test_json(const SelfTest& test, const std::string& host);

}  // namespace odrpo
