// What `judge analyze` finds in a file of scores: every statistic with its interval, counts, and judges to compare with.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/command.hpp"
#include "app/judge/sentences.hpp"
#include "envs/judge/agreement/score_statistics.hpp"
#include "envs/judge/simulate_scores.hpp"
#include "kernels/shared/score_table.hpp"
#include "results/stats/run_statistics.hpp"

namespace odrpo::app {

// Judges whose figures are known, beside which `judge analyze` puts a file.

/// What a judge's scores look like, in numbers that can be compared between scales and numbers of calls.
struct KnownJudge {
  std::string_view name;
  std::string_view what;         ///< whose scores
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

/// More units cost time and change no interval that is printed.
inline constexpr std::size_t most_units = 5000;

struct JudgeAnalysis {
  std::string file;  ///< printable
  ScoreSums sums;
  std::vector<double> total;        ///< [sums.width()] of all prompts
  std::vector<std::string> judges;  ///< printable names; "" of the only judge of a file that names none
  std::vector<std::string> notes;   ///< printable
  std::int64_t prompts = 0, responses = 0, columns = 0, missing = 0, unreadable = 0;
  std::int64_t fewest = 0, most = 0;  ///< scores of a response that has one
  std::vector<EffectiveVotes> worth;  ///< of a simulated rater; empty of a file
  int resamples = 0;
  std::uint64_t seed = 1;
  /// Of a file that names no judges.
  std::optional<ColumnFinding> columns_differ;
  double friedman_chi2 = 0, friedman_df = 0, friedman_p = 0;  ///< of all prompts: the sums

  double sum(Sum s) const { return total[ScoreSums::at(s)]; }
  /// The statistic of that name (each_statistic, score_statistics.hpp); `number`: of a judge, a pair or a level.
  const Estimate& at(std::string_view name, int number = -1) const;

  struct Named {
    const char* name;
    int number;
    Estimate estimate;
  };
  std::vector<Named> statistics;
};

/// Intervals: 95 %, BCa, widened for few units (expanded_level), of units drawn with replacement; units are prompts, or groups of them.
/// `resamples` = 0: none.
JudgeAnalysis analyze_scores(const ScoreTable& table, const std::string& file, int resamples, std::uint64_t seed);

/// What is compared of a file.
KnownJudge as_known(const JudgeAnalysis& a);

std::string analysis_text(const JudgeAnalysis& a, const std::vector<JudgeAnalysis>& compare);
std::string analysis_json(const JudgeAnalysis& a, const std::vector<JudgeAnalysis>& compare);

// What `judge analyze` is given: a file of scores, or raters whose scores are simulated.

struct NamedScores {
  std::string name;  ///< printable: the file, or the rater
  ScoreTable table;
  std::vector<EffectiveVotes> worth;  ///< of a simulated rater; empty of a file
};

/// Is `path` read as a file of scores? Otherwise it ends with .toml, or is a word of `list raters` and no file is called so.
bool is_score_file(const std::string& path);

/// `path` is a suite: its raters, in the grid's order, in the world of its first env, with as many calls as its most votes. A judge's file
/// or a word: that rater, 1000 prompts x 8 responses x 16 calls, as the paper measured its judge. A file of scores: that. At least one.
/// Failures of load_suite(), load_rater_file() and read_score_table(); usage for a suite without a bandit.
std::vector<NamedScores> judge_inputs(const std::string& path, const JudgeAnalyzeOptions& o);

}  // namespace odrpo::app
