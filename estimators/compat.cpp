// The table of conventions.
#include "estimators/compat.hpp"

namespace odrpo {

std::optional<std::string> compat_refusal(const EstimatorConfig&) { return std::nullopt; }
Whitening whitening_after(const EstimatorConfig&) { return {true}; }

}  // namespace odrpo
