// Tracks the running median of scores for the weight gini-median: its value for a batch depends on earlier batches only.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "estimators/estimator.hpp"

namespace odrpo {

/// How a running median m is kept (docs/estimators.md). All scores of a batch are pooled. Kind `window`: m is the median of the last
/// `window` scores. Kind `ema`: m <- rho m + (1 - rho) median(batch). `rule` says which median of an even number of scores is taken.
struct RunningRule {
  RunningKind kind = RunningKind::window;
  MedianRule rule = MedianRule::lower;
  int window = 4096;  ///< for kind window: number of scores, >= 1
  double rho = 0.9;   ///< for kind ema: 0..1
};

/// The value of the running median before any score is seen: the lower median of the levels 1..levels.
constexpr double first_median(int levels) { return (levels + 1) / 2; }

/// The definition, for any real scores: out[b] = running median used for batch b, from the batches before b. It is `init` until a score has
/// been seen; empty batches change nothing.
void running_medians(const RunningRule& rule, double init, std::span<const std::vector<double>> batches, std::span<double> out);

/// running_medians() one batch at a time. An object takes either integer scores 0..254 (no_score is left out) or real rewards (NaN is left
/// out). Keeps a histogram and, for kind window, a circular buffer of the last scores. Cost of add_batch: O(batch + 256) for integer
/// scores, O(batch + window) for real rewards.
class RunningMedian {
 public:
  /// Throws Failure for rule `running`, a window below 1 or a rho outside 0..1.
  RunningMedian(const RunningRule& rule, double init);
  double value() const { return value_; }
  /// Adds a batch of integer scores, or of real rewards. Throws Failure if the object has already been given the other of these two.
  void add_batch(std::span<const std::uint8_t> scores);
  void add_batch(std::span<const float> rewards);
  /// Saves the object to a checkpoint's archive or loads it (train/checkpoint/checkpoint.hpp). Loading refuses inconsistent values.
  template <class Archive>
  void keep(Archive& a) {
    a(value_, count_, next_, ring_, real_ring_);
    if constexpr (Archive::loading) a.require(rebuild());
  }

 private:
  bool rebuild();
  template <class T>
  void add(std::span<const T> batch, std::vector<T>& ring);
  template <class T>
  double median_of(std::span<const T> held) const;

  RunningRule rule_;
  double value_;
  std::vector<std::int64_t> histogram_;  // of the scores in the ring (kind window) or in the last batch (kind ema)
  std::int64_t count_ = 0;               // sum of the histogram
  std::vector<std::uint8_t> ring_;       // kind window: circular buffer of `window` scores; the last count_ scores end before next_
  std::vector<float> real_ring_;         // ring_ of an object for real rewards
  std::size_t next_ = 0;                 // index in the ring where the next score goes
};

}  // namespace odrpo
