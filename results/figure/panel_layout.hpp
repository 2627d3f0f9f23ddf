// Where the panels of a figure and its key lie on the page. Private to results/figure/.
#pragma once
#include <string>
#include <vector>

#include "results/figure/axis_ticks.hpp"
#include "results/figure/figure.hpp"

namespace odrpo {

inline constexpr double point_size = 7.5;  ///< of all text, in points (1/72 inch)

/// A panel on the page, in inches from its left and top.
struct PanelPlace {
  double left, right, top, bottom;               ///< its axes
  double outer_left, outer_right, outer_bottom;  ///< with its labels
  double title;                                  ///< the middle of the title's line
  bool tilted_names;                             ///< the names of its columns are too long to lie side by side
  std::size_t name_columns;                      ///< characters that fit beside the axis
  std::size_t title_columns;                     ///< and above it
  FigureAxis x, y, background;                   ///< of numbers
};

/// An entry of the key: the middle of its line's left end.
struct KeyPlace {
  const FigureSeries* series;
  double left, top;
  std::size_t columns;  ///< characters that fit
};

struct FigureLayout {
  double width, height;  ///< of the page
  std::vector<PanelPlace> panels;
  std::vector<KeyPlace> key;  ///< one for each name; empty where it would have one entry, or the panels name their lines themselves
};

/// Inches that a text takes in a wide sans-serif font, roughly.
double text_width(const std::string& text);
/// The longest of the numbers in the cells of a heat map.
double number_width(const FigurePanel& panel);

/// Failure usage when the page is lower than its panels need.
FigureLayout layout_of(const Figure& figure, FigureSize size);

}  // namespace odrpo
