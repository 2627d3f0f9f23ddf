// Products of power series with positive coefficients, eight coefficients at a time: the arithmetic of the laws of N scores.
#pragma once
#include <algorithm>
#include <cstddef>
#include <vector>

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

/// y = lambda p keeps the terms of up to 1024 scores in range; the chance of counts n_j is scale N! / lambda^N times prod y_j^n_j / n_j!.
inline double lambda(int votes) { return std::min(votes, 600); }
inline double scale(int votes) {
  double s = 1;
  for (int n = 1; n <= votes; ++n) s = s * n / lambda(votes);
  return s;
}

/// Chance that n of `trials` succeed where each fails with probability `failure`, n = 0..trials.
inline std::vector<double> binomial(double failure, int trials) {
  std::vector<double> fails, succeeds;
  append_exponential(lambda(trials) * failure, trials, fails);
  append_exponential(lambda(trials) * (1 - failure), trials, succeeds);
  const double factor = scale(trials);
  for (int n = 0; n <= trials; ++n) succeeds[n] = succeeds[n] * fails[trials - n] * factor;
  return succeeds;
}

}  // namespace odrpo::series
