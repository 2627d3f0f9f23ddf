// Computes exact distributions for N iid scores: the median, the sum, the integer score of any aggregate, and a vote that stops early.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "envs/rater/distribution_table.hpp"
#include "envs/rater/vote.hpp"
#include "kernels/shared/failure.hpp"

namespace odrpo {
namespace {

/// Probabilities of the consecutive values first, first + 1, …. Has 8 zeros before and after them, which series::multiply needs.
struct Support {
  static constexpr double negligible = 1e-60;  // far below what 12 digits of a probability can show
  int first = 0, length = 0;
  std::vector<double> data;
  double* begin() { return data.data() + series::block; }
  const double* begin() const { return data.data() + series::block; }

  explicit Support(int most) : length(most), data(static_cast<std::size_t>(most) + 3 * series::block, 0.0) {}
  /// A copy without the probabilities below `negligible` at both ends.
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
  // level k is the median if a < place scores lie below it and b >= place - a equal it, place = (N + 1) / 2; every term is positive
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
      out[k] = 1;  // a score that is certain gets exactly 1
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
  // repeated squaring: the distribution of the sum of 2n scores is that of n scores convolved with itself
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

// Computes the distribution of a vote that ends when some score was given k times.
//
// Dropped calls only make the number of readable calls random: R ~ Bin(N, 1 - dropped). Score j wins at readable call n <= R if call n
// gives j for the k-th time, and the n - 1 calls before it gave any other score fewer than k times.
//   P(j wins at n) = C(n-1, k-1) p_j^k (n-k)! [x^(n-k)] prod_{i != j} sum_{c<k} (p_i x)^c / c!      if R >= n
// If there is no winner after R calls, the result is the mode of these R scores.
//   E[calls] = sum_{c<N} P(no winner after c calls) = 1 / (1 - dropped) sum_n P(no winner in n readable calls) P(R > n)
// All terms are positive, and scaled by lambda as in vote_distribution.cpp.

namespace {

using series::multiply, series::Rows;

/// Terms (lambda p)^c / c!, c = 0..k, of the levels with positive probability p.
struct StopTerms {
  int stop = 0, levels = 0;
  double lambda = 1;
  std::vector<int> level;  // index in the pmf
  std::vector<double> of_level;
  const double* term(int i) const { return of_level.data() + static_cast<std::size_t>(i) * (stop + 1); }
  /// Returns the largest number of readable calls after which there may still be no winner.
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

/// rows[to] = rows[from] times the series sum_{c<k} (lambda p x)^c / c! of a level, up to x^degree.
void grow(const StopTerms& t, Rows& rows, int from, int to, int level, int degree) {
  rows.length[to] = std::min(degree + 1, rows.length[from] + t.stop - 1);
  multiply<false>(rows[from], rows.length[from], t.term(level), t.stop, rows[to], rows.length[to]);
}

/// Converts P(R = n) to P(R >= n), n = 0..N.
std::vector<double> tail_of(std::vector<double> read) {
  for (std::size_t n = read.size() - 1; n > 0; --n) read[n - 1] += read[n];
  return read;
}

/// out[j] += P(score j wins). at_least[n] is P(R >= n), the probability of n or more readable calls.
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
  constexpr double negligible = 1e-17;  // less likely numbers of readable calls are left out; 1024 of them change a result by 1e-14
  const StopTerms t = make_terms(pmf, rater.stop, votes);
  const std::vector<double> read = readable_calls(dropped, votes);
  std::fill(out.begin(), out.end(), 0.0);
  if (t.levels == 1) out[t.level[0]] = 1 - read[0];  // a score that is certain gets exactly P(any call is read)
  if (t.levels < 2) return;
  add_winners(t, tail_of(read), out);
  std::vector<double> open(pmf.size());
  const int most_open = std::min(votes, t.most_open());
  if (std::none_of(read.begin() + 1, read.begin() + 1 + most_open, [](double p) { return p >= negligible; })) return;
  if (by_roots(rater.tie, votes)) {
    vote_distribution_by_roots(pmf, dropped, votes, rater.tie, open, rater.stop - 1);
    for (std::size_t k = 0; k < open.size(); ++k) out[k] += open[k];
    return;
  }
  for (int n = 1; n <= most_open; ++n) {
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
