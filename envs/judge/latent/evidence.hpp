// What a table of scores can tell about a judge on a latent scale; parts of tables; the moments that a fit compares (moments.cpp).
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/shared/score_table.hpp"

namespace odrpo {

struct Evidence {
  bool pairs = false;                       ///< a response with two scores
  bool triples = false;                     ///< a response with three
  bool varying_pairs = false;               ///< a response with two scores from judges that give more than one level
  bool differ = false;                      ///< a prompt with two different scores
  bool groups = false;                      ///< a prompt with two responses that have scores
  bool shared = false;                      ///< a response with scores of two judges
  bool repeats = false;                     ///< such a response, which one of them scored twice
  std::uint32_t judges = 0;                 ///< with a score
  std::uint32_t responses = 0, scores = 0;  ///< with a score; that could be read
};
Evidence evidence_of(const ScoreTable& table);

/// Throws Failure(Exit::bad_input) where no judge can be fitted, in the words of fit_latent_scale.
void refuse_what_says_nothing(const ScoreTable& table, const Evidence& evidence);

/// Did a judge score a response twice or more?
bool scored_twice(const ScoreTable& table);

/// 0, 1, .., n - 1.
std::vector<std::uint32_t> numbers_to(std::size_t n);

/// What a choice of prompts is limited by.
enum class PromptSize { ratings, responses };

/// These prompts, or a random choice of them, always the same, that together have at most `most` ratings or responses, or is the smallest
/// prompt. Increasing.
std::vector<std::uint32_t> thinned(const ScoreTable& table, const std::vector<std::uint32_t>& prompts, PromptSize size, std::uint64_t most);

/// Of each judge's scores in these prompts (any may be given several times), the share of each level: [J][K]. Of a judge without scores
/// there: equal shares.
std::vector<double> level_shares(const ScoreTable& table, std::span<const std::uint32_t> prompts);

/// The table of these prompts alone; columns and judges stay, without their counts of blank cells.
ScoreTable take_prompts(const ScoreTable& table, std::span<const std::uint32_t> prompts);

// Leaves judges out of a table of scores.

/// The table with the ratings and columns of these judges ([judges of the table] true) alone. All responses stay, also without ratings.
ScoreTable keep_judges(ScoreTable table, const std::vector<bool>& kept);

/// The table without judges none of whose answers could be read, with a note for each; the table itself where there are none such.
ScoreTable heard_judges(ScoreTable table);

// What a fit compares: statistics of a table of scores that a judge on a latent scale must give again.

/// Statistics over prompts. Those of PromptStatistics first.
enum class Moment : int {
  median_w,       ///< median over prompts of Kendall's W
  mean_w,         ///< its mean
  flip,           ///< mean over prompts of the share of flips
  tie,            ///< of the share of ties
  constant_rows,  ///< share of responses with two scores or more whose scores are all equal
  row_sd,         ///< mean over these responses of the standard deviation (ddof 1), levels
  judge_row_sd,   ///< the same over (response, judge) where the judge scored the response twice or more
  prompt_share,   ///< variance of prompts' mean scores over variance of responses' mean scores
  // of rows, which outliers change most: the scores of a response, or, where judges of a panel scored one twice, those of one judge. Two calls
  // are far apart at two levels or more and at least 40 % of the scale
  far_pairs,     ///< share of pairs of calls in a row that are far apart
  far_lowest,    ///< of pairs that are far apart, one of them the lowest level
  far_highest,   ///< the same with the highest
  far_rows,      ///< share of rows with two scores or more that have a far pair
  far_prompts,   ///< standard deviation over prompts of that share
  row_skewness,  ///< third central moment in rows, mean over rows, over the second to the power 1.5
  difference_kurtosis,  ///< excess kurtosis of differences between two calls in a row
  // of the means of the first and of the second half of a response's scores, each score less the mean of its column; of a panel,
  // whose judges may be severe towards a prompt, in that prompt
  halves_sd,           ///< standard deviation of their difference, levels
  halves_correlation,  ///< their correlation over responses
  halves_worth,        ///< variance of a call over that of such a mean, both as half the variance of a difference: how many independent calls it is worth
};
inline constexpr int moment_count = 18;
using Moments = std::array<double, moment_count>;  ///< NaN = undefined
inline constexpr int first_row_moment = 8;

/// Levels between two calls that are far apart.
int far_levels(int levels);
/// Are rows the scores that one judge of a panel gave to a response? Where judges scored one twice; else a row is a response.
bool rows_of_judges(const ScoreTable& table);

/// What one prompt adds to each moment.
struct PromptMoments {
  double w = 0, flip = 0, tie = 0;          ///< NaN = undefined
  double rows = 0, constant = 0, sd = 0;    ///< rows with two scores or more: how many, of which constant, sum of deviations
  double judge_rows = 0, judge_row_sd = 0;  ///< (response, judge) with two scores or more: how many, sum of deviations
  double means = 0, sum = 0, squares = 0;   ///< responses with scores: how many, sum and squares of their mean scores
  double pair_rows = 0, pairs = 0;                                ///< rows of the moments of rows, pairs of calls in them
  double far = 0, far_lowest = 0, far_highest = 0, far_rows = 0;  ///< pairs far apart; rows with such a pair
  double second = 0, third = 0;                   ///< central moments of rows, summed
  double difference2 = 0, difference4 = 0;        ///< powers of differences, summed over pairs
  double all_pairs = 0, centred2 = 0;             ///< pairs of calls about a response; squares of differences, less columns' means, summed
  double a = 0, b = 0, aa = 0, bb = 0, ab = 0;    ///< means of the halves of a row, summed, and their products
};

enum class MomentSet { fitted, with_rows };  ///< moments of rows only on request: they take longer
std::vector<PromptMoments> prompt_moments(const ScoreTable& table, MomentSet set = MomentSet::fitted);

/// Over the prompts with these indices (any may be given several times).
Moments moments_of(std::span<const PromptMoments> prompts, std::span<const std::uint32_t> which);
Moments moments_of(const ScoreTable& table, MomentSet set = MomentSet::fitted);

/// How far a simulated moment may be from the table's, `observed`: .02, or .02 (K - 1) / 4 levels for deviations; of rows as
/// docs/judge.md has them.
double moment_tolerance(Moment moment, int levels, double observed = 0);

/// Standard errors of the moments by a bootstrap over prompts, 200 resamples. NaN where a resample leaves one undefined.
Moments sampling_errors(std::span<const PromptMoments> prompts, std::uint64_t seed);

}  // namespace odrpo
