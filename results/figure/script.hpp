// A figure as commands for gnuplot. Private to results/figure/.
#pragma once
#include <string>

#include "results/figure/axis_ticks.hpp"
#include "results/figure/figure.hpp"

namespace odrpo {

/// The whole script; gnuplot writes the figure to its standard output. Texts stand in a data block alone, where gnuplot reads them as they
/// are: whatever they hold, none is a command.
std::string figure_script(const Figure& figure, FigureFormat format, FigureSize size);

// Commands for gnuplot that draw values as colours. Private to results/figure/.

/// Colours of a scale, which colour-blind readers tell apart: viridis, or blue - white - vermilion with white at 0.
std::string palette_commands(bool diverging, const NumberRange& range);

/// Place and size of a bar of colours, in parts of the page from its left and bottom.
struct ColourBar {
  double left, bottom, width, height;
};

/// The values of a field as lines of a data block, a row of cells each.
std::string field_cells(const FigurePanel& panel);

/// The plot of a field whose values are in the data block `name`, over its axes; undefined cells are grey.
std::string field_commands(const FigurePanel& panel, const FigureAxis& colours, const ColourBar& bar, const std::string& name);

}  // namespace odrpo
