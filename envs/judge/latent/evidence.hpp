// Finds which parameters of a judge a table of scores can determine, takes parts of tables, and defines the moments that a fit matches.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/shared/score_table.hpp"

namespace odrpo {

/// What a table contains: each flag is true if the table has the named thing at least once.
struct Evidence {
  bool pairs = false;                       ///< a response with two scores
  bool triples = false;                     ///< a response with three scores
  bool varying_pairs = false;               ///< a response with two scores from judges that give more than one level
  bool differ = false;                      ///< a prompt with two different scores
  bool groups = false;                      ///< a prompt with two responses that have scores
  bool shared = false;                      ///< a response with scores of two judges
  bool repeats = false;                     ///< a response with scores of two judges, one of whom scored it twice
  std::uint32_t judges = 0;                 ///< number of judges with a score
  std::uint32_t responses = 0, scores = 0;  ///< numbers of responses with a score; of readable scores
};
Evidence evidence_of(const ScoreTable& table);

/// Throws Failure(Exit::bad_input) if no judge can be fitted to the table, for the reasons that fit_latent_scale() lists.
void refuse_what_says_nothing(const ScoreTable& table, const Evidence& evidence);

/// True if some judge scored some response twice or more.
bool scored_twice(const ScoreTable& table);

/// Returns the list 0, 1, .., n - 1.
std::vector<std::uint32_t> numbers_to(std::size_t n);

/// The quantity of which thinned() keeps at most a given number: ratings or responses.
enum class PromptSize { ratings, responses };

/// Returns `prompts` if they have at most `most` ratings (or responses) together; else a random choice of them with at most that number. The
/// choice is always the same. If each prompt alone has more, returns the smallest one. Indices are increasing.
std::vector<std::uint32_t> thinned(const ScoreTable& table, const std::vector<std::uint32_t>& prompts, PromptSize size, std::uint64_t most);

/// Returns the share of each level among each judge's scores of these prompts (which may repeat): [J][K], rows sum to 1. A judge without scores
/// has equal shares.
std::vector<double> level_shares(const ScoreTable& table, std::span<const std::uint32_t> prompts);

/// Returns a table that has only these prompts. It keeps all columns and judges, but not the judges' counts of blank cells.
ScoreTable take_prompts(const ScoreTable& table, std::span<const std::uint32_t> prompts);

// Leaves judges out of a table of scores.

/// Returns the table with ratings and columns only of judges j for whom kept[j] is true. All responses stay, even without ratings.
ScoreTable keep_judges(ScoreTable table, const std::vector<bool>& kept);

/// Returns the table without judges of whom no answer could be read, with a note for each. If no answer of any judge could be read, all stay.
ScoreTable heard_judges(ScoreTable table);

// The moments of a fit: statistics of a table that scores of the fitted judge should reproduce (method of simulated moments).

/// The moments: statistics of a table.
enum class Moment : int {
  median_w,       ///< median over prompts of Kendall's W
  mean_w,         ///< mean over prompts of Kendall's W
  flip,           ///< mean over prompts of PromptStatistics::flip
  tie,            ///< mean over prompts of PromptStatistics::tie
  constant_rows,  ///< share of responses with two scores or more whose scores are all equal
  row_sd,         ///< mean over these responses of the standard deviation of scores (ddof 1), levels
  judge_row_sd,   ///< the same mean over (response, judge), where the judge scored the response twice or more
  prompt_share,   ///< variance of prompts' mean scores over variance of responses' mean scores
  // the following moments of rows change most with outliers. A row has all scores of a response, or, if rows_of_judges(), those of one
  // judge. Two calls are far apart if they differ by far_levels() or more: two levels, and at least 40 % of the scale
  far_pairs,     ///< share of pairs of calls in a row that are far apart
  far_lowest,    ///< share of all pairs that are far apart and have one call at the lowest level
  far_highest,   ///< share of all pairs that are far apart and have one call at the highest level
  far_rows,      ///< share of rows with two scores or more that have a pair of calls far apart
  far_prompts,   ///< standard deviation over prompts of the share far_rows
  row_skewness,  ///< (mean over rows of the third central moment) / (mean of the second)^1.5
  difference_kurtosis,  ///< excess kurtosis of differences between two calls in a row
  // the last moments compare the mean of the first half of a response's scores with that of the second half, after subtracting column
  // means. A column's mean is over the table. For a panel it is over the prompt, because judges may be severe towards a prompt
  halves_sd,           ///< standard deviation of the difference of the two means, levels
  halves_correlation,  ///< correlation of the two means over responses
  halves_worth,        ///< number of independent calls that a half is worth: mean square difference of two calls / that of two halves
};
inline constexpr int moment_count = 18;
using Moments = std::array<double, moment_count>;  ///< NaN = undefined
inline constexpr int first_row_moment = 8;  ///< the first moment of rows; all later ones are moments of rows too

/// Least difference in levels of two calls that are far apart, on a scale of `levels` levels.
int far_levels(int levels);
/// True if a row has one judge's scores of a response: for panels in which a judge scored a response twice. Else a row has all its scores.
bool rows_of_judges(const ScoreTable& table);

/// Sums over one prompt from which the moments are computed.
struct PromptMoments {
  double w = 0, flip = 0, tie = 0;          ///< PromptStatistics; NaN = undefined
  double rows = 0, constant = 0, sd = 0;    ///< responses with two scores or more: number, number of constant ones, sum of sds
  double judge_rows = 0, judge_row_sd = 0;  ///< (response, judge) with two scores or more: number, sum of sds
  double means = 0, sum = 0, squares = 0;   ///< responses with scores: number, sum and sum of squares of mean scores
  double pair_rows = 0, pairs = 0;                                ///< rows with two scores or more: number, pairs of calls in them
  double far = 0, far_lowest = 0, far_highest = 0, far_rows = 0;  ///< pairs far apart; rows with a pair far apart
  double second = 0, third = 0;                   ///< sums over rows of the second and third central moment
  double difference2 = 0, difference4 = 0;        ///< sums over pairs of the difference^2 and ^4
  double all_pairs = 0, centred2 = 0;             ///< pairs of calls about a response; their squared differences after subtracting column means
  double a = 0, b = 0, aa = 0, bb = 0, ab = 0;    ///< sums over responses: mean of first half a, of second half b, products
};

enum class MomentSet { fitted, with_rows };  ///< with_rows adds the moments of rows, which take longer
/// For each prompt, computes the sums from which moments_of() computes the moments. With MomentSet::fitted, the sums for moments of rows stay 0.
std::vector<PromptMoments> prompt_moments(const ScoreTable& table, MomentSet set = MomentSet::fitted);

/// Computes the moments from the sums of the prompts with indices `which`, which may repeat; the second form: of all prompts of a table.
Moments moments_of(std::span<const PromptMoments> prompts, std::span<const std::uint32_t> which);
Moments moments_of(const ScoreTable& table, MomentSet set = MomentSet::fitted);

/// Returns how far a simulated moment may be from the table's value, `observed`: .02; for standard deviations .02 (K - 1) / 4 levels. For moments
/// of rows see docs/judge.md.
double moment_tolerance(Moment moment, int levels, double observed = 0);

/// Estimates the standard errors of the moments by a bootstrap over prompts, 200 resamples. NaN for a moment that is undefined in some resample.
Moments sampling_errors(std::span<const PromptMoments> prompts, std::uint64_t seed);

}  // namespace odrpo
