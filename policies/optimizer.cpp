// Computes learning-rate schedules and the scalars of Adam's steps.
#include "policies/optimizer.hpp"

#include "kernels/math.hpp"

namespace odrpo {

double learning_rate(const OptimizerConfig& config, int t, int steps) {
  int warm = config.warmup > 0 ? static_cast<int>(config.warmup * steps) : 0;
  if (config.warmup > 0 && warm < 1) warm = 1;
  if (t < warm) return config.lr * (t + 1) / warm;
  const double done = static_cast<double>(t - warm) / (steps - warm > 1 ? steps - warm : 1);
  switch (config.schedule) {
    case ScheduleKind::linear: return config.lr * (1.0 - done);
    case ScheduleKind::cosine: return config.lr * 0.5 * (1.0 + math::sincos_turn(0.5 * done).cos);
    case ScheduleKind::constant: break;
  }
  return config.lr;
}

AdamScalars::AdamScalars(const OptimizerConfig& config, int steps, int remember)
    : config_(config),
      steps_(steps),
      ring_(remember + 1),
      beta1_power_(ring_ + 1),
      beta2_power_(ring_ + 1),
      pending_(static_cast<std::size_t>(ring_) * ring_) {
  double p1 = 1, p2 = 1;
  for (int n = 0; n <= ring_; ++n) {
    beta1_power_[n] = p1;
    beta2_power_[n] = p2;
    p1 *= config.beta1;
    p2 *= config.beta2;
  }
}

void AdamScalars::begin_step(int t) {
  rate_ = learning_rate(config_, t, steps_);
  bias1_ *= config_.beta1;
  bias2_ *= config_.beta2;
  const double rate = rate_ / (1.0 - bias1_), inverse2 = 1.0 / (1.0 - bias2_);
  const double decay = config_.kind == OptimizerKind::adamw ? 1.0 - rate_ * config_.weight_decay : 1.0;
  // of a row last visited at step t - j, step t is pending step j
  for (int j = 0; j < ring_ && j <= t; ++j)
    pending_[static_cast<std::size_t>((t - j) % ring_) * ring_ + j] = {
        static_cast<float>(rate * beta1_power_[j]), static_cast<float>(math::sqrt(inverse2 * beta2_power_[j])), static_cast<float>(decay)};
}

int AdamScalars::begin_again(int updates) {
  *this = AdamScalars(config_, steps_, remember());
  for (int t = 0; t < updates; ++t) begin_step(t);
  return updates;
}

}  // namespace odrpo
