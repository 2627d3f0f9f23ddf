// The running median of the weight gini-median: a value for each batch that depends on earlier batches only.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "estimators/estimator.hpp"

namespace odrpo {

/// How a running median is kept (docs/estimators.md): all scores of a batch are pooled; `window` looks at the last `window` scores,
/// `ema` moves m <- rho m + (1 - rho) median(batch); `rule` (lower, mid, upper) is the rule of the medians taken.
struct RunningRule {
  RunningKind kind = RunningKind::window;
  MedianRule rule = MedianRule::lower;
  int window = 4096;  ///< scores, >= 1
  double rho = 0.9;   ///< 0..1
};

/// The lower median of the levels 1..levels: what training starts from.
constexpr double first_median(int levels) { return (levels + 1) / 2; }

/// The definition, for any real scores: out[b] = value used for batch b. `init` until a score has been seen; empty batches change nothing.
void running_medians(const RunningRule& rule, double init, std::span<const std::vector<double>> batches, std::span<double> out);

/// The same one batch at a time, for integer scores 0..254 (no_score of estimators/batch.hpp is left out) or for real rewards (NaN is left
/// out), one kind per object: a histogram and, for kind window, a ring of the last ones. value() costs nothing; add_batch
/// O(batch + 256) for scores, O(batch + window) for rewards.
class RunningMedian {
 public:
  /// Throws Failure for rule `running`, a window below 1 or a rho outside 0..1.
  RunningMedian(const RunningRule& rule, double init);
  double value() const { return value_; }
  /// Throws Failure when the object has seen the other kind.
  void add_batch(std::span<const std::uint8_t> scores);
  void add_batch(std::span<const float> rewards);
  /// What a checkpoint keeps, to an archive or from one (train/checkpoint/checkpoint.hpp), which is asked to fail when this cannot have been kept.
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
  std::vector<std::int64_t> histogram_;  // of what the ring (window) or the last batch (ema) holds
  std::int64_t count_ = 0;               // sum of the histogram
  std::vector<std::uint8_t> ring_;       // kind window: `window` places, the last count_ scores end before next_
  std::vector<float> real_ring_;         // the same of rewards
  std::size_t next_ = 0;                 // where the next one goes
};

}  // namespace odrpo
