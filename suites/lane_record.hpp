// The record of a run from what its lane left.
#pragma once
#include <span>

#include "envs/bandit.hpp"
#include "results/record.hpp"
#include "suites/lane.hpp"
#include "suites/spec.hpp"

namespace odrpo {

/// `reward`: [steps] sums of the batches' scores; ticks of the records take `seconds_per_tick`.
RunRecord lane_record(const RunSpec& spec, const BanditWorld& world, const lane::Plan& plan, std::span<const lane::Record> records,
                      std::span<const std::uint32_t> reward, double seconds_per_tick);

}  // namespace odrpo
