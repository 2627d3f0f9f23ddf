// Defines what `judge analyze` finds in a file of scores: every statistic with its interval, counts, and known judges to compare with.
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

// Known judges, which `judge analyze` shows beside a file.

/// Statistics of a judge's scores that can be compared although the judges' numbers of levels and of calls differ.
struct KnownJudge {
  std::string_view name;
  std::string_view what;         ///< whose scores
  double calls;             ///< number of calls about a response
  double w;                 ///< Kendall's W, median over prompts
  double rank_correlation;  ///< (N W - 1) / (N - 1), N = calls; mean over prompts
  double flip, tie;         ///< shares of two calls that order two responses oppositely, and of two responses that a call ties; mean over prompts
  double constant;          ///< share of responses whose scores are all equal
  double deviation;         ///< mean standard deviation of a response's scores (ddof 1) in levels, divided by K - 1
};

/// The judges to compare with: presets of this program, and panels of real judges.
std::span<const KnownJudge> known_judges();

/// The known judge with the smallest distance: the sum of squared differences of rank correlation / .1, flip / .03 and deviation / .02.
const KnownJudge& nearest_judge(const KnownJudge& of);

/// Most units (prompts, or groups of prompts) that the bootstrap draws from. More cost time and change no printed interval.
inline constexpr std::size_t most_units = 5000;

struct JudgeAnalysis {
  std::string file;  ///< name of the file or rater, without control characters
  ScoreSums sums;
  std::vector<double> total;        ///< [sums.width()] the sums over all prompts
  std::vector<std::string> judges;  ///< names without control characters; "" of the only judge of a file that names none
  std::string made_levels;          ///< ScoreTable::made_levels
  std::vector<std::string> notes;   ///< notes on the file, without control characters
  std::vector<std::string> warnings;  ///< what may make numbers of the file wrong, without control characters
  std::int64_t prompts = 0, responses = 0, columns = 0, missing = 0, unreadable = 0;
  std::int64_t fewest = 0, most = 0;  ///< fewest and most scores of a response, over responses with a score
  std::vector<EffectiveVotes> worth;  ///< what N calls of a simulated rater are worth; empty for a file of scores
  int resamples = 0;
  std::uint64_t seed = 1;
  /// For a file that names no judges: do its columns of samples differ, as if several judges had scored?
  std::optional<ColumnFinding> columns_differ;
  double friedman_chi2 = 0, friedman_df = 0, friedman_p = 0;  ///< Friedman's test of all prompts together: chi2 and df are sums over prompts

  double sum(Sum s) const { return total[ScoreSums::at(s)]; }
  /// The statistic with this name (each_statistic() in score_statistics.hpp). `number`: index of the judge, pair or level; -1 = none.
  const Estimate& at(std::string_view name, int number = -1) const;

  struct Named {
    const char* name;
    int number;
    Estimate estimate;
  };
  std::vector<Named> statistics;
};

/// Computes the statistics of a table of scores, with 95 % BCa bootstrap intervals that are widened for few units (expanded_level()). Units,
/// which are prompts or groups of prompts, are drawn with replacement. With `resamples` = 0 there are no intervals.
JudgeAnalysis analyze_scores(const ScoreTable& table, const std::string& file, int resamples, std::uint64_t seed);

/// The statistics of an analysis in the form in which they are compared with known judges.
KnownJudge as_known(const JudgeAnalysis& a);

std::string analysis_text(const JudgeAnalysis& a, const std::vector<JudgeAnalysis>& compare);
std::string analysis_json(const JudgeAnalysis& a, const std::vector<JudgeAnalysis>& compare);

// What `judge analyze` is given: a file of scores, or raters whose scores are simulated.

struct NamedScores {
  std::string name;  ///< the file or the rater, without control characters
  ScoreTable table;
  std::vector<EffectiveVotes> worth;  ///< what N calls of a simulated rater are worth; empty for a file of scores
};

/// True if `path` is read as a file of scores. Else it ends with .toml, or is a word of `list raters` and no file has that name.
bool is_score_file(const std::string& path);

/// Returns the table of a file of scores, or simulates raters; at least one entry. A suite gives an entry for each of its raters, with as many
/// calls as its most votes or as `samples` says. A judge's file or a word gives that rater, 1000 prompts x 8 responses x 16 calls, as the paper measured its judge.
/// Failures of load_suite(), load_rater_file() and read_score_table(); `usage` for a suite of another world than the bandit.
std::vector<NamedScores> judge_inputs(const std::string& path, const JudgeAnalyzeOptions& o);

}  // namespace odrpo::app
