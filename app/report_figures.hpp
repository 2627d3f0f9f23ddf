// The figures of a page: learning curves, values over columns, differences from the baseline.
#pragma once
#include <string>
#include <vector>

#include "app/table_query.hpp"
#include "results/page.hpp"

namespace odrpo::app {

/// The curve that a page shows: `gain` where the file has what it is made of, else `quality`. What read_table_file() has to read besides
/// says curve_columns().
std::string report_curve(const ResultFile& file);

/// Draws what the tables of a page can show, and notes why a figure is missing (gnuplot too). `q` chose the first of the tables.
void add_figures(HtmlPage& page, const ResultFile& file, const TableQuery& q);

}  // namespace odrpo::app
