// Declares the scale of a judge whose scores a dump has: the rewards that its levels stand for, and the comment of a judge's file that states them.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace odrpo {

/// The reward that a level stands for, also between levels; below level 1 at the distance of the first two. values[K], increasing, K >= 2.
double value_at(std::span<const double> values, double level);

/// The level of a reward, of lowest..K (`lowest`: 1, or 0 for a judge that scores unreadable answers 0); -1 = it is off the scale. Rounding as in level_on().
int judge_level(std::span<const double> values, double reward, int lowest);

/// Are neighbouring values equally far apart? If they are, the value of a mean level is the mean of the values.
bool evenly_spaced(std::span<const double> values);

/// The beginning and the middle of the comment in a judge's file: "# Levels 1 to K stand for the scores SCALE."
inline constexpr std::string_view levels_comment_begin = "# Levels 1 to ", levels_comment_middle = " stand for the scores ";
/// That comment, with a line's end; empty for the scale 1..K, which needs none.
std::string levels_comment(const std::vector<double>& values);
/// The text of SCALE in a line that is such a comment.
std::optional<std::string> scale_of_comment(std::string_view line);

}  // namespace odrpo
