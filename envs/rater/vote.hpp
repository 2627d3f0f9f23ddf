// The vote of N scores of one response: the most frequent one, by a stated rule when several are; and its exact distribution for iid votes.
#pragma once
#include <cstddef>
#include <span>

#include "envs/rater/rater.hpp"

namespace odrpo {

/// The vote of scores in the order drawn; at least one, |score| <= 1e9. Integer arithmetic only.
int vote(std::span<const int> scores, TieRule tie);

inline constexpr int max_distribution_votes = 1024;     ///< beyond it the distribution's terms leave the range of doubles
inline constexpr int max_distribution_levels = 128;     ///< levels of positive probability
inline constexpr double max_distribution_cases = 25e6;  ///< count vectors beyond which nearest_mean and the enumeration refuse

/// Distribution of the vote of `votes` iid scores with probabilities pmf[K] (they sum to 1): out[k] = P(vote = level k). For first, lowest,
/// highest and median_low a sum over the winner's count of products of truncated exponential series, every term positive, so that small
/// probabilities keep their relative accuracy (about 1e-13) and the same bits come out everywhere. nearest_mean sums
/// over sets of tied levels, or count vectors where that is cheaper (docs/lab/vote-laws.md). Throws Failure(Exit::limits) beyond them.
/// With `most`: out[k] = P(vote = level k, and no level has more than `most` votes).
void vote_distribution(std::span<const double> pmf, int votes, TieRule tie, std::span<double> out, int most = max_distribution_votes);

/// Distribution of the median (the lower one of an even number) of iid scores: out[k] = P(median = level k). Same accuracy and limits.
void median_distribution(std::span<const double> pmf, int votes, std::span<double> out);

/// Distribution of the integer score that `rater` makes of exactly `votes` scores, by its aggregate and tie rule; not for the mean. `most`: of the
/// mode, as in vote_distribution.
void whole_distribution(const RaterConfig& rater, std::span<const double> pmf, int votes, std::span<double> out, int most = max_distribution_votes);

/// Distribution of the sum of `votes` iid scores that are 0..K-1 with probabilities pmf[K]: out[s], s = 0..votes (K-1).
void sum_distribution(std::span<const double> pmf, int votes, std::span<double> out);

/// The definition of the distribution: a sum over all count vectors. Refuses like nearest_mean above.
void vote_distribution_by_counts(std::span<const double> pmf, int votes, TieRule tie, std::span<double> out, int most = max_distribution_votes);

/// Throws Failure(Exit::limits) for votes outside of 1..max_distribution_votes, or more than max_distribution_levels levels of positive probability.
void check_distribution_size(std::size_t levels, int votes);

/// Rough seconds of vote_distribution with nearest_mean; an hour at least where it refuses.
double nearest_mean_seconds(int levels, int votes);

/// How many count vectors `levels` levels of positive probability make: C(votes + levels - 1, levels - 1).
double count_vectors(int levels, int votes);

}  // namespace odrpo
