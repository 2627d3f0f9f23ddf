// Chooses an estimator's colour, dash and symbol, equal in all figures, and a figure's format by the ending of its file name.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "results/figure/figure.hpp"

namespace odrpo::app {

/// Colour, dash and symbol of each name; no two are alike. The colour of an ODRPO estimator shows its weight, and the dash its norm. Names
/// that are no estimators get the colours in order.
std::vector<SeriesStyle> series_styles(const std::vector<std::string>& names);

/// The format of a path that ends in .svg, .pdf or .png. Failure `usage` for any other ending; the message names `flag`.
FigureFormat figure_format(std::string_view flag, const std::string& path);

}  // namespace odrpo::app
