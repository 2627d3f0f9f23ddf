// Computes the possible values (outcomes) of an aggregated score, their exact distribution, and thresholds for drawing from it. Also for
// votes that stop early. Has products of power series, by which these distributions are computed.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "envs/rater/rater.hpp"

namespace odrpo {

/// The possible values of a response's reward, in order. Integer scores: lowest, lowest + 1, .., K. Means of several calls: all possible
/// values, ascending. Where a response may end without a score, "no score" is the last outcome.
struct Outcomes {
  int count = 0;             ///< number of outcomes, "no score" included
  int lowest = 1;            ///< lowest score of a call; for integer scores that of the first outcome
  int missing = -1;          ///< index of the outcome "no score"; -1 = there is none
  std::vector<float> value;  ///< [count] the mean that each outcome stands for, NaN for no score; empty for integer scores
  /// Only for means where calls may be dropped; else empty. There a mean is i + a / b with a / b in the Farey sequence of order `votes`.
  /// If n calls are read and their scores sum to S, the outcome is number (S div n - lowest) per_level + rank[n (n - 1) / 2 + S mod n].
  std::vector<std::int32_t> rank;
  int per_level = 0;  ///< number of fractions a / b; 0 where `rank` is empty
};

inline constexpr double max_outcomes = 1 << 24;  ///< of one reward; raters that need more are refused

/// Number of outcomes of the reward of `votes` calls on `levels` levels. Fast. Accurate to 1 % for means of > 64 calls that may be dropped.
double count_outcomes(const RaterConfig& rater, int levels, int votes);

/// Lists the outcomes of the reward of `votes` calls. Throws Failure(Exit::limits) for more than max_outcomes.
Outcomes make_outcomes(const RaterConfig& rater, int levels, int votes);

/// Sets `call`, [outcomes of one call], to the distribution of one call: the channel's for these traits, changed by the policy for
/// unreadable answers.
void call_distribution(const RaterConfig& rater, const Channel& channel, const Traits& traits, int levels, std::span<double> call);

/// Sets `out`, [outcomes], to the distribution of the aggregate of `votes` iid calls. `call` is the distribution of one call, from
/// call_distribution(). Absolute error below 1e-12. Throws Failure(Exit::limits) like vote_distribution().
void aggregate_distribution(const RaterConfig& rater, const Outcomes& outcomes, std::span<const double> call, int votes, std::span<double> out);

/// Expected number of calls about a response: `votes`, or fewer where they end early (stop). Repeated requests do not count. `call` is the
/// distribution of one call.
double aggregate_calls(const RaterConfig& rater, std::span<const double> call, int votes);

/// Number of count vectors (how often each score was given) of a vote with nearest-mean; 0 for any other rater. Raters with more than
/// max_distribution_cases (envs/rater/vote.hpp) are refused.
double distribution_cases(const RaterConfig& rater, int levels, int votes);

/// Rough seconds that aggregate_distribution() takes on one 2.6 GHz core; at least an hour where it refuses the rater.
double aggregate_seconds(const RaterConfig& rater, int levels, int votes);

/// Packs traits into one word, the key of tables of distributions; row_traits() unpacks it. Limits: quality in 1/16 level up to 255 levels,
/// 63 judges.
std::uint64_t row_code(const Traits& traits);
Traits row_traits(std::uint64_t code);

/// Turns a distribution over outcomes 1..K into thresholds t_k = out[k - 1], k = 1..K-1. A random word x of 31 bits then draws outcome
/// 1 + #{k : x > t_k}. Further entries of `out` get the largest integer, which no x exceeds. Probabilities are rounded to 2^-31.
void make_thresholds(std::span<const double> pmf, std::span<std::int32_t> out);

// Votes that stop early: calls end when any score was given k times, after N calls at the latest. Exact distribution, expected calls.

/// Sets out[k] = P(the score is level k) for up to `votes` iid calls of a `rater` that stops early (stops_early). A call is dropped with
/// probability `dropped`; else it gives level k with probability pmf[k]. A dropped call counts as one of the `votes` calls, but has no
/// score. 1 - sum of out = P(no score was read). Absolute error below 1e-12. Throws Failure(Exit::limits) like vote_distribution().
void stop_distribution(const RaterConfig& rater, std::span<const double> pmf, double dropped, int votes, std::span<double> out);

/// Expected number of these calls; repeated requests do not count. `votes` where the rater does not stop early.
double stop_calls(const RaterConfig& rater, std::span<const double> pmf, double dropped, int votes);

/// Rough seconds that stop_distribution() and stop_calls() take together, for `levels` different scores.
double stop_seconds(const RaterConfig& rater, int levels, int votes);

}  // namespace odrpo

// Products of power series with positive coefficients, eight coefficients at a time, for the distributions of N scores.

namespace odrpo::series {

inline constexpr int block = 8;  ///< coefficients computed together, in registers

/// Power series, one per row: its coefficients. Eight zeros before and after each row let multiply() work in whole blocks of eight.
struct Rows {
  int stride;
  std::vector<double> data;
  std::vector<int> length;  ///< coefficients in use
  Rows(int rows, int most) : stride(3 * block + most), data(static_cast<std::size_t>(rows) * stride, 0.0), length(rows, 0) {}
  double* operator[](int row) { return data.data() + static_cast<std::size_t>(row) * stride + block; }
};

/// target = source * (taps[0] + ... + taps[n - 1] x^(n-1)), its first `length` coefficients; with `add`, target += that. Sums run over the
/// taps in order. `source` needs 8 zeros before and after it. `target` is written in whole blocks, then 8 zeros follow: it needs memory for
/// up to 15 more than `length`.
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

/// Appends the terms y^n / n!, n = 0..most, of the exponential series.
inline void append_exponential(double y, int most, std::vector<double>& out) {
  double term = 1;
  out.push_back(term);
  for (int n = 1; n <= most; ++n) out.push_back(term = term * y / n);
}

/// Scale factor of probabilities p_j: with y_j = lambda p_j no term overflows for up to N = 1024 scores. Then
/// P(score j was given n_j times, for all j) = scale prod_j y_j^n_j / n_j!, scale = N! / lambda^N.
inline double lambda(int votes) { return std::min(votes, 600); }
inline double scale(int votes) {
  double s = 1;
  for (int n = 1; n <= votes; ++n) s = s * n / lambda(votes);
  return s;
}

/// P(n of `trials` succeed), n = 0..trials, where each fails with probability `failure`.
inline std::vector<double> binomial(double failure, int trials) {
  std::vector<double> fails, succeeds;
  append_exponential(lambda(trials) * failure, trials, fails);
  append_exponential(lambda(trials) * (1 - failure), trials, succeeds);
  const double factor = scale(trials);
  for (int n = 0; n <= trials; ++n) succeeds[n] = succeeds[n] * fails[trials - n] * factor;
  return succeeds;
}

}  // namespace odrpo::series
