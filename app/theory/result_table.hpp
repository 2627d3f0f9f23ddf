// Tables of the `theory` commands, as text, CSV and JSON; and their figures.
#pragma once
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "app/theory/command.hpp"

namespace odrpo::app {

using TheoryCell = std::variant<std::string, double, long long>;  ///< NaN: undefined

struct TheoryTable {
  std::string title;                                               ///< one line; of text and JSON
  std::vector<std::pair<std::string, std::vector<double>>> facts;  ///< named numbers that all rows share; of JSON
  std::vector<std::string> columns;                                ///< names as CSV and JSON have them
  std::vector<std::vector<TheoryCell>> rows;
  std::vector<std::string> formulas;  ///< one line for each estimator
  std::vector<std::string> notes;
};

enum class TheoryFormat { text, csv, json };
/// From --format and --json. Failure usage for another word, and for both where they differ.
TheoryFormat theory_format(const TheoryOptions& o);

/// "0.2, 0.3, 0.5"
std::string list_text(const std::vector<double>& numbers);

/// The table in that format, with a final newline. Text has numbers of five digits, CSV and JSON have all.
std::string theory_text(const TheoryTable& table, TheoryFormat format);

// The figures of `theory`: mean absolute curl over levels and group sizes, and the leverage of one score.

struct CurlPoint {
  std::string estimator;
  int levels, members;
  double mac, curl;  ///< over all i, j; without and with M - 1
};

/// MAC over K and over M, and the same times M - 1 over M: a line for each estimator. K is the largest in the panels over M; M is 8 in the
/// panel over K, or the largest where 8 is not there. Failure usage where there is one K and one M alone; io.
void draw_curl_figure(const std::vector<CurlPoint>& points, const std::string& path);

struct LeveragePoint {
  std::string estimator, outlier;
  double share, growth;
};

/// Bars of share and growth for each estimator and outlier. Failure io.
void draw_leverage_figure(const std::vector<LeveragePoint>& points, const std::string& caption, const std::string& path);

}  // namespace odrpo::app
