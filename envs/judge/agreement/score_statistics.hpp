// Computes all statistics of a table of ratings from ScoreSums: agreement, reliability, judges, comparison with gold. NaN = undefined.
#pragma once
#include <array>
#include <span>
#include <vector>

#include "envs/judge/agreement/score_sums.hpp"

namespace odrpo {

inline constexpr std::array<double, 5> list_quantiles = {0.05, 0.25, 0.5, 0.75, 0.95};
using Quantiles = std::array<double, list_quantiles.size()>;

/// Quantiles (list_quantiles) of each list of values in ScoreSums; NaN where a list is empty.
struct ListQuantiles {
  Quantiles w, rank_correlation, mean, sd, skew, kurtosis;
};

/// Mean and quantiles of a list of values, one value for each prompt or row. A row is a response with two or more scores.
struct ListStatistics {
  double mean;
  Quantiles quantile;
};

/// Statistics of one judge, in levels.
struct JudgeStatistics {
  double level;            ///< mean of its scores
  double severity;         ///< mean over rows of (its mean - mean of the other judges' means); above 0: it scores higher
  double severity_share;   ///< the judge's part of ScoreStatistics::severity_share, which is the sum of these parts
  double equal_repeats;    ///< share of pairs of its calls on a response that are equal
  double repeat_sd;        ///< sd of its calls around their mean, pooled over responses (ddof 1)
  double drift;            ///< slope of its score over the order of its samples, within responses; levels per sample
  double half_difference;  ///< mean of the second half of its samples - mean of the first half, within responses
};

/// Statistics of two judges, on the responses that both scored.
struct PairStatistics {
  double rank_correlation;  ///< Spearman's correlation of their mean scores within a prompt; mean over prompts that have one
  double kappa;             ///< Cohen's kappa with quadratic weights, of single calls
};

/// Comparison of one level with gold (the true score of a response, where the file has one).
struct LevelStatistics {
  double gold;   ///< mean gold over the calls that gave this level; in the file's units
  double score;  ///< mean score of the calls about responses whose gold is this level; in the file's units
};

/// All statistics of some prompts.
struct ScoreStatistics {
  ListStatistics w, rank_correlation;    ///< over prompts (PromptStatistics)
  double floor;                          ///< mean of 1 / N: the expected W of random ranks
  double chi2, disagree;                 ///< Friedman's test: mean over prompts; share of prompts with p < .05
  double flip, tie;                      ///< mean over prompts (PromptStatistics)
  ListStatistics row_mean, row_sd;       ///< over rows: mean, and standard deviation (ddof 1)
  ListStatistics skew, kurtosis;         ///< over rows that are not constant (RowStats)
  double constant;                       ///< share of rows whose scores are all equal
  double prompt_share;                   ///< share of the variance of row means that lies between prompts, by sums of squares
  double icc1;                           ///< ICC(1,1), one-way random (Shrout and Fleiss 1979); unequal rows as in an unbalanced ANOVA
  double icc21;                          ///< ICC(2,1), two-way random, over rows with a score in every column; each column is a rater
  double alpha_ordinal, alpha_interval;  ///< Krippendorff's alpha over all rows; ordinal: distances between mid-ranks in the table
  double severity_share;  ///< variance (ddof 1) of the judges' constant offsets from a row's mean / mean variance of a row (ddof 0)
  double equal_repeats, repeat_sd, drift, half_difference;  ///< see JudgeStatistics; pooled over all judges
  double gold_bias, gold_error;                    ///< over calls: mean of score - gold, and of |score - gold|; in the file's units
  double gold_correlation, gold_mean_correlation;  ///< Pearson's correlation with gold: over calls; over mean scores of responses
  std::vector<JudgeStatistics> judge;
  std::vector<PairStatistics> pair;    ///< in the order of ScoreSums::at_pair
  std::vector<LevelStatistics> level;  ///< [levels]
};

/// Computes `out` for the prompts whose sums are `total` ([ScoreSums::width()]) and whose lists have these quantiles. Reuses the memory of
/// `out`.
void score_statistics(const ScoreSums& sums, std::span<const double> total, const ListQuantiles& quantiles, ScoreStatistics& out);

/// Calls visit(name, number, value) for every statistic, always in the same order. number: index of the judge, pair or level; else -1.
template <class Visit>
void each_statistic(ScoreStatistics& s, Visit visit) {
  const auto list = [&](const char* const(&name)[6], ListStatistics& l) {
    visit(name[0], -1, l.mean);
    for (std::size_t q = 0; q < l.quantile.size(); ++q) visit(name[q + 1], -1, l.quantile[q]);
  };
  list({"w", "w_q05", "w_q25", "w_median", "w_q75", "w_q95"}, s.w);
  list({"rank_correlation", "rank_correlation_q05", "rank_correlation_q25", "rank_correlation_median", "rank_correlation_q75",
        "rank_correlation_q95"},
       s.rank_correlation);
  list({"row_mean", "row_mean_q05", "row_mean_q25", "row_mean_median", "row_mean_q75", "row_mean_q95"}, s.row_mean);
  list({"row_sd", "row_sd_q05", "row_sd_q25", "row_sd_median", "row_sd_q75", "row_sd_q95"}, s.row_sd);
  list({"skew", "skew_q05", "skew_q25", "skew_median", "skew_q75", "skew_q95"}, s.skew);
  list({"kurtosis", "kurtosis_q05", "kurtosis_q25", "kurtosis_median", "kurtosis_q75", "kurtosis_q95"}, s.kurtosis);
  visit("floor", -1, s.floor);
  visit("chi2", -1, s.chi2);
  visit("disagree", -1, s.disagree);
  visit("flip", -1, s.flip);
  visit("tie", -1, s.tie);
  visit("constant", -1, s.constant);
  visit("prompt_share", -1, s.prompt_share);
  visit("icc1", -1, s.icc1);
  visit("icc21", -1, s.icc21);
  visit("alpha_ordinal", -1, s.alpha_ordinal);
  visit("alpha_interval", -1, s.alpha_interval);
  visit("severity_share", -1, s.severity_share);
  visit("equal_repeats", -1, s.equal_repeats);
  visit("repeat_sd", -1, s.repeat_sd);
  visit("drift", -1, s.drift);
  visit("half_difference", -1, s.half_difference);
  visit("gold_bias", -1, s.gold_bias);
  visit("gold_error", -1, s.gold_error);
  visit("gold_correlation", -1, s.gold_correlation);
  visit("gold_mean_correlation", -1, s.gold_mean_correlation);
  for (int j = 0; j < static_cast<int>(s.judge.size()); ++j) {
    JudgeStatistics& judge = s.judge[static_cast<std::size_t>(j)];
    visit("level", j, judge.level);
    visit("severity", j, judge.severity);
    visit("severity_share", j, judge.severity_share);
    visit("equal_repeats", j, judge.equal_repeats);
    visit("repeat_sd", j, judge.repeat_sd);
    visit("drift", j, judge.drift);
    visit("half_difference", j, judge.half_difference);
  }
  for (int p = 0; p < static_cast<int>(s.pair.size()); ++p) {
    visit("pair_rank_correlation", p, s.pair[static_cast<std::size_t>(p)].rank_correlation);
    visit("pair_kappa", p, s.pair[static_cast<std::size_t>(p)].kappa);
  }
  for (int k = 0; k < static_cast<int>(s.level.size()); ++k) {
    visit("gold_of_score", k, s.level[static_cast<std::size_t>(k)].gold);
    visit("score_of_gold", k, s.level[static_cast<std::size_t>(k)].score);
  }
}

}  // namespace odrpo
