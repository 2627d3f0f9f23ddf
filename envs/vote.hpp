// The vote of N scores of one response: the most frequent one, by a stated rule when several are; and its exact law for iid votes.
#pragma once
#include <span>

#include "envs/rater.hpp"
#include "kernels/words.hpp"

namespace odrpo {

/// Which of several equally frequent scores the vote returns: the rules that suites offer (TieRule, envs/rater.hpp) and two more.
enum class Tie { first, lowest, highest, median_low, nearest_mean };
inline constexpr Word<Tie> vote_tie_words[] = {
    {Tie::first, "first", "the first drawn of the tied modes (the same law as a uniform choice among them)"},
    {Tie::lowest, "lowest", "the lowest tied mode"},
    {Tie::highest, "highest", "the highest tied mode"},
    {Tie::median_low, "median-low", "the lower median of the tied modes"},
    {Tie::nearest_mean, "nearest-mean", "the tied mode nearest the mean of all scores; at equal distance the lower one"},
};

constexpr Tie tie_of(TieRule rule) {
  if (rule == TieRule::first) return Tie::first;
  return rule == TieRule::lowest ? Tie::lowest : Tie::highest;
}

/// The vote of scores in the order drawn; at least one, |score| <= 1e9. Integer arithmetic only.
int vote(std::span<const int> scores, Tie tie);

inline constexpr int max_law_votes = 1024;     ///< beyond it the law's terms leave the range of doubles
inline constexpr int max_law_levels = 128;     ///< levels of positive probability
inline constexpr double max_law_cases = 25e6;  ///< count vectors that an enumeration visits before it refuses

/// Law of the vote of `votes` iid scores with probabilities pmf[K] (they sum to 1): out[k] = P(vote = level k). For first, lowest,
/// highest and median_low a sum over the winner's count of products of truncated exponential series, every term positive, so that small
/// probabilities keep their relative accuracy (about 1e-13) and the same bits come out everywhere (docs/compute.md). nearest_mean
/// enumerates count vectors. Throws Failure(Exit::limits) beyond the limits above.
void vote_law(std::span<const double> pmf, int votes, Tie tie, std::span<double> out);

inline void vote_law(std::span<const double> pmf, int votes, TieRule rule, std::span<double> out) {
  vote_law(pmf, votes, tie_of(rule), out);
}

/// The definition of the law: a sum over all count vectors. Refuses like nearest_mean above.
void vote_law_by_counts(std::span<const double> pmf, int votes, Tie tie, std::span<double> out);

/// How many count vectors `levels` levels of positive probability make: C(votes + levels - 1, levels - 1).
double count_vectors(int levels, int votes);

}  // namespace odrpo
