// Preflight: what a suite will cost, and whether its limits allow that.
#pragma once
#include "train/schedule/cost.hpp"

namespace odrpo {

struct Suite;

/// The sum over all runs; memory_bytes is what `jobs` runs at a time and the plan itself need.
Cost total_cost(const Suite& suite, int jobs = 1);

/// The same, or Failure `limits` that names every limit the suite exceeds: the estimate, the limit, and the key of [limits] that raises it.
Cost check_limits(const Suite& suite, int jobs = 1);

}  // namespace odrpo
