// Computes the mode or median of votes from how often each score was given. CPU code and GPU threads share this implementation.
#pragma once
#include "envs/rater/rater.hpp"
#include "kernels/portable.hpp"

namespace odrpo::vote_counts {

// In this file, count[k] is the number of votes for score k = lowest..levels, and n >= 1 is the number of all votes.

/// Number of votes that the most frequent score has.
template <class Counts>
ODRPO_HD int most_votes(const Counts& count, int lowest, int levels) {
  int most = 0;
  for (int k = lowest; k <= levels; ++k) {
    const int votes = count[k];
    most = votes > most ? votes : most;
  }
  return most;
}

/// The score that the tie rule chooses among the scores with `most` votes. Not for rule `first`, which needs the order of the votes.
template <class Counts>
ODRPO_HD int winner(const Counts& count, int n, int lowest, int levels, int most, TieRule tie) {
  int winner = -1;
  if (tie == TieRule::nearest_mean) {
    int sum = 0, nearest = 0;
    for (int k = lowest; k <= levels; ++k) sum += k * static_cast<int>(count[k]);
    for (int k = lowest; k <= levels; ++k) {
      const int distance = k * n > sum ? k * n - sum : sum - k * n;  // n |k - mean|
      if (static_cast<int>(count[k]) != most || (winner >= 0 && distance >= nearest)) continue;
      winner = k;
      nearest = distance;
    }
    return winner;
  }
  int modes = 0;
  for (int k = lowest; k <= levels; ++k) modes += static_cast<int>(count[k]) == most;
  // which of the modes, ascending, wins: lowest: number 1; highest: the last; median_low: number (modes + 1) / 2
  int left = tie == TieRule::highest ? modes : tie == TieRule::median_low ? (modes + 1) / 2 : 1;
  for (int k = lowest; k <= levels && left > 0; ++k) {
    if (static_cast<int>(count[k]) != most) continue;
    winner = k;
    --left;
  }
  return winner;
}

/// The median of the votes, the lower one of an even number.
template <class Counts>
ODRPO_HD int lower_median(const Counts& count, int n, int lowest) {
  int below = 0, k = lowest;
  while ((below += static_cast<int>(count[k])) < (n + 1) / 2) ++k;
  return k;
}

/// The mode or the median of the votes, as `aggregate` says. first(most) returns the earliest vote whose score has `most` votes.
template <class Counts, class First>
ODRPO_HD int whole_score(const Counts& count, int n, int lowest, int levels, Aggregate aggregate, TieRule tie, const First& first) {
  if (aggregate == Aggregate::median) return lower_median(count, n, lowest);
  const int most = most_votes(count, lowest, levels);
  return tie == TieRule::first ? first(most) : winner(count, n, lowest, levels, most, tie);
}

}  // namespace odrpo::vote_counts
