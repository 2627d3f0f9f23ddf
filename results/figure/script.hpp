// A figure as commands for gnuplot. Private to results/figure/.
#pragma once
#include <string>

#include "results/figure/figure.hpp"

namespace odrpo {

/// The whole script; gnuplot writes the figure to its standard output. Texts stand in a data block alone, where gnuplot reads them as they
/// are: whatever they hold, none is a command.
std::string figure_script(const Figure& figure, FigureFormat format, FigureSize size);

}  // namespace odrpo
