// The record of a run from what its block wrote.
#pragma once
#include <functional>
#include <span>

#include "results/store/record.hpp"
#include "train/batched/block/run_block.hpp"

namespace odrpo {

struct BanditWorld;
struct RunSpec;

/// seen(t): the rewards of step t's batch; ticks of the records take `seconds_per_tick`.
RunRecord batched_record(const RunSpec& spec, const BanditWorld& world, const device::Layout& layout,
                         std::span<const device::Record> records, const std::function<device::Seen(int t)>& seen, double seconds_per_tick);

}  // namespace odrpo
