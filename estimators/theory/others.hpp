// Computes a member's advantage as a function of the others, for all levels at once: the fast form behind the field and its curl.
#pragma once
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "estimators/theory/setting.hpp"

namespace odrpo {

/// Forms of levels. With c_k others at level k or above, a member at level j gets sum_{k <= j} t_k(c_k) + sum_{k > j} u_k(c_k).
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
  std::vector<double> reached_, missed_;   ///< [medians][levels][members + 1], gap and weight included
  std::vector<int> reach_;                 ///< c_k of the others
  int at_least_[2] = {0, 0};               ///< of lower and upper median: members that must reach a level
  int top_[2][3] = {};                     ///< the highest level that 0, 1 or 2 more members make the median's
  std::vector<double> up_, down_;          ///< sum_{k <= j} t_k(c_k), sum_{k >= j} u_k(c_k)
  std::vector<std::vector<double>> sums_;  ///< by median: sum_{k <= j} t_k(c_k) - u_k(c_k)
  std::vector<std::uint64_t> made_;        ///< by median: the now_ for which sums_ was made
  std::uint64_t now_ = 0;
};

/// Cardinal forms with one divisor for the whole group: (R_k - mean) factor(sum, sum of squares).
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

/// Every other form: by the definition.
class AnyOthers {
 public:
  explicit AnyOthers(const TheorySetting& setting) : setting_(setting) {}
  void gains(std::span<const int> others, std::span<double> out);
  void differences(std::span<const int> others, std::span<double> out);

 private:
  TheorySetting setting_;
  std::vector<int> group_;
};

/// f_k(s) and its differences. Throws Failure(Exit::limits) for a setting that theory_refusal() refuses.
class OthersMap {
 public:
  explicit OthersMap(const TheorySetting& setting);
  /// out[k] = f_k(s): the advantage of a member at level k whose members - 1 others have the counts s.
  void gains(std::span<const int> others, std::span<double> out) {
    std::visit([&](auto& form) { form.gains(others, out); }, form_);
  }
  /// out[a K + b], a > b: D_ab = A_a - A_b in the group s + e_a + e_b of members - 2 others; the other entries are left alone.
  void differences(std::span<const int> others, std::span<double> out) {
    std::visit([&](auto& form) { form.differences(others, out); }, form_);
  }
  /// out[k] = the advantage of a member at level k of the group with those counts, 0 at levels that nobody has: group_advantages().
  void advantages(std::span<const int> counts, std::span<double> out);
  /// Elementary steps of one gain, of one difference and of one group's advantages, measured roughly, for limits of work. A step is 2-3 ns.
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
