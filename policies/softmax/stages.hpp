// Declares the batch stages of softmax policies, a table for each instruction set: softmax, sampling, logit gradients, features, Adam.
#pragma once
#include <cstdint>

#include "kernels/isa.hpp"
#include "policies/optimizer.hpp"

namespace odrpo {

/// Logit of the padding: elements after the last action that fill a row up to its width. Their probability is 0. No parameter comes near it.
inline constexpr float padding = -1e30f;

/// A policy's parameters and Adam's moments, [rows][width] each: one row per prompt (tabular) or one row in all (linear). width is a multiple
/// of 32. m and v are the moments after the row's last visit. root = sqrt(v) is stored because every application of pending steps needs it.
struct TableRows {
  float *theta, *m, *v, *root;
  int width;
  int used;  ///< parameters of a row; the floats after them keep the value `unused`
  float unused;
};

/// A row to bring up to date: the n Adam steps not yet applied to it (pending; oldest first), and the decay of its moments over them.
struct RowVisit {
  std::uint32_t row;
  int n;
  const PendingStep* steps;
  float keep1, keep2;   ///< beta1^n, beta2^n
  std::uint32_t place;  ///< index of the row in the batch or in `out`
};

/// Output of the softmax stage, which sampling and the gradient read; all [rows][width] unless it says [rows].
struct SoftmaxRows {
  float* probability;  ///< softmax probabilities pi
  float* cumulative;   ///< running sums of e^(logit - max), not normalised, in the sampling order of softmax_stage.cpp
  float* total;        ///< [rows] sum of e^(logit - max)
};

/// Exact expectations under the softmax, averaged over all prompts.
struct ExactMeans {
  double quality = 0;  ///< expected quality sum_a pi_a q_a
  double kl = 0;       ///< sum_a pi_a ln(pi_a A): KL to the uniform policy
  double entropy = 0;  ///< -sum_a pi_a ln pi_a, nats
};

/// Lower bound of probabilities in ratios: a rollout's pi_old, and its present pi in the KL penalty of reused rollouts, count as at least
/// this. Sampling divides [0, 1) into 2^23 cells, so no rollout is less probable when it is drawn. With the bound every ratio is at most
/// 2^48, and every square of a gradient fits a float.
inline constexpr float smallest_probability = 0x1p-48f;

/// Inputs of coefficients(). The KL penalty has weight `kl` and the uniform probability `reference`; `scale` multiplies all. The others are
/// the ratio pi / pi_old with its bounds, and the mask. Arrays are [rows][rollouts].
struct RolloutWeights {
  float kl, reference, scale;
  const float* old_probability;   ///< pi_old of each rollout, >= smallest_probability; null = not reused: every ratio is 1
  float lowest, highest;     ///< clipped: a positive advantage with a ratio above `highest`, a negative one with a ratio below `lowest`
  const std::uint8_t* mask;  ///< 0 = coefficient exactly 0, whatever the advantage; null = all rollouts kept
};

struct PolicyStages {
  /// Applies the pending steps of each visit to theta; with `out`, to a copy at out[place][width]. Fastest if visits are sorted by n.
  void (*catch_up)(const TableRows&, const RowVisit*, int count, float eps, float* out);
  /// Updates the moments of each visited row: m <- keep1 m + rest1 g, v <- keep2 v + rest2 g^2. Here rest = 1 - beta; g is
  /// gradient[visit][width], null = zeros.
  void (*accumulate)(const TableRows&, const RowVisit*, int count, float rest1, float rest2, const float* gradient);
  /// Plain gradient ascent (sgd): theta <- theta + rate g on each visited row.
  void (*ascend)(const TableRows&, const RowVisit*, int count, float rate, const float* gradient);
  /// Computes the softmax of `count` rows of logits: row i starts at logits + row[i] * width, or at logits + i * width where row is null.
  void (*softmax)(const float* logits, const std::uint32_t* row, int count, int width, const SoftmaxRows&);
  /// Returns the means of exact quality, KL and entropy over `count` rows of logits; quality [rows][width] has the rows in the same order.
  ExactMeans (*exact)(const float* logits, const float* quality, int count, int width, int actions);
  /// Samples action[b][i] by inverse CDF from the random words word[b][blocks*4] (counter blocks of 4); never an action of probability 0.
  void (*sample)(const SoftmaxRows&, int count, int width, int rollouts, const std::uint32_t* word, int blocks, std::uint16_t* action);
  /// Writes the gradient of the batch objective by the logits: g[b][a] = scale sum_i c_i (1[a = a_i] - pi_a), a_i = action of rollout i.
  /// c_i = advantage_i - kl (1 - reference / pi_{a_i}), reference = probability under the uniform policy.
  void (*logit_gradient)(const SoftmaxRows&, int count, int width, int rollouts, const std::uint16_t* action, const float* advantage,
                         float kl, float reference, float scale, float* gradient);
  /// Writes out[b][i] = scale (advantage_i ratio_i [0 if clipped] - kl (1 - reference / pi_{a_i})), ratio = pi / pi_old; 0 for rollouts that
  /// the mask leaves out. Returns how many of the others were clipped.
  int (*coefficients)(const SoftmaxRows&, int count, int width, int rollouts, const std::uint16_t* action, const float* advantage,
                      const RolloutWeights&, float* out);
  /// Writes the gradient by the logits from given coefficients c [rows][rollouts]: g[b][a] = sum_i c_i (1[a = a_i] - pi_a).
  void (*logit_gradient_by)(const SoftmaxRows&, int count, int width, int rollouts, const std::uint16_t* action, const float* coefficient,
                            float* gradient);
  /// Writes the linear policy's logits[b][a] = bias[a] + sum_f theta_f X[row_b][f][a]; X = features; bias is 0, after the last action `padding`.
  void (*linear_logits)(const float* feature, const float* theta, const float* bias, const std::uint32_t* row, int count, int features,
                        int width, float* logits);
  /// Writes the gradient by the linear policy's parameters: g_f = sum_b sum_a gradient[b][a] X[row_b][f][a], X = features.
  void (*linear_gradient)(const float* feature, const float* logit_gradient, const std::uint32_t* row, int count, int features, int width,
                          float* gradient);
  /// Inner product of two arrays of n floats, n a multiple of 32.
  float (*dot)(const float* a, const float* b, int n);
  /// Multiplies an array by a number: a <- factor a, n a multiple of 8.
  void (*scale)(float* a, float factor, int n);
};
const PolicyStages& policy_stages(Isa isa);

}  // namespace odrpo
