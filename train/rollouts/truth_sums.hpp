// Declares what advantages of a group have to do with its true rewards, summed over groups, prompts and draws, and the intervals of their ratios.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "train/rollouts/judged_numbers.hpp"

namespace odrpo {

/// Seven sums over groups, of which the three numbers of JudgedAdvantages are made.
struct TruthSums {
  double turned = 0, signs = 0;    ///< responses with A != 0 and T != 0: those whose signs differ; all
  double wrong = 0, pairs = 0;     ///< pairs with different T: those in the other order, ties of A by half; all
  double product = 0, advantage = 0, truth = 0;  ///< sums of A T, A^2 and T^2
  void add(const TruthSums& other);
  /// Sign, pairs and cosine.
  std::array<double, 3> ratios() const;
};

/// Differences of numbers of a group that are at most so large count as none: 1e-9 of the largest difference, and 1e-12 of the largest number, since a mean
/// or a sum of parts is rounded.
double least_difference(std::span<const double> x);

/// Pairs with different q, and those of them that a orders otherwise; equal a count half.
struct PairSums {
  double wrong = 0, pairs = 0;
};
PairSums pairs_one_by_one(std::span<const double> a, std::span<const double> q);  ///< the definition, O(n^2)
/// O(n log n). Numbers are equal if a chain of neighbours joins them whose differences are none.
PairSums pairs_by_sorting(std::span<const double> a, std::span<const double> q);

/// What a group adds: advantages a[n] and true rewards q[n] of its responses; T = q - mean q. T that is at most least_difference(q) is 0; so is A of at most
/// 1e-9 of the largest.
TruthSums compared(std::span<const double> a, std::span<const double> q);

/// Sums of one estimator, [units][draws]: units are prompts, or sets of prompts, and draws are truths, each of all units together.
class DrawnSums {
 public:
  DrawnSums(std::size_t units, std::size_t draws) : units_(units), draws_(draws), sums_(units * draws) {}
  TruthSums& at(std::size_t unit, std::size_t draw) { return sums_[unit * draws_ + draw]; }
  /// The numbers of all units and draws, with percentile intervals: resample r draws units with replacement, and takes draw r modulo their number.
  /// resamples = 0: no intervals.
  JudgedAdvantages numbers(int resamples, std::uint64_t seed) const;

 private:
  std::size_t units_, draws_;
  std::vector<TruthSums> sums_;
};

}  // namespace odrpo
