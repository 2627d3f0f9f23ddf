// Defines the sums from which all statistics of a table of ratings are computed. A bootstrap resample adds the sums of its prompts.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/shared/score_table.hpp"

namespace odrpo {

/// Sums over the responses of some prompts. A row is a response with two or more readable scores. Scores are levels; those compared with
/// gold (the true score, if the file has one) are in the file's units. A prompt has M responses and N columns (PromptStatistics).
enum class Sum : std::uint8_t {
  responses,         ///< number of responses with a score
  scores,            ///< number of scores
  level,             ///< sum of all scores
  prompts,           ///< number of prompts with a defined W; the next six sums are over these
  w,                 ///< PromptStatistics::w
  rank_correlation,  ///< PromptStatistics::rank_correlation
  floor,             ///< 1 / N
  chi2,              ///< N (M - 1) W
  df,                ///< M - 1
  disagree,          ///< 1 where Friedman's p < .05
  flip_prompts,      ///< number of prompts with a defined flip
  flip,              ///< PromptStatistics::flip
  tie_prompts,       ///< number of prompts with a defined tie
  tie,               ///< PromptStatistics::tie
  rows,              ///< number of rows
  row_mean,          ///< mean score of a row
  row_mean2,       ///< its square
  row_sd,          ///< standard deviation of a row, ddof 1
  constant,        ///< number of rows whose scores are all equal
  shaped,          ///< number of other rows; the next two sums are over these
  skew,            ///< RowStats::skew
  kurtosis,        ///< RowStats::exkurt
  prompt_means,    ///< over prompts: (sum of the prompt's row means)^2 / number of its rows
  n,               ///< over rows i: number of scores N_i
  n2,              ///< N_i^2
  sum,             ///< S_i, sum of the row's levels
  sum2,            ///< S_i^2 / N_i
  square,          ///< Q_i, sum of the row's squared levels
  full,            ///< number of rows with a score in every column; the next three sums are over these
  full_sum,        ///< S_i
  full_sum2,       ///< S_i^2
  full_square,     ///< Q_i
  apart_values,    ///< over ordered pairs of scores in a row: (v - v')^2 / (N_i - 1), v = the score in the file's units
  apart_ranks,     ///< over the same pairs, v = the mid-rank of the score
  panel,           ///< number of rows with scores of two judges or more
  panel_variance,  ///< variance of such a row (ddof 0)
  gold_scores,     ///< number of scores s of responses with gold g; the next six sums are over these: s, g, products
  gold_s,
  gold_g,
  gold_ss,
  gold_gg,
  gold_sg,
  gold_apart,  ///< |s - g|
  gold_rows,   ///< number of responses with gold h and mean score m; the next five sums are over these: m, h, products
  gold_m,
  gold_h,
  gold_mm,
  gold_hh,
  gold_mh,
  fixed  ///< number of sums above
};
/// Sums for each judge. A repeat is a response that the judge scored twice or more.
enum class JudgeSum : std::uint8_t {
  scores,        ///< number of the judge's scores
  level,         ///< sum of these scores
  panel,         ///< number of responses that other judges scored too
  severity,      ///< over these responses: the judge's mean - mean of the other judges' means
  repeats,       ///< number of repeats; all further sums are over these
  equal_pairs,   ///< share of pairs of scores that are equal
  repeat_ss,     ///< squared deviations of the scores from their mean
  repeat_df,     ///< number of scores - 1
  order_square,  ///< (t - mean t)^2, t = number of the score's column among the judge's columns
  order_level,   ///< (t - mean t) (level - mean level)
  halves,        ///< number of repeats with scores in both halves of the judge's columns
  half,          ///< over these: mean score in the second half - mean score in the first half
  fixed          ///< number of sums above
};
/// Sums for each pair of judges over the responses that both scored; x and y are the mean levels that the two judges gave.
enum class PairSum : std::uint8_t {
  prompts,           ///< number of prompts with a defined rank correlation
  rank_correlation,  ///< over prompts: Spearman's correlation of x and y within the prompt
  responses,         ///< number of responses; all further sums are over these
  x,
  y,
  x2,  ///< mean over the first judge's calls of the squared level
  y2,
  xy,
  fixed  ///< number of sums above
};

inline constexpr std::size_t most_summed_judges = 256;   ///< with more judges there are no sums per judge
inline constexpr std::size_t most_paired_judges = 12;    ///< with more judges there are no sums per pair
inline constexpr std::size_t most_summed_columns = 256;  ///< with more columns the sums over full rows are omitted

/// A list of values in ascending order, each with its unit (ScoreSums: a prompt or a group of prompts). Quantiles of a resample are read from it.
struct UnitValues {
  std::vector<double> value;        ///< ascending
  std::vector<std::uint32_t> unit;  ///< [items]
};

/// All sums of a table, unit by unit. A unit is a prompt, or a group of prompts in a large table: prompt p belongs to unit p % units.
struct ScoreSums {
  std::size_t units = 0, levels = 0, judges = 0, columns = 0;  ///< judges, columns: 0 if too many
  std::vector<double> values;                                  ///< [levels] score in the file's units that each level stands for
  std::vector<double> ranks;                                   ///< [levels] mid-rank of a score among the scores of all rows
  std::vector<double> row;                                     ///< [units][width()] the sums of each unit
  UnitValues w, rank_correlation, mean, sd, skew, kurtosis;    ///< w, rank_correlation of prompts; the others of rows
  std::vector<std::int64_t> confusion;                         ///< [gold level][score level] number of calls; without gold that is no level
  std::int64_t gold_off_levels = 0;                            ///< number of responses whose gold is no level
  std::int64_t no_matrix = 0, one_response = 0, one_column = 0, all_tied = 0;  ///< numbers of prompts without W, by reason
  double fewest_columns = 0, most_columns = 0;                                 ///< columns per prompt, of prompts that have W

  static std::size_t at(Sum s) { return static_cast<std::size_t>(s); }
  static constexpr std::size_t judge_width = static_cast<std::size_t>(JudgeSum::fixed),
                               pair_width = static_cast<std::size_t>(PairSum::fixed);
  std::size_t at(std::size_t judge, JudgeSum s) const { return at(Sum::fixed) + judge * judge_width + static_cast<std::size_t>(s); }
  std::size_t pairs() const { return judges <= most_paired_judges ? judges * (judges - 1) / 2 : 0; }
  /// Index of a sum of judge pair number `pair` in the sums of a unit. Pairs a < b are in the order (0, 1), (0, 2), …, (1, 2), …
  std::size_t at_pair(std::size_t pair, PairSum s) const {
    return at(Sum::fixed) + judges * judge_width + pair * pair_width + static_cast<std::size_t>(s);
  }
  std::size_t at_column(std::size_t column) const { return at_pair(pairs(), PairSum::prompts) + column; }  ///< sum of its levels, full rows
  std::size_t at_margin(std::size_t level) const { return at_column(columns) + level; }                    ///< number of its scores, all rows
  /// Index of two sums for a level, over the calls with this score about responses with gold: their number, the sum of gold.
  std::size_t at_gold_of(std::size_t level) const { return at_margin(levels) + 2 * level; }
  /// Index of two sums for a level, over the calls about responses whose gold is this level: their number, the sum of scores.
  std::size_t at_scores_of(std::size_t level) const { return at_gold_of(levels) + 2 * level; }
  std::size_t width() const { return at_scores_of(levels); }
};

// Steps of sum_scores() for one response, and for all pairs of judges of one prompt. Private to envs/judge/agreement/.

/// Scores of one response by one judge.
struct JudgeScores {
  std::uint32_t judge = 0;
  std::size_t from = 0, to = 0;  ///< range of indices in ResponseScores::level
  double sum = 0, square = 0;
  double n() const { return static_cast<double>(to - from); }
  double mean() const { return sum / n(); }
};

/// The scores of one response that could be read.
struct ResponseScores {
  std::vector<double> level;
  std::vector<std::uint32_t> column;
  std::vector<JudgeScores> judges;  ///< the judges that scored it
  double sum = 0, square = 0;
  double n() const { return static_cast<double>(level.size()); }
  /// Fills this struct with the readable scores of response `r`. Reuses memory from call to call.
  void read(const ScoreTable& table, const ScoreTable::Response& r);
};

/// The sums of one unit, and functions that add to them.
struct SumRow {
  ScoreSums& sums;
  double* row;
  std::uint32_t unit;
  void add(std::size_t place, double x) { row[place] += x; }
  void add(Sum s, double x) { row[ScoreSums::at(s)] += x; }
  void add(std::size_t judge, JudgeSum s, double x) { row[sums.at(judge, s)] += x; }
  void add(UnitValues& list, double x) {
    list.value.push_back(x);
    list.unit.push_back(unit);
  }
};

/// Adds one response to the sums per judge. `first_column`, [judges + 1], is the first column of each judge.
void add_judges(SumRow& to, const ResponseScores& scores, const std::vector<std::uint32_t>& first_column);

/// Adds one response whose gold is known to the sums of gold.
void add_gold(SumRow& to, const ResponseScores& scores, double gold);

/// Mean level, and mean squared level, of each judge for each response of a prompt; NaN where the judge has no score.
struct JudgeMeans {
  std::vector<double> mean, square;  ///< [responses][judges]
};
/// Adds the responses of one prompt to the sums per pair of judges.
void add_pairs(SumRow& to, const JudgeMeans& means);



/// Computes the sums of all prompts, in at most `most_units` units (fewer if a unit has many sums, to save memory). Reads the ratings twice:
/// for the mid-ranks of levels, then for the sums.
ScoreSums sum_scores(const ScoreTable& table, std::size_t most_units);

}  // namespace odrpo
