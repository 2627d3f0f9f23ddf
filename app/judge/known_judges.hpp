// Judges whose figures are known, beside which `judge analyze` puts a file.
#pragma once
#include <span>
#include <string>

namespace odrpo::app {

/// What a judge's scores look like, in numbers that can be compared between scales and numbers of calls.
struct KnownJudge {
  std::string name;
  std::string what;         ///< whose scores
  double calls;             ///< per response
  double w;                 ///< Kendall's W, median over prompts
  double rank_correlation;  ///< (N W - 1) / (N - 1), mean over prompts
  double flip, tie;         ///< shares, mean over prompts
  double constant;          ///< share of responses whose scores are all equal
  double deviation;         ///< mean sd of a response's scores (ddof 1), of the scale's width K - 1
};

/// Our presets and panels of real judges.
std::span<const KnownJudge> known_judges();

/// The one whose rank correlation, flips and deviation are nearest: the sum of squared differences in units of .1, .03 and .02.
const KnownJudge& nearest_judge(const KnownJudge& of);

}  // namespace odrpo::app
