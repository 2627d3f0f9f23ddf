// The scale of a file of scores: which number is which level.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace odrpo {

inline constexpr int most_levels = 100;  ///< of a scale

/// The values that scores may have, increasing; empty = those of the file.
struct ScoreScale {
  std::vector<double> values;
};

/// 1, 2, …, `levels`.
ScoreScale scale_of_levels(int levels);

/// The scale that a text states: "0..10" (step 1) or "0..5 by 0.5". Nothing where it states none of 2..most_levels values.
std::optional<ScoreScale> parse_scale(std::string_view text);

/// The scale of the scores that a file has (`found`: different, increasing). Whole numbers from 1: 1..the largest. Otherwise the grid from
/// the least to the greatest by the largest step that meets all, when that has at most most_levels values; otherwise `found` itself.
std::vector<double> scale_of_scores(const std::vector<double>& found);

/// "1..6", "0..10 by 0.5", or the values themselves: "0, 0.3, 7".
std::string scale_text(const std::vector<double>& values);

}  // namespace odrpo
