// Which look an estimator has in figures: the same in all of them.
#pragma once
#include <string>
#include <vector>

#include "results/figure/figure.hpp"

namespace odrpo::app {

/// One look for each name. Of estimators the colour says the weight and the dash what a level or reward is divided by; other names get
/// one after the other. All are different.
std::vector<SeriesStyle> series_styles(const std::vector<std::string>& names);

}  // namespace odrpo::app
