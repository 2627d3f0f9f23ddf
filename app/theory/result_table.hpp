// Writes tables of the `theory` commands as text, CSV and JSON, and draws their figures.
#pragma once
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "app/theory/command.hpp"

namespace odrpo::app {

using TheoryCell = std::variant<std::string, double, long long>;  ///< NaN = undefined

struct TheoryTable {
  std::string title;                                               ///< one line; not in CSV
  std::vector<std::pair<std::string, std::vector<double>>> facts;  ///< named numbers that all rows share; only in JSON
  std::vector<std::string> columns;                                ///< names of columns, and keys in JSON
  std::vector<std::vector<TheoryCell>> rows;
  std::vector<std::string> formulas;  ///< one line for each estimator
  std::vector<std::string> notes;
};

enum class TheoryFormat { text, csv, json };
/// The format that --format or --json asks for. Failure `usage` for an unknown word, and where the two flags contradict each other.
TheoryFormat theory_format(const TheoryOptions& o);

/// The numbers as a list: "0.2, 0.3, 0.5".
std::string list_text(const std::vector<double>& numbers);

/// The table in the format `format`, with a final newline. Text shows five digits of a number, CSV and JSON all.
std::string theory_text(const TheoryTable& table, TheoryFormat format);

// Draw the figures of `theory`: mean absolute curl (MAC) over levels K and group size M, and the leverage of one corrupted score.

struct CurlPoint {
  std::string estimator;
  int levels, members;
  double mac, curl;  ///< mean absolute curl over all levels i, j; (M - 1) mac
};

/// Draws panels of MAC over K, MAC over M, and (M - 1) MAC over M, with a line for each estimator. Panels over M are at the largest K, the
/// panel over K at M = 8, else at the largest M. Failure `usage` if there is only one K and one M; `io` if the file cannot be written.
void draw_curl_figure(const std::vector<CurlPoint>& points, const std::string& path);

struct LeveragePoint {
  std::string estimator, outlier;
  double share, growth;
};

/// Draws bars for each estimator and outlier: the corrupted member's share of sum A^2 (A: advantages), and how the group's rms grows. Failure `io`.
void draw_leverage_figure(const std::vector<LeveragePoint>& points, const std::string& caption, const std::string& path);

}  // namespace odrpo::app
