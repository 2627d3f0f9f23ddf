// Axis: what a run has on one of the extra axes of its grid.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <variant>

namespace odrpo {

using AxisValue = std::variant<std::int64_t, double, std::string>;
/// One extra grid axis of a run, e.g. {"learn.lr", 0.03}; becomes a column of the root table.
using Axis = std::pair<std::string, AxisValue>;

}  // namespace odrpo
