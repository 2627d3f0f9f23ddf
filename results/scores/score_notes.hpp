// Finds what a user must know before a number of a file of scores is believed: codes that may mean "no score", answers that cannot be read.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "kernels/shared/score_table.hpp"
#include "results/scores/reading.hpp"

namespace odrpo {

/// Values that look like codes for "no score" (-1, 99, 0), increasing. A code is the lowest or the highest of the values, and the other scores of the same
/// responses lie two steps or more away from it in 9 of 10 responses. Beside that, either it holds at most 5 % of the scores, three or more, and lies two steps or more from the next value, or it is -1, 0, 99
/// or 999 beside a full 1..5, 1..7 or 1..10. A step is the smallest gap between the other values. Whole numbers within 1..10 are no codes by their gap.
std::vector<double> possible_codes(const ScoreTable& table);

/// Texts that are no scores, in the order in which they are met.
struct UnreadableTexts {
  std::vector<std::pair<std::string, std::int64_t>> texts;  ///< shown, and how often
  void add(std::string text, std::int64_t times = 1);
  bool full() const { return texts.size() >= 1000; }
};

/// How texts that are no numbers can be made scores.
std::string ways_to_read(const ScoreReading& how);

/// Adds to the table's warnings and notes what its scores say. Where `how` states a scale, every value on it is a score.
void add_score_notes(ScoreTable& table, const UnreadableTexts& unreadable, const ScoreReading& how);

}  // namespace odrpo
