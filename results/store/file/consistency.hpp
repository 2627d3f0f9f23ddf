// Does a run of a result file make sense? Its words, values and ranges must agree, whoever wrote them and whatever checksums they have. Private to
// results/store/.
#pragma once
#include <span>
#include <string>

#include "results/store/record.hpp"

namespace odrpo::store {

/// No value that means anything is as large.
inline constexpr double largest_value = 1e30;

/// "run 'ID' contradicts itself: …", of words and final values; empty where they do not: its id is made of its words, numbers lie in their
/// ranges, gain and regret follow from the qualities within roundings.
std::string contradiction_in(const RunRecord& run);

/// Why no curve (or evaluation) of this name has these values; empty where one can. NaN is undefined.
std::string contradiction_in(const std::string& curve, std::span<const double> values);

}  // namespace odrpo::store
