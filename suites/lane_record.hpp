// The record of a run from what its lane left.
#pragma once
#include <functional>
#include <span>

#include "envs/bandit.hpp"
#include "results/record.hpp"
#include "suites/lane.hpp"
#include "suites/spec.hpp"

namespace odrpo {

/// seen(t): the rewards of step t's batch; ticks of the records take `seconds_per_tick`.
RunRecord lane_record(const RunSpec& spec, const BanditWorld& world, const lane::Plan& plan, std::span<const lane::Record> records,
                      const std::function<lane::Seen(int t)>& seen, double seconds_per_tick);

}  // namespace odrpo
