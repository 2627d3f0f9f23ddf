// What votes on one response become, from how many of them gave each score: one copy for the host's stage and for a device's threads.
#pragma once
#include "envs/rater/rater.hpp"
#include "kernels/portable.hpp"

namespace odrpo::vote_counts {

// count[k] of the scores k = lowest..levels; n votes in all, at least one.

/// How many votes the most frequent scores have.
template <class Counts>
ODRPO_HD int most_votes(const Counts& count, int lowest, int levels) {
  int most = 0;
  for (int k = lowest; k <= levels; ++k) {
    const int votes = count[k];
    most = votes > most ? votes : most;
  }
  return most;
}

/// The winner among the scores with `most` votes, for every rule but `first`, which looks at the order of drawing.
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
  // lowest: the first of the modes; highest: the last; median_low: the (modes + 1) / 2-th
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

/// The integer score of the votes: what the aggregates mode and median make of them. first(most) is the first score drawn that has `most` votes.
template <class Counts, class First>
ODRPO_HD int whole_score(const Counts& count, int n, int lowest, int levels, Aggregate aggregate, TieRule tie, const First& first) {
  if (aggregate == Aggregate::median) return lower_median(count, n, lowest);
  const int most = most_votes(count, lowest, levels);
  return tie == TieRule::first ? first(most) : winner(count, n, lowest, levels, most, tie);
}

}  // namespace odrpo::vote_counts
