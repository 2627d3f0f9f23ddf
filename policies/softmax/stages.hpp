// The policies' batch stages: softmax and sampling, gradient of the logits, shared features, Adam on rows; one table per instruction set.
#pragma once
#include <cstdint>

#include "kernels/isa.hpp"
#include "policies/optimizer.hpp"

namespace odrpo {

/// The logit of an action that does not exist; no parameter comes near it.
inline constexpr float padding = -1e30f;

/// Rows of a tabular policy: [P][width] each, action fastest; width a multiple of 32. Padding logits are `padding` and stay there.
/// m, v are Adam's moments after the row's last visit, root = sqrt(v): taken once a visit, needed at every look.
struct TableRows {
  float *theta, *m, *v, *root;
  int width;
  int used;  ///< parameters of a row; what stands behind them keeps the value `unused`
  float unused;
};

/// One row to bring up to date: n pending steps, oldest first, and what its moments keep over them.
struct RowVisit {
  std::uint32_t row;
  int n;
  const PendingStep* steps;
  float keep1, keep2;   ///< beta1^n, beta2^n
  std::uint32_t place;  ///< of the row in the batch or in `out`
};

/// What a softmax leaves for sampling and for the gradient; all [rows][width] or [rows].
struct SoftmaxRows {
  float* probability;  ///< pi
  float* cumulative;   ///< running sums of e^(logit - max) in the sampling order of its stage; not normalised
  float* total;        ///< [rows] sum of the above
};

/// Means over rows of exact expectations under the softmax, from one pass over all prompts.
struct ExactMeans {
  double quality = 0;  ///< sum_a pi_a q_a
  double kl = 0;       ///< sum_a pi_a ln(pi_a A): KL to the uniform policy
  double entropy = 0;  ///< -sum_a pi_a ln pi_a, nats
};

/// The least probability a ratio is taken to: the probability of a rollout when it was drawn, and the probability under a KL penalty later on, count
/// as no less. Sampling stands for cells of 2^-23, so that such rollouts are not met; but with it every ratio is at most 2^48 and every
/// square of a gradient has room in a float.
inline constexpr float smallest_probability = 0x1p-48f;

/// What makes a coefficient of an advantage when it takes more than the penalty; arrays are [rows][rollouts].
struct RolloutWeights {
  float kl, reference, scale;
  const float* old_probability;   ///< pi_old of each rollout, >= smallest_probability; null = drawn by these rows: every ratio is 1
  float lowest, highest;     ///< clipped: a positive advantage with a ratio above `highest`, a negative one with a ratio below `lowest`
  const std::uint8_t* mask;  ///< 0 = no part: coefficient exactly 0, whatever its advantage; null = all take part
};

struct PolicyStages {
  /// Applies each visit's pending steps; writes to theta, or, when `out` is given, to out[place][width] and leaves theta alone.
  /// Fastest when the visits are in order of n.
  void (*catch_up)(const TableRows&, const RowVisit*, int count, float eps, float* out);
  /// m <- keep1 m + rest1 g and v <- keep2 v + rest2 g^2 on each visited row, rest = 1 - beta; g[visit][width], null = zero gradient.
  void (*accumulate)(const TableRows&, const RowVisit*, int count, float rest1, float rest2, const float* gradient);
  /// theta <- theta + rate g on each visited row (sgd).
  void (*ascend)(const TableRows&, const RowVisit*, int count, float rate, const float* gradient);
  /// Softmax of rows of logits: logits + row[i] * width, row = null: rows 0, 1, ….
  void (*softmax)(const float* logits, const std::uint32_t* row, int count, int width, const SoftmaxRows&);
  /// Means of exact quality, KL and entropy over `count` rows of logits; quality [rows][width] with the same row order.
  ExactMeans (*exact)(const float* logits, const float* quality, int count, int width, int actions);
  /// action[b][i] by inverse CDF from word[b][blocks*4]; never an action of probability 0.
  void (*sample)(const SoftmaxRows&, int count, int width, int rollouts, const std::uint32_t* word, int blocks, std::uint16_t* action);
  /// Gradient of the batch objective by the logits, g[b][a] = scale sum_i c_i (1[a = a_i] - pi_a), c_i = advantage_i - kl (1 - ref /
  /// pi_{a_i}).
  void (*logit_gradient)(const SoftmaxRows&, int count, int width, int rollouts, const std::uint16_t* action, const float* advantage,
                         float kl, float reference, float scale, float* gradient);
  /// out[b][i] = scale (advantage_i ratio_i [not clipped] - kl (1 - ref / pi_{a_i})), ratio = pi / pi_old; 0 for those not kept. Returns
  /// how many kept rollouts were clipped.
  int (*coefficients)(const SoftmaxRows&, int count, int width, int rollouts, const std::uint16_t* action, const float* advantage,
                      const RolloutWeights&, float* out);
  /// The gradient by the logits from given coefficients [rows][rollouts]: g[b][a] = sum_i c_i (1[a = a_i] - pi_a).
  void (*logit_gradient_by)(const SoftmaxRows&, int count, int width, int rollouts, const std::uint16_t* action, const float* coefficient,
                            float* gradient);
  /// logits[b][a] = bias[a] + sum_f theta_f X[row_b][f][a]; bias is 0, or `padding`.
  void (*linear_logits)(const float* feature, const float* theta, const float* bias, const std::uint32_t* row, int count, int features,
                        int width, float* logits);
  /// g_f = sum_b sum_a gradient[b][a] X[row_b][f][a].
  void (*linear_gradient)(const float* feature, const float* logit_gradient, const std::uint32_t* row, int count, int features, int width,
                          float* gradient);
  /// Inner product of two arrays of n floats, n a multiple of 32.
  float (*dot)(const float* a, const float* b, int n);
  /// a <- factor a, n a multiple of 8.
  void (*scale)(float* a, float factor, int n);
};
const PolicyStages& policy_stages(Isa isa);

}  // namespace odrpo
