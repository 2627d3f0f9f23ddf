// Histograms of a group over K levels: how many there are, each of them in turn, and their multinomial probabilities.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

namespace odrpo {

/// C(members + levels - 1, levels - 1): the histograms of `members` over `levels`.
inline double histogram_count(int levels, int members) {
  double count = 1;
  for (int k = 1; k < levels; ++k) count = count * (members + k) / k;
  return count;
}

/// visit(counts) for every histogram of `members` over `levels`, in colexicographic order; levels >= 1, members >= 0.
template <class Visit>
void for_each_histogram(int levels, int members, Visit visit) {
  std::vector<int> counts(static_cast<std::size_t>(levels), 0);
  counts[0] = members;
  for (;;) {
    visit(std::span<const int>(counts));
    // the next one: the lowest occupied level gives one member to the level above it, and its others to level 1
    std::size_t low = 0;
    while (low + 1 < counts.size() && counts[low] == 0) ++low;
    if (low + 1 == counts.size()) return;
    const int held = counts[low];
    counts[low] = 0;
    counts[0] = held - 1;
    ++counts[low + 1];
  }
}

/// Probabilities of Multi(members, p) as a chain of binomial laws: level k takes n_k of those that no level below took, each with
/// probability p_k / (p_k + .. + p_K). Every sum has terms >= 0, so nothing cancels.
class Multinomial {
 public:
  Multinomial(std::span<const double> p, int members) : side_(static_cast<std::size_t>(members) + 1), law_(p.size() * side_ * side_, 0.0) {
    std::vector<double> from(p.size() + 1, 0.0);
    for (std::size_t k = p.size(); k-- > 0;) from[k] = from[k + 1] + p[k];
    for (std::size_t k = 0; k < p.size(); ++k) {
      const double own = from[k] > 0 ? p[k] / from[k] : 0, other = from[k] > 0 ? from[k + 1] / from[k] : 1;
      double* row = &law_[k * side_ * side_];
      row[0] = 1;
      for (std::size_t m = 1; m < side_; ++m) {  // Bin(m, own) from Bin(m - 1, own)
        const double* before = row + (m - 1) * side_;
        for (std::size_t x = 0; x <= m; ++x) row[m * side_ + x] = (x > 0 ? own * before[x - 1] : 0) + (x < m ? other * before[x] : 0);
      }
    }
  }
  double operator()(std::span<const int> counts) const {
    double probability = 1;
    std::size_t left = side_ - 1;
    for (std::size_t k = 0; k < counts.size(); ++k) {
      const auto taken = static_cast<std::size_t>(counts[k]);
      probability *= law_[(k * side_ + left) * side_ + taken];
      left -= taken;
    }
    return probability;
  }

 private:
  std::size_t side_;         ///< members + 1
  std::vector<double> law_;  ///< [levels][left][taken]
};

}  // namespace odrpo
