// Which look an estimator has in figures, the same in all of them; and which format the ending of a file asks for.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "results/figure/figure.hpp"

namespace odrpo::app {

/// One look for each name. Of estimators the colour says the weight and the dash what a level or reward is divided by; other names get
/// one after the other. All are different.
std::vector<SeriesStyle> series_styles(const std::vector<std::string>& names);

// Which format of figure a file's ending asks for.

/// Of a path that ends in .svg, .pdf or .png; Failure usage, which names the flag, for any other.
FigureFormat figure_format(std::string_view flag, const std::string& path);

}  // namespace odrpo::app
