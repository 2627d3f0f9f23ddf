// Collects the different scores of a file while it is read, and puts them on levels when all of them are known.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "results/scores/cell_text.hpp"
#include "results/scores/rows.hpp"

namespace odrpo {

/// Gives each different score a code. Scores that differ by rounding alone become one when there are many of them, and when they are settled.
class ScoreValues {
 public:
  /// `stated`: the scale, increasing; empty = the file's scores make it.
  explicit ScoreValues(std::vector<double> stated) : stated_(std::move(stated)) {}

  /// The code of a number or of a fraction's N, 1..most_codes, and one more score with it; 0 where there is none: the number is off the stated
  /// scale, or one too many. Codes that were given may have changed meaning afterwards: see take_moved().
  std::uint8_t code_of(const CellText& cell, CellPlace at);

  /// Scores that differ by rounding alone may be merged, which renumbers codes. The renumbering since the last call, `moved[old code]`; nothing if no code
  /// changed.
  std::optional<std::array<std::uint8_t, 256>> take_moved();
  bool has_moved() const { return moved_.has_value(); }

  /// A power of ten that makes at most 50 levels of the range of the scores so far.
  double usual_step() const;

  /// What all codes mean.
  struct Settled {
    std::vector<double> values;                  ///< [K] different scores, increasing; the stated scale where there is one
    std::array<std::uint8_t, 256> index{};       ///< of a code: 1 + index into `values`; 0 = it could not be read
    std::vector<std::pair<double, double>> rounded;  ///< least and largest of scores that were made one
    std::int64_t fractions = 0;                  ///< scores that were written as N/M and read as N
    double whole = 0;                            ///< their M
    struct Refused {
      std::string text;
      std::int64_t count;
      CellPlace first;
    };
    std::vector<Refused> refused;                ///< fractions that cannot be read, for the file has several M or larger scores
    std::optional<std::pair<double, CellPlace>> too_many;  ///< the first score beyond most_levels different ones
  };
  Settled settle() const;

  static constexpr std::size_t most_codes = 254;  ///< 255 is ScoreCells::blank

 private:
  struct Entry {
    double least, most;
    double whole = 0;  ///< M of N/M; 0 of a number
    std::int64_t count = 0;
    CellPlace first;
    bool holds(double value, double of, double slack) const { return whole == of && value >= least - slack && value <= most + slack; }
  };
  void join_rounded();
  std::vector<double> stated_;
  std::vector<Entry> entries_;  ///< [code - 1]
  std::size_t last_ = 0;
  double largest_ = 0;    ///< absolute value
  bool joined_ = false;   ///< rounded scores are joined as they are met
  std::optional<std::array<std::uint8_t, 256>> moved_;
};

}  // namespace odrpo
