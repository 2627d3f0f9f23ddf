// Outcomes of an aggregated score and their exact distribution: what a row of a rater's table says, before it becomes thresholds; the distribution of a vote that
// stops early; products of power series.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "envs/rater/rater.hpp"

namespace odrpo {

/// The outcomes of a row, in order. Integer scores: lowest, lowest + 1, .., K; the mean of several calls: all fractions that it can be, in
/// ascending order. An outcome "no score" comes last.
struct Outcomes {
  int count = 0;             ///< outcomes, "no score" included
  int lowest = 1;            ///< score of the first outcome (integer scores), lowest value (means)
  int missing = -1;          ///< outcome that means no score; -1 = none
  std::vector<float> value;  ///< [count] of a mean, NaN for no score; empty for integer scores
  /// Where calls may be left out (drop), means are i + a / b with a / b of the Farey sequence of order `votes`: outcome of S / n =
  /// (S div n - lowest) per_level + rank[n (n - 1) / 2 + S mod n]. Empty otherwise.
  std::vector<std::int32_t> rank;
  int per_level = 0;
};

inline constexpr double max_outcomes = 1 << 24;  ///< of one row; more are refused

/// How many outcomes a row of `votes` calls on `levels` levels has (within 1 % where calls may be left out and votes > 64). At once.
double count_outcomes(const RaterConfig& rater, int levels, int votes);

/// The outcomes themselves. Throws Failure(Exit::limits) for more than max_outcomes.
Outcomes make_outcomes(const RaterConfig& rater, int levels, int votes);

/// Distribution of one call: a row of the rater's channel, then unreadable answers by its policy. `call` has an entry for each outcome of one vote.
void call_distribution(const RaterConfig& rater, const Channel& channel, const Traits& traits, int levels, std::span<double> call);

/// Distribution of the aggregate of `votes` iid calls: out[outcome], from call_distribution's row of one. Absolute error below 1e-12. Throws
/// Failure(Exit::limits) like vote_distribution.
void aggregate_distribution(const RaterConfig& rater, const Outcomes& outcomes, std::span<const double> call, int votes, std::span<double> out);

/// Expected calls about a response where N = `votes` iid calls may end early (stop), repeated answers apart; else N. `call` as above.
double aggregate_calls(const RaterConfig& rater, std::span<const double> call, int votes);

/// Count vectors that aggregate_distribution sums over; more than max_distribution_cases (envs/rater/vote.hpp) are refused. 0 where it needs none.
double distribution_cases(const RaterConfig& rater, int levels, int votes);

/// Rough seconds of aggregate_distribution; where it refuses, an hour at least. Measured on one 2.6 GHz core.
double aggregate_seconds(const RaterConfig& rater, int levels, int votes);

/// The code of a distribution row: all traits in one word. Quality is in 1/16 level and up to 255 levels, of judges the first 63.
std::uint64_t row_code(const Traits& traits);
Traits row_traits(std::uint64_t code);

/// Thresholds of a distribution over outcomes 1..K: a word x of 31 bits gives 1 + #{k : x > t_k}, k = 1..K-1. `out` has K-1 entries or
/// more; the rest is filled with the largest integer, which no x exceeds. Probabilities are rounded to 2^-31.
void make_thresholds(std::span<const double> pmf, std::span<std::int32_t> out);

// Calls that are made one after the other until some score was given k times, at most N: the exact distribution of the score, and expected calls.

/// Distribution of the score that `rater`, which stops early (stops_early), makes of up to `votes` iid calls: out[k] = P(level k). A call is dropped
/// with probability `dropped` and says otherwise level k with pmf[k]; a dropped call counts towards N only, and the probabilities that are
/// left are that no score was read. Absolute error below 1e-12. Throws Failure(Exit::limits) like vote_distribution.
void stop_distribution(const RaterConfig& rater, std::span<const double> pmf, double dropped, int votes, std::span<double> out);

/// Expected number of such calls, repeated answers apart: `votes` where the rater does not stop early.
double stop_calls(const RaterConfig& rater, std::span<const double> pmf, double dropped, int votes);

/// Rough seconds of both, of `levels` scores.
double stop_seconds(const RaterConfig& rater, int levels, int votes);

}  // namespace odrpo

// Products of power series with positive coefficients, eight coefficients at a time: the arithmetic of the distributions of N scores.

namespace odrpo::series {

inline constexpr int block = 8;  ///< coefficients computed together, in registers

/// Series, one per row; 8 zeros before each row and 8 after it let products run in whole blocks.
struct Rows {
  int stride;
  std::vector<double> data;
  std::vector<int> length;  ///< coefficients in use
  Rows(int rows, int most) : stride(3 * block + most), data(static_cast<std::size_t>(rows) * stride, 0.0), length(rows, 0) {}
  double* operator[](int row) { return data.data() + static_cast<std::size_t>(row) * stride + block; }
};

/// target (+)= source * (taps[0] + ... + taps[n - 1] x^(n-1)), the first `length` coefficients; sums run over the taps in order. `source`
/// has zeros in the 8 places before it and after it; so has `target` then, and room for 8 more than `length`.
template <bool add>
void multiply(const double* source, int source_length, const double* taps, int n, double* target, int length) {
  int at = 0;
  for (; at < length; at += block) {
    double sum[block];
    for (int v = 0; v < block; ++v) sum[v] = add ? target[at + v] : 0.0;
    const int last = std::min(n - 1, at + block - 1);
    for (int i = std::max(0, at - source_length + 1); i <= last; ++i)
      for (int v = 0; v < block; ++v) sum[v] += taps[i] * source[at - i + v];
    for (int v = 0; v < block; ++v) target[at + v] = sum[v];
  }
  for (int v = 0; v < block; ++v) target[at + v] = 0;
}

/// Appends y^n / n!, n = 0..most.
inline void append_exponential(double y, int most, std::vector<double>& out) {
  double term = 1;
  out.push_back(term);
  for (int n = 1; n <= most; ++n) out.push_back(term = term * y / n);
}

/// y = lambda p keeps the terms of up to 1024 scores in range; the probability of counts n_j is scale N! / lambda^N times prod y_j^n_j / n_j!.
inline double lambda(int votes) { return std::min(votes, 600); }
inline double scale(int votes) {
  double s = 1;
  for (int n = 1; n <= votes; ++n) s = s * n / lambda(votes);
  return s;
}

/// Probability that n of `trials` succeed where each fails with probability `failure`, n = 0..trials.
inline std::vector<double> binomial(double failure, int trials) {
  std::vector<double> fails, succeeds;
  append_exponential(lambda(trials) * failure, trials, fails);
  append_exponential(lambda(trials) * (1 - failure), trials, succeeds);
  const double factor = scale(trials);
  for (int n = 0; n <= trials; ++n) succeeds[n] = succeeds[n] * fails[trials - n] * factor;
  return succeeds;
}

}  // namespace odrpo::series
