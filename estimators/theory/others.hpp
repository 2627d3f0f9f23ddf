// Computes a member's advantage as a function of the other members' levels, fast and for all own levels at once. The update field and its
// curl are sums of these.
#pragma once
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "estimators/theory/setting.hpp"

namespace odrpo {

/// OthersMap for forms of levels. If c_k others are at level k or above, a member at level j gets sum_{k <= j} t_k(c_k) + sum_{k > j}
/// u_k(c_k). t_k and u_k are Delta_k times those that leave_one_out() of definition.hpp computes for level k.
class LevelOthers {
 public:
  explicit LevelOthers(const TheorySetting& setting);
  void gains(std::span<const int> others, std::span<double> out);
  void differences(std::span<const int> others, std::span<double> out);

 private:
  void read(std::span<const int> others);
  int median_index(int high, int low) const;
  const double* table(const std::vector<double>& of, int median) const;
  const std::vector<double>& rising(int median);
  int levels_, members_;
  MedianRule rule_;
  bool reads_median_;
  std::vector<double> reached_, missed_;   ///< [medians][levels][members + 1] LevelShares by count, times Delta_k and the weight
  std::vector<int> reach_;                 ///< c_k: number of the others at level k or above
  int at_least_[2] = {0, 0};               ///< [lower, upper]: a level that so many members reach is at most the median
  int top_[2][3] = {};                     ///< [lower, upper][n]: highest level that at_least_ members reach, if n more reach it
  std::vector<double> up_, down_;          ///< sum_{k <= j} t_k(c_k), sum_{k >= j} u_k(c_k)
  std::vector<std::vector<double>> sums_;  ///< by median: sum_{k <= j} t_k(c_k) - u_k(c_k)
  std::vector<std::uint64_t> made_;        ///< by median: value of now_ when sums_ was computed
  std::uint64_t now_ = 0;                  ///< number of calls of read()
};

/// OthersMap for forms of rewards with one divisor for the group: (R_k - mean) factor(sum of x, sum of x^2), x = R_k - R_1 of each member.
class ScaledOthers {
 public:
  explicit ScaledOthers(const TheorySetting& setting);
  void gains(std::span<const int> others, std::span<double> out);
  void differences(std::span<const int> others, std::span<double> out);

 private:
  enum class Kind { none, deviation, mean };
  template <Kind kind>
  void fill_differences(double sum, double squares, std::span<double> out) const;
  double factor(double sum, double squares) const;
  Kind kind_;
  double members_, ddof_, eps_, base_, plain_;
  std::vector<double> x_;  ///< R_k - R_1
};

/// OthersMap for all other forms: calls group_advantages() for each own level.
class AnyOthers {
 public:
  explicit AnyOthers(const TheorySetting& setting) : setting_(setting) {}
  void gains(std::span<const int> others, std::span<double> out);
  void differences(std::span<const int> others, std::span<double> out);

 private:
  TheorySetting setting_;
  std::vector<int> group_;
};

/// Computes f_k(s), the advantage at level k if the other members have the histogram s, and its differences, by the fastest of the three
/// classes above. Throws Failure(Exit::limits) for a setting that theory_refusal() refuses.
class OthersMap {
 public:
  explicit OthersMap(const TheorySetting& setting);
  /// out[k] = f_k(s): the advantage of a member at level k; s = `others` = counts by level of the members - 1 others.
  void gains(std::span<const int> others, std::span<double> out) {
    std::visit([&](auto& form) { form.gains(others, out); }, form_);
  }
  /// Sets out[a K + b], a > b, to D_ab = A_a - A_b: the advantage of a member at level a less that of a member at level b. The group has
  /// these two and members - 2 `others`. All else in `out` stays as it is.
  void differences(std::span<const int> others, std::span<double> out) {
    std::visit([&](auto& form) { form.differences(others, out); }, form_);
  }
  /// Sets out[k] to the advantage of a member at level k of a group with these counts by level; 0 at levels without a member.
  void advantages(std::span<const int> counts, std::span<double> out);
  /// Elementary steps (2-3 ns each) of one number of gains(), of one number of differences() and of one call of advantages(), roughly
  /// measured. field.hpp compares sums of them with most_theory_work.
  double gain_cost() const { return gain_cost_; }
  double difference_cost() const { return difference_cost_; }
  double group_cost() const;

 private:
  TheorySetting setting_;
  std::variant<LevelOthers, ScaledOthers, AnyOthers> form_;
  double gain_cost_ = 3, difference_cost_ = 1;
  std::vector<int> others_;
  std::vector<double> gain_;  ///< [levels]
};

}  // namespace odrpo
