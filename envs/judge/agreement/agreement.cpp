// Computes Kendall's W, row statistics and rank flips of a matrix of scores.
#include "envs/judge/agreement/agreement.hpp"

#include <algorithm>
#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/complement.hpp>
#include <cmath>
#include <numeric>

#include "kernels/math.hpp"

namespace odrpo {
namespace {

/// Adds twice the average rank of each item by one judge to doubled[item]: doubled ranks are integers. Returns the sum of t^3 - t over the
/// judge's groups of t tied items.
double add_doubled_ranks(const JudgeRow& row, std::vector<double>& doubled) {
  std::vector<std::size_t> order(row.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return row[a] < row[b]; });
  double ties = 0;
  for (std::size_t at = 0; at < order.size();) {
    std::size_t end = at;
    while (end < order.size() && row[order[end]] == row[order[at]]) ++end;
    // tied items have positions at+1 .. end; their average rank is (at + 1 + end) / 2
    for (std::size_t i = at; i < end; ++i) doubled[order[i]] += static_cast<double>(at + 1 + end);
    const double t = static_cast<double>(end - at);
    ties += t * t * t - t;
    at = end;
  }
  return ties;
}

double share(double part, double whole) { return whole > 0 ? part / whole : undefined; }

}  // namespace

KendallW kendall_w(std::span<const JudgeRow> judges) {
  const double n = static_cast<double>(judges.size()), m = static_cast<double>(judges[0].size());
  std::vector<double> sums(judges[0].size(), 0.0);  // doubled rank sums
  double ties = 0;
  for (const JudgeRow& row : judges) ties += add_doubled_ranks(row, sums);
  // without cancellation: 12 S - 3 N^2 M (M+1)^2 = 12 sum (rank sum - its mean)^2 = 3 sum (doubled rank sum - N (M+1))^2
  double spread = 0;
  for (const double s : sums) spread += (s - n * (m + 1)) * (s - n * (m + 1));
  const double most = n * (n * m * (m * m - 1) - ties);
  KendallW out;
  out.df = static_cast<int>(judges[0].size()) - 1;
  out.w = most > 0 ? 3 * spread / most : undefined;
  out.chi2 = n * (m - 1) * out.w;
  out.p = std::isnan(out.w) ? undefined : chi_square_above(out.chi2, out.df);
  return out;
}

double chi_square_above(double chi2, double df) { return boost::math::cdf(boost::math::complement(boost::math::chi_squared(df), chi2)); }

RowStats row_stats(std::span<const double> row, int ddof) {
  if (row.empty()) return {undefined, undefined, undefined, undefined};
  const double n = static_cast<double>(row.size());
  const auto [low, high] = std::minmax_element(row.begin(), row.end());
  RowStats out{row[0], n > ddof ? 0.0 : undefined, undefined, undefined};
  if (*low == *high) return out;
  // uses deviations from the first score, scaled to at most 1: a large offset or a fourth power then costs no digits
  const double scale = *high - *low;
  double mean = 0, m2 = 0, m3 = 0, m4 = 0;
  for (const double x : row) mean += (x - row[0]) / scale;
  mean /= n;
  for (const double x : row) {
    const double d = (x - row[0]) / scale - mean;
    m2 += d * d;
    m3 += d * d * d;
    m4 += d * d * d * d;
  }
  out.mean = row[0] + mean * scale;
  out.std = scale * std::sqrt(m2 / (n - ddof));
  out.skew = (m3 / n) / std::pow(m2 / n, 1.5);
  out.exkurt = (m4 / n) / (m2 / n * (m2 / n)) - 3;
  return out;
}

RankFlip rank_flip(std::span<const JudgeRow> judges) {
  const double n = static_cast<double>(judges.size());
  double item_pairs = 0, opposite = 0, decided = 0, tied = 0;
  for (std::size_t a = 0; a < judges[0].size(); ++a)
    for (std::size_t b = a + 1; b < judges[0].size(); ++b) {
      double above = 0, below = 0;  // number of judges with a above b; with a below b
      for (const JudgeRow& row : judges) above += row[a] > row[b], below += row[a] < row[b];
      const double clear = above + below;
      item_pairs += 1;
      opposite += above * below;
      decided += clear * (clear - 1) / 2;
      tied += n - clear;
    }
  return {share(opposite, item_pairs * n * (n - 1) / 2), share(opposite, decided), share(tied, item_pairs * n)};
}

}  // namespace odrpo
