// The ends and ticks of an axis. Private to results/figure/.
#pragma once
#include <string>
#include <vector>

#include "results/figure/figure.hpp"

namespace odrpo {

/// An axis with its ends and the labels of its ticks.
struct FigureAxis {
  double from = 0, to = 1;
  std::vector<double> ticks;
  std::vector<std::string> labels;  ///< of the ticks
};

/// What an axis has to show: all numbers of it, intervals too. Empty (from > to) when there is none.
struct NumberRange {
  double from, to;
  bool from_zero = false;  ///< bars, counts and shares begin at 0
  bool whole = false;      ///< counts: no tick between whole numbers
};
NumberRange range_of_x(const FigurePanel& panel);
NumberRange range_of_y(const FigurePanel& panel);
NumberRange range_of_background(const FigurePanel& panel);
/// Of the values in a field; both sides of 0 where it is diverging. Never empty.
NumberRange range_of_colours(const FigurePanel& panel);

/// An axis around a range with at most `most` ticks at round numbers; a margin of 4 % at either end where it does not begin at 0.
FigureAxis axis_of(const NumberRange& range, std::size_t most);

/// An axis of the cells 1, 2, …, `count`, from the first one's edge to the last one's.
FigureAxis axis_of_cells(std::size_t count, std::size_t most);

/// An axis from end to end of a range, with at most `most` ticks or a few more.
FigureAxis axis_between(const NumberRange& range, std::size_t most);

/// An axis with ticks at these numbers alone.
FigureAxis axis_at(const std::vector<double>& ticks, const NumberRange& range, bool log);

}  // namespace odrpo
