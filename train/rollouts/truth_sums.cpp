// Compares advantages with true rewards, and resamples prompts and truths.
#include "train/rollouts/truth_sums.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "kernels/math.hpp"
#include "results/stats/bootstrap.hpp"

namespace odrpo {

void TruthSums::add(const TruthSums& o) {
  turned += o.turned, signs += o.signs, wrong += o.wrong, pairs += o.pairs, product += o.product, advantage += o.advantage, truth += o.truth;
}

std::array<double, 3> TruthSums::ratios() const { return {turned / signs, wrong / pairs, product / math::sqrt(advantage * truth)}; }

namespace {

constexpr double least_of_group = 1e-9;   ///< of the largest difference within a group: smaller ones are none
constexpr double least_of_size = 1e-12;   ///< of the largest number of a group: what rounding of sums and means may leave
constexpr std::size_t few_numbers = 32;   ///< pairs of as many are counted one by one, which is faster

double largest_size(std::span<const double> x) {
  double largest = 0;
  for (const double v : x) largest = std::max(largest, math::abs(v));
  return largest;
}

/// x - mean x, where differences that are none become 0.
void centre(std::span<const double> x, double least, std::vector<double>& out) {
  double mean = 0;
  for (const double v : x) mean += (v - x[0]) / static_cast<double>(x.size());
  out.clear();
  for (const double v : x) out.push_back(v - x[0] - mean);
  for (double& t : out) t = math::abs(t) > least ? t : 0;
}

/// The number of the class of each x, in increasing order: neighbours in order that differ by more than `least` are in different classes.
std::vector<std::uint32_t> classes_of(std::span<const double> x, double least) {
  std::vector<std::uint32_t> order(x.size()), out(x.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](auto i, auto j) { return x[i] < x[j]; });
  for (std::size_t i = 1; i < order.size(); ++i) out[order[i]] = out[order[i - 1]] + (x[order[i]] - x[order[i - 1]] > least);
  return out;
}

}  // namespace

double least_difference(std::span<const double> x) {
  if (x.empty()) return 0;
  const auto [least, most] = std::minmax_element(x.begin(), x.end());
  return std::max(least_of_group * (*most - *least), least_of_size * largest_size(x));
}

PairSums pairs_one_by_one(std::span<const double> a, std::span<const double> q) {
  const double least_a = least_difference(a), least_q = least_difference(q);
  const auto sign = [](double x, double least) { return x > least ? 1 : x < -least ? -1 : 0; };
  PairSums s;
  for (std::size_t i = 0; i < q.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      const int order = sign(q[i] - q[j], least_q), of_a = sign(a[i] - a[j], least_a);
      s.pairs += order != 0;
      s.wrong += order == 0 ? 0 : of_a == 0 ? 0.5 : of_a != order;
    }
  return s;
}

PairSums pairs_by_sorting(std::span<const double> a, std::span<const double> q) {
  const std::vector<std::uint32_t> of_a = classes_of(a, least_difference(a)), of_q = classes_of(q, least_difference(q));
  std::vector<std::uint32_t> order(q.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](auto i, auto j) { return of_q[i] < of_q[j]; });
  // below[k]: sums of a Fenwick tree over the classes of A, of the numbers with a smaller q
  std::vector<std::uint32_t> below(q.size() + 1, 0);
  const auto up_to = [&](std::uint32_t a_class) {  // how many have this class of A or a lower one
    std::uint32_t count = 0;
    for (std::size_t k = a_class; k > 0; k &= k - 1) count += below[k];
    return count;
  };
  PairSums s;
  for (std::size_t begin = 0, end; begin < order.size(); begin = end) {
    for (end = begin; end < order.size() && of_q[order[end]] == of_q[order[begin]];) ++end;
    for (std::size_t i = begin; i < end; ++i) {
      const std::uint32_t lower = up_to(of_a[order[i]]), lower_or_equal = up_to(of_a[order[i]] + 1);
      s.pairs += static_cast<double>(begin);
      s.wrong += static_cast<double>(begin - lower_or_equal) + 0.5 * static_cast<double>(lower_or_equal - lower);
    }
    for (std::size_t i = begin; i < end; ++i)
      for (std::size_t k = of_a[order[i]] + 1; k < below.size(); k += k & (~k + 1)) ++below[k];
  }
  return s;
}

TruthSums compared(std::span<const double> a, std::span<const double> q) {
  const std::size_t n = a.size();
  TruthSums s;
  if (n == 0) return s;
  std::vector<double> truth;
  centre(q, least_difference(q), truth);
  const double least_a = least_of_group * largest_size(a);
  for (std::size_t i = 0; i < n; ++i) {
    const bool both = truth[i] != 0 && math::abs(a[i]) > least_a;
    s.signs += both;
    s.turned += both && (a[i] > 0) != (truth[i] > 0);
    s.product += a[i] * truth[i];
    s.advantage += a[i] * a[i];
    s.truth += truth[i] * truth[i];
  }
  const PairSums pairs = n <= few_numbers ? pairs_one_by_one(a, q) : pairs_by_sorting(a, q);
  s.wrong = pairs.wrong, s.pairs = pairs.pairs;
  return s;
}

JudgedAdvantages DrawnSums::numbers(int resamples, std::uint64_t seed) const {
  std::array<std::vector<double>, 3> resampled;
  const std::uint32_t sizes[] = {static_cast<std::uint32_t>(units_)};
  Picks picks;
  for (int r = 0; r < resamples; ++r) {
    draw_picks(sizes, seed, static_cast<std::uint32_t>(r), picks);
    TruthSums all;
    for (const std::uint32_t unit : picks[0]) all.add(sums_[unit * draws_ + static_cast<std::size_t>(r) % draws_]);
    const auto ratios = all.ratios();
    for (std::size_t i = 0; i < ratios.size(); ++i) resampled[i].push_back(ratios[i]);
  }
  TruthSums all;
  for (const TruthSums& s : sums_) all.add(s);
  const auto values = all.ratios();
  JudgedAdvantages out;
  JudgedNumber* const numbers[] = {&out.sign, &out.pairs, &out.cosine};
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::vector<double>& list = resampled[i];
    if (std::any_of(list.begin(), list.end(), [](double x) { return x != x; })) list.clear();
    std::sort(list.begin(), list.end());
    const Interval interval = percentile_interval({values[i], std::move(list), std::numeric_limits<double>::quiet_NaN()});
    *numbers[i] = {values[i], interval.lo, interval.hi};
  }
  return out;
}

}  // namespace odrpo
