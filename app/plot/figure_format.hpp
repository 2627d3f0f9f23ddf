// Which format of figure a file's ending asks for.
#pragma once
#include <string>
#include <string_view>

#include "results/figure/figure.hpp"

namespace odrpo::app {

/// Of a path that ends in .svg, .pdf or .png; Failure usage, which names the flag, for any other.
FigureFormat figure_format(std::string_view flag, const std::string& path);

}  // namespace odrpo::app
