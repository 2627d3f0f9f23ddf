// Reads the text of one cell of a file of scores or of runs: a number, a fraction such as "8/10", no value, or none of these.
#pragma once
#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace odrpo {

struct CellText {
  enum class Kind { blank, number, fraction, other };
  Kind kind = Kind::other;
  double value = 0;  ///< of a number, finite; N of the fraction "N/M"
  double whole = 0;  ///< M of the fraction, above 0
  const char* mistake = nullptr;  ///< of `other`: why the file is wrong there ("has a decimal comma: write a point"); null: a text like any other
};

/// Blank: nothing, or one of NA, N/A, NaN, null and None in any letter case. Numbers may have a plus sign. Spaces around count as nothing.
CellText read_cell(std::string_view text);

/// Reads a cell of a file whose columns are separated by `separator`. Where that is no comma, a decimal comma is a point ("7,5", "0,125", and not "3,125",
/// which may be thousands), and is counted in `commas`.
CellText read_cell(std::string_view text, char separator, long& commas);

/// Says how many numbers have a decimal comma: "4 numbers have a decimal comma"; empty for none.
std::string commas_note(long commas);

/// The cells that mean "no score" in a file beside the blank ones, as a user names them: -1, 99, "no rating".
class MissingCodes {
 public:
  MissingCodes() = default;
  /// A text that is a number stands for all spellings of that number.
  explicit MissingCodes(const std::vector<std::string>& texts);
  bool has(const CellText& cell, std::string_view text) const;

 private:
  std::vector<double> numbers_;
  std::vector<std::string> texts_;
};

/// Numbers that differ by less than this share of the largest are one number (sums of tenths: 0.6 and 0.6000000000000001).
inline constexpr double rounding_of_scores = 1e-6;
inline constexpr double rounding_of_sums = 1e-12;  ///< of one number in double: 0.1 + 0.2 is written 0.3
inline bool same_score(double a, double b, double largest) { return std::abs(a - b) <= rounding_of_scores * largest; }
inline bool same_score(double a, double b) { return same_score(a, b, std::max(std::abs(a), std::abs(b))); }

/// The decimal with the fewest digits in least..most.
double shortest_between(double least, double most);

}  // namespace odrpo
