// Describes a setting of the exact theory: an estimator, the values of the levels and the size of a group. Computes advantages by
// definition, the leverage of one score, and histograms of a group.
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "estimators/estimator.hpp"

namespace odrpo {

/// A group of `members` whose scores are levels 1..K with the values R_1 < .. < R_K, as in the estimators' key `values`. Cardinal forms see
/// the values; forms of levels sum Delta_k = R_k - R_(k-1) times what level k gives.
struct TheorySetting {
  EstimatorConfig estimator;   ///< its own `values` are not read
  std::vector<double> values;  ///< also of forms that read none: they decide the number of levels
  int members = 8;
  int levels() const { return static_cast<int>(values.size()); }
};

inline constexpr int most_theory_levels = 1000, most_theory_members = 1000;

/// The values 1..K.
std::vector<double> plain_values(int levels);

/// Why the theory says nothing about a setting. Posterior estimators and the running median are no functions of the group's scores. A
/// convention may lack the form. Two values at least must ascend. A group has 2..most_theory_members members.
std::optional<std::string> theory_refusal(const TheorySetting& setting);

/// The definition, advantages() of estimators/definition.hpp, for a member at each level of the group with those counts; 0 at levels that
/// nobody has.
std::vector<double> group_advantages(const TheorySetting& setting, std::span<const int> counts);

/// Delta_k = R_k - R_(k-1); Delta_1 = 0, because every group reaches level 1.
std::vector<double> level_gaps(std::span<const double> values);

// What one corrupted score does to the advantages of its group.

/// A group before and after one member's score became another one. Root mean squares are over all members. `spread` is the root of the
/// clean members' summed squared deviations from their own mean: the contrast that is left among them.
struct Leverage {
  double share = 0;  ///< the corrupted member's part of sum A^2 after; NaN where all advantages are 0
  double rms_before = 0, rms_after = 0;
  double spread_before = 0, spread_after = 0;
};

/// levels[i] = level of member i, 1..K, for each member of the setting; that of `member` becomes `outlier`. By the definition.
Leverage leverage_of(const TheorySetting& setting, std::span<const int> levels, std::size_t member, int outlier);

// Histograms of a group over K levels: how many there are, each of them in turn, and their multinomial probabilities.

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

/// Entries of a map from (histogram, level) to a number: one for each level that a histogram has. Histograms are in the order of
/// for_each_histogram(), levels ascending.
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
  /// Where the entries of a histogram begin; of histograms() their end.
  std::size_t first(std::size_t histogram) const { return first_[histogram]; }
  /// How many histograms come before that of `n` members at level k >= 1, where `left` members are at level k and below. A histogram's
  /// place is the sum over its levels.
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

/// Probabilities of Multi(members, p) as a chain of binomial distributions. Level k takes n_k of those that no level below took, each with
/// probability p_k / (p_k + .. + p_K). Every sum has terms >= 0, so nothing cancels.
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
