// Reads the texts of scores by what a user says of missing scores, judges' answers, words and decimal commas.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "results/scores/cell_text.hpp"
#include "results/scores/reading.hpp"

namespace odrpo {

/// The texts of one file. Counts what it meets, for notes.
class ScoreTexts {
 public:
  /// `how` must outlive it. `separator`: of the file's columns; 0 = none.
  ScoreTexts(const ScoreReading& how, char separator) : how_(how), missing_(how.missing), mapped_(how.map.size(), false), separator_(separator) {}

  /// The score that a text is by `missing`, `parse` and `map`.
  CellText read(std::string_view text);
  /// The number that a text is by `missing` alone.
  CellText read_number(std::string_view text);
  /// On decimal commas, and on words of `map` that are no score of the file.
  std::vector<std::string> notes() const;

 private:
  CellText mapped(std::string_view text);
  const ScoreReading& how_;
  const MissingCodes missing_;
  std::vector<bool> mapped_;  ///< words of `map` that the file has
  std::string answer_;
  char separator_;
  long commas_ = 0;
};

/// "3 scores are written as N/10 and read as N"
std::string fractions_note(long fractions, double whole);

}  // namespace odrpo
