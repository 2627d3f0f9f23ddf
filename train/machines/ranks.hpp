// Many processes that train one suite into one work folder: rank 0 hands out runs and makes the output, every rank trains and commits.
#pragma once
#include "kernels/shared/failure.hpp"
#include "train/machines/rank_message.hpp"
#include "train/run_settings.hpp"

namespace odrpo {

struct Suite;

/// Trains what is missing of the suite by all ranks, and assembles the output. Every rank calls it with the same suite and settings, but for
/// jobs, engines, progress and stop. Rank 0 hands out runs by cost (HandOut), and its report tells of all ranks; those of the others tell
/// what they did themselves, and have no digest. A rank that fails or is stopped stops all. Each rank commits once a second; of more than 200
/// each less often, so that all together commit 200 times. Failure as run_suite(), also when ranks read different suites. A rank that throws
/// has closed its link.
RunReport run_suite_by_ranks(const Suite& suite, const SuiteFacts& facts, const RunSettings& settings, const RankLink& link);

/// A rank that failed before it could call run_suite_by_ranks() tells the others, so that none waits for it.
void tell_failure(const RankLink& link, const Failure& failure);

}  // namespace odrpo
