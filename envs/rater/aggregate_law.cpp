// The exact laws of what N iid scores become: their whole score by any aggregate, their median, their sum.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "envs/rater/series.hpp"
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

void median_law(std::span<const double> pmf, int votes, std::span<double> out) {
  // k is the place-th smallest of N: a < place scores lie below it and b >= place - a are equal to it, every term positive
  int levels = 0;
  for (const double p : pmf) levels += p > 0;
  check_law_size(static_cast<std::size_t>(levels), votes);
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

void sum_law(std::span<const double> pmf, int votes, std::span<double> out) {
  // by squaring: the law of 2n scores is that of n scores convolved with itself
  check_law_size(0, votes);
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

void whole_law(const RaterConfig& rater, std::span<const double> pmf, int votes, std::span<double> out, int most) {
  if (rater.aggregate == Aggregate::median) return median_law(pmf, votes, out);
  if (rater.tie == TieRule::nearest_mean) {
    const auto live = std::count_if(pmf.begin(), pmf.end(), [](double p) { return p > 0; });
    if (count_vectors(static_cast<int>(live), votes) > max_law_cases)
      throw Failure(Exit::limits, "the law of a vote with tie = \"nearest-mean\" is a sum over more than 25 million cases for " +
                                      std::to_string(votes) + " votes on " + std::to_string(live) +
                                      " levels; use sampling = \"draws\" for this rater");
  }
  vote_law(pmf, votes, rater.tie, out, most);
}

}  // namespace odrpo
