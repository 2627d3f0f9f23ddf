// Describes a setting of the exact theory: an estimator, the values of the levels and the size of a group. Computes advantages by the
// definition, the effect of one corrupted score, and the histograms of a group.
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "estimators/estimator.hpp"

namespace odrpo {

/// A group of `members` whose scores are levels 1..K with the values R_1 < .. < R_K, as in the estimators' key `values`. Forms of rewards
/// get the values as rewards; forms of levels sum Delta_k = R_k - R_(k-1) times what level k adds.
struct TheorySetting {
  EstimatorConfig estimator;   ///< its own `values` are ignored
  std::vector<double> values;  ///< R_1..R_K. Forms without use for values need them too: their number is K
  int members = 8;
  int levels() const { return static_cast<int>(values.size()); }
};

inline constexpr int most_theory_levels = 1000, most_theory_members = 1000;

/// The default values of `levels` levels: 1, 2, …, K.
std::vector<double> plain_values(int levels);

/// The reason why the theory does not apply to a setting; nullopt if it does. Excluded are posterior estimators and the running median,
/// which are no functions of the group's scores alone; forms that the convention lacks; values that do not ascend; sizes outside 2..1000.
std::optional<std::string> theory_refusal(const TheorySetting& setting);

/// Advantages by the definition (advantages() of estimators/definition.hpp): element k is that of a member at level k, in a group with
/// these counts by level; 0 at levels without a member.
std::vector<double> group_advantages(const TheorySetting& setting, std::span<const int> counts);

/// Delta_k = R_k - R_(k-1); Delta_1 = 0, because every group reaches level 1.
std::vector<double> level_gaps(std::span<const double> values);

// The effect of one corrupted score on the advantages of its group.

/// The advantages of a group before and after one member's score is corrupted. `rms`: root mean square over all members. `spread`: root of
/// the clean members' summed squared deviations from their own mean, the contrast that is left among them.
struct Leverage {
  double share = 0;  ///< the corrupted member's share of the sum of A^2, after; NaN if all advantages are 0
  double rms_before = 0, rms_after = 0;
  double spread_before = 0, spread_after = 0;
};

/// Computes the Leverage when the level of `member` becomes `outlier`; levels[i] = level of member i, 1..K. Uses the definition.
Leverage leverage_of(const TheorySetting& setting, std::span<const int> levels, std::size_t member, int outlier);

// Histograms of a group over K levels: their number, a visit of each one, and their multinomial probabilities.

/// C(members + levels - 1, levels - 1): how many histograms of `members` over `levels` there are.
inline double histogram_count(int levels, int members) {
  double count = 1;
  for (int k = 1; k < levels; ++k) count = count * (members + k) / k;
  return count;
}

/// Calls visit(counts) for every histogram of `members` over `levels`, in colexicographic order; levels >= 1, members >= 0.
template <class Visit>
void for_each_histogram(int levels, int members, Visit visit) {
  std::vector<int> counts(static_cast<std::size_t>(levels), 0);
  counts[0] = members;
  for (;;) {
    visit(std::span<const int>(counts));
    // the next histogram: the lowest occupied level gives one member to the level above it, and the rest to level 1
    std::size_t low = 0;
    while (low + 1 < counts.size() && counts[low] == 0) ++low;
    if (low + 1 == counts.size()) return;
    const int held = counts[low];
    counts[low] = 0;
    counts[0] = held - 1;
    ++counts[low + 1];
  }
}

/// Numbers all pairs of a histogram and a level that occurs in it, the entries of arrays that have a number for each pair (maps).
/// Histograms are in the order of for_each_histogram(), levels ascending.
class HistogramIndex {
 public:
  HistogramIndex(int levels, int members) : levels_(levels), members_(members), side_(static_cast<std::size_t>(members) + 2) {
    before_.resize(static_cast<std::size_t>(levels) * side_ * side_);
    for (int k = 1; k < levels; ++k)
      for (int left = 0; left <= members; ++left)
        for (int n = 0; n < left; ++n)
          before_[at(k, left, n + 1)] = before_[at(k, left, n)] + static_cast<std::size_t>(histogram_count(k, left - n) + 0.5);
    first_.push_back(0);
    for_each_histogram(levels, members, [&](std::span<const int> counts) {
      std::size_t occupied = 0;
      for (const int n : counts) occupied += n > 0;
      first_.push_back(first_.back() + occupied);
    });
  }
  int levels() const { return levels_; }
  int members() const { return members_; }
  std::size_t histograms() const { return first_.size() - 1; }
  std::size_t entries() const { return first_.back(); }
  /// Index of a histogram's first entry; first(histograms()) is the number of all entries.
  std::size_t first(std::size_t histogram) const { return first_[histogram]; }
  /// With `left` members at level k (from 0; k >= 1) and below: the number of histograms with fewer than `n` of these at level k. The index
  /// of a histogram, place(), is the sum of before() over its levels.
  std::size_t before(int k, int left, int n) const { return before_[at(k, left, n)]; }
  std::size_t place(std::span<const int> counts) const {
    std::size_t place = 0;
    int left = members_;
    for (int k = levels_ - 1; k > 0; left -= counts[static_cast<std::size_t>(k--)]) place += before(k, left, counts[static_cast<std::size_t>(k)]);
    return place;
  }

 private:
  std::size_t at(int k, int left, int n) const {
    return (static_cast<std::size_t>(k) * side_ + static_cast<std::size_t>(left)) * side_ + static_cast<std::size_t>(n);
  }
  int levels_, members_;
  std::size_t side_;
  std::vector<std::size_t> before_;  ///< [levels][left][n]
  std::vector<std::size_t> first_;   ///< [histograms + 1]
};

/// Multinomial probabilities of a histogram of `members`, as a chain of binomial distributions. Level k takes n_k of the members that no
/// level below took, each with probability p_k / (p_k + .. + p_K). Every sum has terms >= 0, so no digits cancel.
class Multinomial {
 public:
  Multinomial(std::span<const double> p, int members) : side_(static_cast<std::size_t>(members) + 1), distribution_(p.size() * side_ * side_, 0.0) {
    std::vector<double> from(p.size() + 1, 0.0);
    for (std::size_t k = p.size(); k-- > 0;) from[k] = from[k + 1] + p[k];
    for (std::size_t k = 0; k < p.size(); ++k) {
      const double own = from[k] > 0 ? p[k] / from[k] : 0, other = from[k] > 0 ? from[k + 1] / from[k] : 1;
      double* row = &distribution_[k * side_ * side_];
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
      probability *= distribution_[(k * side_ + left) * side_ + taken];
      left -= taken;
    }
    return probability;
  }

 private:
  std::size_t side_;         ///< members + 1
  std::vector<double> distribution_;  ///< [levels][left][taken]
};

}  // namespace odrpo
