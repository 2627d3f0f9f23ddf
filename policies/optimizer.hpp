// Declares learning-rate schedules and the scalars of Adam's steps, computed once per step in double.
#pragma once
#include <cstddef>
#include <vector>

#include "policies/policy.hpp"

namespace odrpo {

/// Learning rate of step t (0-based) of `steps`: linear warm-up over w = max(1, floor(warmup steps)) steps, lr (t+1)/w, when warmup > 0;
/// then constant, linear to zero or half a cosine to zero: lr/2 (1 + cos(pi (t-w)/(steps-w))).
double learning_rate(const OptimizerConfig& config, int t, int steps);

/// One pending zero-gradient step of Adam, j steps after a row's last gradient; j = 0 is the step of that gradient.
/// Update: theta <- decay theta + rate m / (sqrt(v) scale + eps), with m and v as that last gradient left them.
struct PendingStep {
  float rate, scale, decay;
};

/// Scalars of Adam's steps, in double. In n steps without a gradient a row's moments only decay. These pending steps are applied at the
/// row's next visit; their scalars depend on the step of its last gradient and on n alone.
class AdamScalars {
 public:
  /// `remember`: the longest distance between two visits of a row, in steps (>= 1).
  AdamScalars(const OptimizerConfig& config, int steps, int remember);
  /// Makes the scalars of step t; call in order t = 0, 1, …
  void begin_step(int t);
  /// Sets the state to that after steps 0 .. updates - 1, whatever began before. Returns updates.
  int begin_again(int updates);
  /// Pending steps of a row last visited at step `last`: entry j is step last + j. Valid for steps <= t, last >= t - remember.
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
  double bias1_ = 1, bias2_ = 1, rate_ = 0;  // beta^(t+1) so far; lr of the step
  std::vector<double> beta1_power_, beta2_power_;
  std::vector<PendingStep> pending_;  // [last % ring][j]
};

}  // namespace odrpo
