// Takes an estimator's answer for one group apart.
#include "estimators/breakdown.hpp"

#include "kernels/failure.hpp"

namespace odrpo {

Breakdown break_down(const EstimatorConfig&, int, std::span<const double>, double) { throw Failure(Exit::internal, "not yet written"); }

}  // namespace odrpo
