// Declares learning-rate schedules, and the scalars of Adam's steps, which are computed in double once per step.
#pragma once
#include <cstddef>
#include <vector>

#include "policies/policy.hpp"

namespace odrpo {

/// Returns the learning rate of step t (0-based) out of `steps`. With warmup > 0 the first w = max(1, floor(warmup steps)) steps have
/// lr (t+1)/w, else w = 0. Later the rate is constant, falls linearly to zero, or as half a cosine: lr/2 (1 + cos(pi (t-w)/(steps-w))).
double learning_rate(const OptimizerConfig& config, int t, int steps);

/// Scalars of one pending step: an Adam step not yet applied to a row of parameters. It is j steps after the row's last gradient (j = 0: the
/// step of that gradient). Update: theta <- decay theta + rate m / (sqrt(v) scale + eps), with m and v as that last gradient left them.
struct PendingStep {
  float rate, scale, decay;
};

/// Computes the scalars of Adam's steps, in double. A row is the parameters of one prompt, or of the whole policy. A visit brings a row up to
/// date; between two visits its moments only decay. The steps since a visit are applied at the next one. Their scalars depend only on the
/// step of the last visit and on j.
class AdamScalars {
 public:
  /// `remember`: the largest number of steps from one visit of a row to the next (>= 1).
  AdamScalars(const OptimizerConfig& config, int steps, int remember);
  /// Computes the scalars of step t; call it for t = 0, 1, … in order.
  void begin_step(int t);
  /// Sets the state as if exactly the steps 0 .. updates - 1 had begun. Returns `updates`.
  int begin_again(int updates);
  /// Returns the pending steps of a row last visited at step `last`; element j is step last + j. For last + j <= t, last >= t - remember (t: now).
  const PendingStep* pending(int last) const { return &pending_[static_cast<std::size_t>(last % ring_) * ring_]; }
  float beta1_power(int n) const { return static_cast<float>(beta1_power_[n]); }
  float beta2_power(int n) const { return static_cast<float>(beta2_power_[n]); }
  float eps() const { return static_cast<float>(config_.eps); }
  float rate() const { return static_cast<float>(rate_); }  ///< lr of the current step
  int remember() const { return ring_ - 1; }
  const OptimizerConfig& config() const { return config_; }

 private:
  OptimizerConfig config_;
  int steps_, ring_;
  double bias1_ = 1, bias2_ = 1, rate_ = 0;  // beta1^(t+1) and beta2^(t+1); lr of step t
  std::vector<double> beta1_power_, beta2_power_;
  std::vector<PendingStep> pending_;  // scalars of pending step j of rows last visited at step `last`: [last % ring][j]
};

}  // namespace odrpo
