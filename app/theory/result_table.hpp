// Tables of the `theory` commands, as text, CSV and JSON.
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

}  // namespace odrpo::app
