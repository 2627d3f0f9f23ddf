// Sums over prompts from which the statistics of a table of ratings are made: sums of resampled prompts are sums of rows.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/shared/score_table.hpp"

namespace odrpo {

/// Sums that every table has. A row = a response with two scores or more that could be read. Scores are levels, but for gold.
enum class Sum : std::uint8_t {
  responses,         ///< with a score
  scores,            ///< how many
  level,             ///< of all scores
  prompts,           ///< whose W is defined; the next six are of these
  w,                 ///< as PromptStatistics has it
  rank_correlation,  ///< the same
  floor,             ///< 1 / N
  chi2,              ///< N (M - 1) W
  df,                ///< M - 1
  disagree,          ///< 1 where Friedman's p < .05
  flip_prompts,      ///< whose flip is defined
  flip,
  tie_prompts,  ///< whose tie is defined
  tie,
  rows,
  row_mean,
  row_mean2,       ///< its square
  row_sd,          ///< ddof 1
  constant,        ///< rows whose scores are all equal
  shaped,          ///< rows that are not constant; the next two are of these
  skew,            ///< as RowStats has it
  kurtosis,        ///< excess kurtosis
  prompt_means,    ///< (sum of a prompt's row means)^2 / its rows
  n,               ///< of row i: scores N_i
  n2,              ///< N_i^2
  sum,             ///< S_i, sum of levels
  sum2,            ///< S_i^2 / N_i
  square,          ///< Q_i, sum of squared levels
  full,            ///< rows with a score in every column; the next three are of these
  full_sum,        ///< S_i
  full_sum2,       ///< S_i^2
  full_square,     ///< Q_i
  apart_values,    ///< over ordered pairs of scores in a row: (v - v')^2 / (N_i - 1), v = what the level stands for
  apart_ranks,     ///< the same of mid-ranks
  panel,           ///< rows of two judges or more
  panel_variance,  ///< their variance (ddof 0)
  gold_scores,     ///< scores of responses with gold; the next six are of these, in units of values
  gold_s,
  gold_g,
  gold_ss,
  gold_gg,
  gold_sg,
  gold_apart,  ///< |score - gold|
  gold_rows,   ///< responses with gold; the next five are of these: mean score m, gold h
  gold_m,
  gold_h,
  gold_mm,
  gold_hh,
  gold_mh,
  fixed  ///< how many
};
/// Of each judge. A repeat = a response that the judge scored twice or more.
enum class JudgeSum : std::uint8_t {
  scores,        ///< how many
  level,         ///< of them
  panel,         ///< rows that other judges scored too
  severity,      ///< there: the judge's mean less the mean of the other judges' means
  repeats,       ///< how many; the rest is of these
  equal_pairs,   ///< share of pairs of scores that are equal
  repeat_ss,     ///< squares around the mean
  repeat_df,     ///< scores - 1
  order_square,  ///< sum of (t - mean t)^2, t = the sample's place among the judge's samples
  order_level,   ///< sum of (t - mean t) level
  halves,        ///< repeats with scores in both halves of the judge's samples
  half,          ///< there: mean of the second half less that of the first
  fixed          ///< how many
};
/// Of each pair of judges, on the responses that both scored, by their mean levels x and y there.
enum class PairSum : std::uint8_t {
  prompts,           ///< where the rank correlation is defined
  rank_correlation,  ///< Spearman's, within the prompt
  responses,         ///< how many; the rest is of these
  x,
  y,
  x2,  ///< mean over calls of the squared level
  y2,
  xy,
  fixed  ///< how many
};

inline constexpr std::size_t most_summed_judges = 256;   ///< a table with more judges has no sums of judges
inline constexpr std::size_t most_paired_judges = 12;    ///< with more, none of pairs
inline constexpr std::size_t most_summed_columns = 256;  ///< with more columns, no full rows

/// A value of each item of a list, with the unit that it belongs to, by value.
struct UnitValues {
  std::vector<double> value;        ///< ascending
  std::vector<std::uint32_t> unit;  ///< [items]
};

/// Units are prompts, or groups of them where there are many: prompt p belongs to unit p % units.
struct ScoreSums {
  std::size_t units = 0, levels = 0, judges = 0, columns = 0;  ///< 0 where there are too many
  std::vector<double> values;                                  ///< [levels] what levels stand for
  std::vector<double> ranks;                                   ///< [levels] mid-rank of a score among the scores of all rows
  std::vector<double> row;                                     ///< [units][width()]
  UnitValues w, rank_correlation, mean, sd, skew, kurtosis;    ///< of prompts; of rows
  std::vector<std::int64_t> confusion;                         ///< [gold level][score level]; gold that is no level is left out
  std::int64_t gold_off_levels = 0;                            ///< responses with such gold
  std::int64_t no_matrix = 0, one_response = 0, one_column = 0, all_tied = 0;  ///< prompts without W, and why
  double fewest_columns = 0, most_columns = 0;                                 ///< of the prompts that have W

  static std::size_t at(Sum s) { return static_cast<std::size_t>(s); }
  static constexpr std::size_t judge_width = static_cast<std::size_t>(JudgeSum::fixed),
                               pair_width = static_cast<std::size_t>(PairSum::fixed);
  std::size_t at(std::size_t judge, JudgeSum s) const { return at(Sum::fixed) + judge * judge_width + static_cast<std::size_t>(s); }
  std::size_t pairs() const { return judges <= most_paired_judges ? judges * (judges - 1) / 2 : 0; }
  /// Of a pair a < b in the order (0, 1), (0, 2), …, (1, 2), …
  std::size_t at_pair(std::size_t pair, PairSum s) const {
    return at(Sum::fixed) + judges * judge_width + pair * pair_width + static_cast<std::size_t>(s);
  }
  std::size_t at_column(std::size_t column) const { return at_pair(pairs(), PairSum::prompts) + column; }  ///< of full rows: levels
  std::size_t at_margin(std::size_t level) const { return at_column(columns) + level; }                    ///< scores of rows
  /// By score: how many with gold, then the sum of gold.
  std::size_t at_gold_of(std::size_t level) const { return at_margin(levels) + 2 * level; }
  /// By gold that is a level: how many scores, then their sum.
  std::size_t at_scores_of(std::size_t level) const { return at_gold_of(levels) + 2 * level; }
  std::size_t width() const { return at_scores_of(levels); }
};

// The parts of sum_scores(): what a response adds, and what a prompt's judges add. Private to envs/judge/agreement/.

/// Scores of one response by one judge.
struct JudgeScores {
  std::uint32_t judge = 0;
  std::size_t from = 0, to = 0;  ///< of the response's scores
  double sum = 0, square = 0;
  double n() const { return static_cast<double>(to - from); }
  double mean() const { return sum / n(); }
};

/// The scores of one response that could be read.
struct ResponseScores {
  std::vector<double> level;
  std::vector<std::uint32_t> column;
  std::vector<JudgeScores> judges;  ///< those that scored it
  double sum = 0, square = 0;
  double n() const { return static_cast<double>(level.size()); }
  /// `r` of the table; keeps its memory from call to call.
  void read(const ScoreTable& table, const ScoreTable::Response& r);
};

/// The row of sums to which something is added.
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

/// `first_column`: [judges + 1] the first column of each judge.
void add_judges(SumRow& to, const ResponseScores& scores, const std::vector<std::uint32_t>& first_column);

void add_gold(SumRow& to, const ResponseScores& scores, double gold);

/// Mean level, and mean squared level, of each judge for each response of a prompt; NaN where the judge has no score.
struct JudgeMeans {
  std::vector<double> mean, square;  ///< [responses][judges]
};
void add_pairs(SumRow& to, const JudgeMeans& means);

// The sums behind the statistics of a table of ratings.

/// Of all prompts; at most `most_units` units, fewer where there are many sums. One pass over the ratings for the mid-ranks of levels, one
/// for the sums.
ScoreSums sum_scores(const ScoreTable& table, std::size_t most_units);

}  // namespace odrpo
