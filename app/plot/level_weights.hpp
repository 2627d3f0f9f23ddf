// The weights that estimators give to the levels of a group, as a figure.
#pragma once
#include "app/command.hpp"
#include "results/figure/figure.hpp"

namespace odrpo::app {

/// Weight w_k over the levels k = 1..K, a panel for each group of rewards: those of --rewards, or four shapes of 1000 rewards as in the
/// paper's figure of the Gini weights. Failure usage for words that do not exist, forms without weights, levels below the rewards.
Figure weights_figure(const PlotOptions& o);

}  // namespace odrpo::app
