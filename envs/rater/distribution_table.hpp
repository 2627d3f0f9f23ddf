// Computes the possible values (outcomes) of an aggregated score, their exact distribution, and thresholds for drawing an outcome.
// Does the same for votes that stop early. Multiplies power series, from whose coefficients these distributions are computed.
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
  /// Only for means where calls may be dropped; else empty. Such a mean is i + a / b: i an integer, a / b in the Farey sequence of order `votes`.
  /// If n calls are read and their scores sum to S, the outcome is number (S div n - lowest) per_level + rank[n (n - 1) / 2 + S mod n].
  std::vector<std::int32_t> rank;
  int per_level = 0;  ///< number of fractions a / b; 0 where `rank` is empty
};

inline constexpr double max_outcomes = 1 << 24;  ///< most outcomes of one reward; make_outcomes() refuses more

/// Returns the number of outcomes of the reward of `votes` calls on `levels` levels; accurate to 1 % for means of > 64 calls that may be dropped.
double count_outcomes(const RaterConfig& rater, int levels, int votes);

/// Lists the outcomes of the reward of `votes` calls. Throws Failure(Exit::limits) for more than max_outcomes.
Outcomes make_outcomes(const RaterConfig& rater, int levels, int votes);

/// Sets `call`, [outcomes of one call], to the distribution of one call's outcome: `channel` gives P(score) for these traits. The rater's
/// parse_failure and parse_policy then say how often an answer is unreadable, and what outcome that is.
void call_distribution(const RaterConfig& rater, const Channel& channel, const Traits& traits, int levels, std::span<double> call);

/// Sets `out`, [outcomes], to the distribution of the aggregate of `votes` iid calls. `call` is the distribution of one call, from
/// call_distribution(). Absolute error below 1e-12. Throws Failure(Exit::limits) like vote_distribution().
void aggregate_distribution(const RaterConfig& rater, const Outcomes& outcomes, std::span<const double> call, int votes, std::span<double> out);

/// Returns the expected number of calls about a response: `votes`, or less for a rater that stops early. Repeated requests do not count.
/// `call` is the distribution of one call.
double aggregate_calls(const RaterConfig& rater, std::span<const double> call, int votes);

/// Returns the number of count vectors (how often each score was given) of `votes` votes, for a rater whose tie rule is nearest-mean; else 0.
/// A rater with more than max_distribution_cases (envs/rater/vote.hpp) of them is refused.
double distribution_cases(const RaterConfig& rater, int levels, int votes);

/// Estimates the seconds that aggregate_distribution() takes on one 2.6 GHz core; at least an hour where it refuses the rater.
double aggregate_seconds(const RaterConfig& rater, int levels, int votes);

/// Packs traits into a 64-bit code, under which tables of distributions store the row of these traits; row_traits() unpacks it. The code has
/// room for quality in 1/16 level of up to 255 levels, and for 63 judges.
std::uint64_t row_code(const Traits& traits);
Traits row_traits(std::uint64_t code);

/// Converts a distribution over outcomes 1..K to K - 1 thresholds, out[k - 1] = t_k. A random number x of 31 bits then draws outcome
/// 1 + (number of k with x > t_k). Later elements of `out` get the largest integer, which no x exceeds. Probabilities are rounded to 2^-31.
void make_thresholds(std::span<const double> pmf, std::span<std::int32_t> out);

// Votes that stop early: calls end when any score was given RaterConfig::stop times, after N calls at the latest. Distribution, expected calls.

/// Sets out[k] = P(the score is level k) for up to `votes` iid calls of a `rater` that stops early (stops_early). A call is dropped with
/// probability `dropped`; else it gives level k with probability pmf[k]. A dropped call counts as one of the `votes` calls, but has no
/// score. 1 - sum of out = P(no score was read). Absolute error below 1e-12. Throws Failure(Exit::limits) like vote_distribution().
void stop_distribution(const RaterConfig& rater, std::span<const double> pmf, double dropped, int votes, std::span<double> out);

/// Returns the expected number of calls about a response, without repeated requests; `votes` where the rater does not stop early.
double stop_calls(const RaterConfig& rater, std::span<const double> pmf, double dropped, int votes);

/// Estimates the seconds that stop_distribution() and stop_calls() take together, for `levels` different scores.
double stop_seconds(const RaterConfig& rater, int levels, int votes);

}  // namespace odrpo

// Products of power series with positive coefficients, from which the distributions of N scores are computed, eight coefficients at a time.

namespace odrpo::series {

inline constexpr int block = 8;  ///< number of coefficients that multiply() computes together, in registers

/// Several power series: row i has the coefficients of series i. Eight zeros before and after each row let multiply() take eight at a time.
struct Rows {
  int stride;
  std::vector<double> data;
  std::vector<int> length;  ///< coefficients in use
  Rows(int rows, int most) : stride(3 * block + most), data(static_cast<std::size_t>(rows) * stride, 0.0), length(rows, 0) {}
  double* operator[](int row) { return data.data() + static_cast<std::size_t>(row) * stride + block; }
};

/// Sets `target` to the first `length` coefficients of source * (taps[0] + ... + taps[n - 1] x^(n-1)); with `add`, adds them to `target`. Sums
/// run over the taps in order. `source` needs 8 zeros before and after it. `target` is written 8 coefficients at a time, then 8 zeros follow: it
/// needs memory for up to 15 coefficients more than `length`.
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

/// lambda() scales the probabilities p_j to y_j = lambda p_j, so that for up to N = 1024 scores no term overflows; scale() undoes it:
/// P(score j was given n_j times, for all j) = scale prod_j y_j^n_j / n_j!, scale = N! / lambda^N.
inline double lambda(int votes) { return std::min(votes, 600); }
inline double scale(int votes) {
  double s = 1;
  for (int n = 1; n <= votes; ++n) s = s * n / lambda(votes);
  return s;
}

/// Returns P(n of `trials` succeed), n = 0..trials, where each trial fails with probability `failure`.
inline std::vector<double> binomial(double failure, int trials) {
  std::vector<double> fails, succeeds;
  append_exponential(lambda(trials) * failure, trials, fails);
  append_exponential(lambda(trials) * (1 - failure), trials, succeeds);
  const double factor = scale(trials);
  for (int n = 0; n <= trials; ++n) succeeds[n] = succeeds[n] * fails[trials - n] * factor;
  return succeeds;
}

}  // namespace odrpo::series
