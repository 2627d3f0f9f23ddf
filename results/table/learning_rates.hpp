// Grids of learning rates: which axis is one, and when it is coarse.
#pragma once
#include <string_view>

namespace odrpo {

/// Neighbours on a grid that differ by more than this factor may have a better learning rate between them.
inline constexpr double coarse_factor = 2;

/// Is the axis a learning rate: "lr", or "lr" of some section?
inline bool is_learning_rate(std::string_view axis) { return axis == "lr" || axis.ends_with(".lr"); }

}  // namespace odrpo
