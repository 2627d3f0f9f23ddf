// The exact distributions of what N iid scores become: their integer score by any aggregate, their median, their sum; and of a vote that stops early.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "envs/rater/distribution_table.hpp"
#include "envs/rater/vote.hpp"
#include "kernels/shared/failure.hpp"

namespace odrpo {
namespace {

/// Probabilities of consecutive values, those below `negligible` cut off at both ends; 8 zeros before and after for series::multiply.
struct Support {
  static constexpr double negligible = 1e-60;  // far below what 12 digits of a probability can show
  int first = 0, length = 0;
  std::vector<double> data;
  double* begin() { return data.data() + series::block; }
  const double* begin() const { return data.data() + series::block; }

  explicit Support(int most) : length(most), data(static_cast<std::size_t>(most) + 3 * series::block, 0.0) {}
  /// Leaves out the ends.
  Support trimmed() const {
    int low = 0, high = length;
    while (low < high && begin()[low] < negligible) ++low;
    while (high > low && begin()[high - 1] < negligible) --high;
    Support cut(high - low);
    cut.first = first + low;
    std::copy(begin() + low, begin() + high, cut.begin());
    return cut;
  }
};

Support sum_of(const Support& a, const Support& b) {
  Support sum(a.length + b.length - 1);
  sum.first = a.first + b.first;
  series::multiply<false>(a.begin(), a.length, b.begin(), b.length, sum.begin(), sum.length);
  return sum.trimmed();
}

}  // namespace

void median_distribution(std::span<const double> pmf, int votes, std::span<double> out) {
  // k is the place-th smallest of N: a < place scores lie below it and b >= place - a are equal to it, every term positive
  int levels = 0;
  for (const double p : pmf) levels += p > 0;
  check_distribution_size(static_cast<std::size_t>(levels), votes);
  const int place = (votes + 1) / 2;
  const double lambda = series::lambda(votes), scale = series::scale(votes);
  std::vector<double> below, here, above;
  for (std::size_t k = 0; k < pmf.size(); ++k) {
    out[k] = 0;
    if (!(pmf[k] > 0)) continue;
    if (levels == 1) {
      out[k] = 1;  // a certain score is exactly certain
      continue;
    }
    double less = 0, more = 0;
    for (std::size_t j = 0; j < k; ++j) less += pmf[j];
    for (std::size_t j = k + 1; j < pmf.size(); ++j) more += pmf[j];
    below.clear(), here.clear(), above.clear();
    series::append_exponential(lambda * less, votes, below);
    series::append_exponential(lambda * pmf[k], votes, here);
    series::append_exponential(lambda * more, votes, above);
    double sum = 0;
    for (int a = 0; a < place && below[a] > 0; ++a) {
      double inner[4] = {};
      int b = place - a;
      const int last = votes - a;
      for (; b + 3 <= last; b += 4)
        for (int v = 0; v < 4; ++v) inner[v] += here[b + v] * above[last - b - v];
      for (; b <= last; ++b) inner[0] += here[b] * above[last - b];
      sum += below[a] * ((inner[0] + inner[2]) + (inner[1] + inner[3]));
    }
    out[k] = sum * scale;
  }
}

void sum_distribution(std::span<const double> pmf, int votes, std::span<double> out) {
  // by squaring: the distribution of 2n scores is that of n scores convolved with itself
  check_distribution_size(0, votes);
  std::fill(out.begin(), out.end(), 0.0);
  Support one(static_cast<int>(pmf.size()));
  std::copy(pmf.begin(), pmf.end(), one.begin());
  Support power = one.trimmed(), sum(1);
  if (power.length == 0) return;
  sum.begin()[0] = 1;
  for (int left = votes;; power = sum_of(power, power)) {
    if (left % 2 == 1) sum = sum_of(power, sum);
    left /= 2;
    if (left == 0) break;
  }
  std::copy_n(sum.begin(), sum.length, out.begin() + sum.first);
}

void whole_distribution(const RaterConfig& rater, std::span<const double> pmf, int votes, std::span<double> out, int most) {
  if (rater.aggregate == Aggregate::median) return median_distribution(pmf, votes, out);
  if (rater.aggregate != Aggregate::mode && votes > 1) throw Failure(Exit::internal, "the distribution of another aggregate was asked for");
  if (rater.tie == TieRule::nearest_mean) {
    const auto live = std::count_if(pmf.begin(), pmf.end(), [](double p) { return p > 0; });
    if (count_vectors(static_cast<int>(live), votes) > max_distribution_cases)
      throw Failure(Exit::limits, "the law of a vote with tie = \"nearest-mean\" is a sum over more than 25 million cases for " +
                                      std::to_string(votes) + " votes on " + std::to_string(live) +
                                      " levels; use sampling = \"draws\" for this rater");
  }
  vote_distribution(pmf, votes, rater.tie, out, most);
}

// The distribution of a vote that ends with the k-th equal score.
//
// A dropped call changes nothing but the number of readable calls that N calls hold, R ~ Bin(N, 1 - dropped). In the sequence of readable
// calls score j wins at call n when it has k - 1 of the n - 1 before, every other score fewer than k, and call n says j:
//   P(j wins at n) = C(n-1, k-1) p_j^k (n-k)! [x^(n-k)] prod_{i != j} sum_{c<k} (p_i x)^c / c!      if R >= n
// After R calls without a winner all counts are below k, and the mode of these R scores is the score.
//   E[calls] = sum_{c<N} P(no winner after c calls) = 1 / (1 - dropped) sum_n P(no winner in n readable calls) P(R > n)
// All terms are positive, and scaled by lambda as in vote_distribution.cpp.

namespace {

using series::multiply, series::Rows;

/// The live levels' terms (lambda p)^c / c!, c = 0..k.
struct StopTerms {
  int stop = 0, levels = 0;
  double lambda = 1;
  std::vector<int> level;  // place in the pmf
  std::vector<double> of_level;
  const double* term(int i) const { return of_level.data() + static_cast<std::size_t>(i) * (stop + 1); }
  /// Most readable calls without a winner.
  int most_open() const { return levels * (stop - 1); }
};

StopTerms make_terms(std::span<const double> pmf, int stop, int votes) {
  StopTerms t;
  t.stop = stop;
  t.lambda = series::lambda(votes);
  for (std::size_t k = 0; k < pmf.size(); ++k) {
    if (!(pmf[k] > 0)) continue;
    t.level.push_back(static_cast<int>(k));
    series::append_exponential(t.lambda * pmf[k], stop, t.of_level);
  }
  t.levels = static_cast<int>(t.level.size());
  check_distribution_size(t.level.size(), votes);
  return t;
}

/// rows[to] = rows[from] times sum_{c<k} of a level, up to x^degree.
void grow(const StopTerms& t, Rows& rows, int from, int to, int level, int degree) {
  rows.length[to] = std::min(degree + 1, rows.length[from] + t.stop - 1);
  multiply<false>(rows[from], rows.length[from], t.term(level), t.stop, rows[to], rows.length[to]);
}

/// P(R >= n) from P(R = n), n = 0..N.
std::vector<double> tail_of(std::vector<double> read) {
  for (std::size_t n = read.size() - 1; n > 0; --n) read[n - 1] += read[n];
  return read;
}

/// out[j] += the probability that j wins, with n readable calls or more of probability at_least[n].
void add_winners(const StopTerms& t, std::span<const double> at_least, std::span<double> out) {
  const int last = std::min(static_cast<int>(at_least.size()) - 1, t.most_open() + 1), degree = last - t.stop;
  Rows before(t.levels + 1, degree + 1), behind(t.levels + 1, degree + 1), others(1, degree + 1);
  before[0][0] = behind[t.levels][0] = 1;
  before.length[0] = behind.length[t.levels] = 1;
  for (int j = 0; j + 1 < t.levels; ++j) grow(t, before, j, j + 1, j, degree);
  for (int j = t.levels - 1; j > 0; --j) grow(t, behind, j + 1, j, j, degree);
  for (int j = 0; j < t.levels; ++j) {
    const int length = std::min(degree + 1, before.length[j] + behind.length[j + 1] - 1);
    multiply<false>(before[j], before.length[j], behind[j + 1], behind.length[j + 1], others[0], length);
    double factorial = 1, sum = 0;  // n! / lambda^n
    for (int n = 1; n - t.stop < length; ++n) {
      factorial = factorial * n / t.lambda;
      if (n >= t.stop) sum += factorial * t.stop / n * others[0][n - t.stop] * at_least[n];
    }
    out[t.level[j]] += sum * t.term(j)[t.stop];
  }
}

std::vector<double> readable_calls(double dropped, int votes) {
  if (dropped > 0) return series::binomial(dropped, votes);
  std::vector<double> all(static_cast<std::size_t>(votes) + 1, 0.0);
  all.back() = 1;
  return all;
}

}  // namespace

void stop_distribution(const RaterConfig& rater, std::span<const double> pmf, double dropped, int votes, std::span<double> out) {
  constexpr double negligible = 1e-17;  // a number of read calls less likely than this is left out: 1024 of them make 1e-14
  const StopTerms t = make_terms(pmf, rater.stop, votes);
  const std::vector<double> read = readable_calls(dropped, votes);
  std::fill(out.begin(), out.end(), 0.0);
  if (t.levels == 1) out[t.level[0]] = 1 - read[0];  // a certain score is exactly certain
  if (t.levels < 2) return;
  add_winners(t, tail_of(read), out);
  std::vector<double> open(pmf.size());
  for (int n = 1; n <= std::min(votes, t.most_open()); ++n) {
    if (read[n] < negligible) continue;
    whole_distribution(rater, pmf, n, open, rater.stop - 1);
    for (std::size_t k = 0; k < open.size(); ++k) out[k] += read[n] * open[k];
  }
}

double stop_calls(const RaterConfig& rater, std::span<const double> pmf, double dropped, int votes) {
  if (!stops_early(rater, votes) || dropped == 1) return votes;
  const StopTerms t = make_terms(pmf, rater.stop, votes);
  const std::vector<double> at_least = tail_of(readable_calls(dropped, votes));
  const int degree = std::min(votes - 1, t.most_open());
  Rows open(t.levels + 1, degree + 1);
  open[0][0] = 1;
  open.length[0] = 1;
  for (int j = 0; j < t.levels; ++j) grow(t, open, j, j + 1, j, degree);
  double factorial = 1, sum = 0;  // n! / lambda^n
  for (int n = 0; n < open.length[t.levels]; ++n) {
    if (n > 0) factorial = factorial * n / t.lambda;
    sum += factorial * open[t.levels][n] * at_least[n + 1];
  }
  return std::min(sum / (1 - dropped), static_cast<double>(votes));
}

double stop_seconds(const RaterConfig& rater, int levels, int votes) {
  const double open = std::min(votes, levels * (rater.stop - 1)), taps = std::min<double>(rater.stop, open);
  return 2e-6 + 3e-10 * levels * open * (open / 2 + 3 * taps);
}

}  // namespace odrpo
