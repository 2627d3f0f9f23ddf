// Defines the vote of N scores of one response (the most frequent one, with rules for ties) and its exact distribution for iid scores.
#pragma once
#include <cstddef>
#include <span>

#include "envs/rater/rater.hpp"

namespace odrpo {

/// The most frequent of `scores`, which are in the order drawn; `tie` chooses among several. At least one score, |score| <= 1e9. Integer
/// arithmetic only.
int vote(std::span<const int> scores, TieRule tie);

inline constexpr int max_distribution_votes = 1024;     ///< with more, the terms of vote_distribution() leave the range of doubles
inline constexpr int max_distribution_levels = 128;     ///< most levels of positive probability
inline constexpr double max_distribution_cases = 25e6;  ///< with more count vectors, nearest_mean and vote_distribution_by_counts() refuse

/// Sets out[k] = P(vote = level k) for `votes` iid scores with probabilities pmf[K], which sum to 1. For the tie rules first, lowest, highest
/// and median_low, it sums over the number of votes of the winner. Each term is a product of truncated exponential series. All terms are
/// positive, so that small probabilities keep their relative accuracy (about 1e-13). With more than most_summed_votes the absolute error is
/// below 1e-12 instead: vote_distribution_by_roots(). For nearest_mean, it sums over sets of tied levels, or over count vectors where that is
/// cheaper (docs/lab/vote-laws.md). The same bits on every machine. Throws Failure(Exit::limits) beyond the
/// three maxima above. With `most`, counts only votes without a larger count: out[k] = P(vote = level k, and no level has more than `most` votes).
void vote_distribution(std::span<const double> pmf, int votes, TieRule tie, std::span<double> out, int most = max_distribution_votes);

inline constexpr int most_summed_votes = 64;  ///< with so many votes, the sums and the roots take about the same time
/// True if vote_distribution() uses vote_distribution_by_roots().
constexpr bool by_roots(TieRule tie, int votes) { return tie != TieRule::nearest_mean && votes > most_summed_votes; }

/// vote_distribution() for any rule but nearest_mean, where each of the `votes` calls gives no score with probability `dropped`, else one with
/// probabilities pmf[K]: out[k] = P(vote = level k); 1 - sum of out is the probability that no call gave a score, or that some level has more than
/// `most` votes. Its time grows as votes, that of the sums as votes^3. Absolute error below 1e-12. The same bits on every machine.
void vote_distribution_by_roots(std::span<const double> pmf, double dropped, int votes, TieRule tie, std::span<double> out,
                                int most = max_distribution_votes);

/// Sets out[k] = P(median = level k) for `votes` iid scores (lower median of an even number). Accurate, and throws, as vote_distribution().
void median_distribution(std::span<const double> pmf, int votes, std::span<double> out);

/// Sets out[k] = P(level k) of the integer score that `rater` makes of exactly `votes` iid scores, by its aggregate (mode or median) and
/// tie rule. `most` is that of vote_distribution(), for the mode only.
void whole_distribution(const RaterConfig& rater, std::span<const double> pmf, int votes, std::span<double> out, int most = max_distribution_votes);

/// Sets out[s] = P(sum = s), s = 0..votes (K-1), for `votes` iid scores that are 0..K-1 with probabilities pmf[K].
void sum_distribution(std::span<const double> pmf, int votes, std::span<double> out);

/// The result of vote_distribution() by its definition: a sum over all count vectors (how often each level was given). Throws
/// Failure(Exit::limits) for more than max_distribution_cases of them.
void vote_distribution_by_counts(std::span<const double> pmf, int votes, TieRule tie, std::span<double> out, int most = max_distribution_votes);

/// Throws Failure(Exit::limits) if `votes` is outside 1..max_distribution_votes, or `levels` (of positive probability) above max_distribution_levels.
void check_distribution_size(std::size_t levels, int votes);

/// Estimates the seconds that vote_distribution() takes with nearest_mean; an hour or more where it refuses.
double nearest_mean_seconds(int levels, int votes);

/// Returns the number of count vectors of `votes` votes on `levels` levels of positive probability: C(votes + levels - 1, levels - 1).
double count_vectors(int levels, int votes);

}  // namespace odrpo
