// The figures of a page: learning curves, values over columns, differences from the baseline.
#pragma once
#include "app/table/query.hpp"
#include "results/page/html_page.hpp"

namespace odrpo::app {

/// Draws what the tables of a page can show, and notes why a figure is missing (gnuplot too). `q` chose the first of the tables; the file
/// has the columns curve_columns(gain_curve) where it can.
void add_figures(HtmlPage& page, const ResultFile& file, const TableQuery& q);

}  // namespace odrpo::app
