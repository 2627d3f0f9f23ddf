// Declares a softmax policy in training (parameters, optimiser state, scratch of one batch), and the parameters of a tilted start.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/isa.hpp"
#include "policies/optimizer.hpp"
#include "policies/policy.hpp"
#include "policies/softmax/stages.hpp"

namespace odrpo {

/// Sizes and features of a policy; width = actions rounded up to a multiple of 32. `feature` is [prompts][features][width] and must outlive
/// the policy; null for the tabular policy.
struct PolicyShape {
  int prompts, actions, width;
  int batch, rollouts;
  int features = 0;
  const float* feature = nullptr;
  bool in_passes = true;  ///< batches are taken from passes over all prompts, each at most once in a pass
};

/// A row's pending steps (Adam steps not yet applied to it) are kept for `updates` updates after its last visit. `overdue`: rows can stay
/// unvisited for longer, so the policy visits them in time without a gradient.
struct RowMemory {
  int updates;
  bool overdue;
};
RowMemory row_memory(PolicyKind kind, int prompts, int batch, int epochs);

/// PPO's lower and upper bound of the ratio pi / pi_old. With clip 0 no ratio is out of bounds.
struct RatioLimits {
  float lowest, highest;
};
RatioLimits ratio_limits(double clip);

/// Inputs of gradient() besides actions and advantages: KL penalty, mask and PPO's clip.
struct RolloutTerms {
  double kl = 0;                       ///< weight of the KL penalty to the uniform policy
  const std::uint8_t* mask = nullptr;  ///< [batch][rollouts]: 0 = left out of the gradient and of its denominator; null = all kept
  bool reused = false;                 ///< an earlier policy drew the rollouts, and remember() was called then
  double ratio_clip = 0;               ///< PPO: bound of |pi / pi_old - 1| in the direction that the advantage rewards; 0 = no clip
};

/// A softmax policy in training. It starts uniform (all parameters 0) unless start_at() sets its parameters. One update calls forward(),
/// sample() (any number of times), gradient(), update(). With several epochs on a batch of rollouts, remember() follows sample(). Each
/// later epoch calls forward() with the same prompts, gradient() with reused rollouts, update().
class SoftmaxPolicy {
 public:
  /// `steps` = training steps times epochs. `epochs` = consecutive updates on one batch: the longest absence of a prompt follows from it.
  SoftmaxPolicy(PolicyKind kind, const PolicyShape& shape, const OptimizerConfig& config, int steps, Isa isa, int epochs = 1);

  /// Sets the parameters before the first update: tabular [prompts][width], linear [features] (tilted_parameters()).
  void start_at(std::span<const float> parameters);

  /// Begins update t = 0, 1, …: applies earlier updates to the batch's prompts (shape.batch different ones), computes their softmax.
  void forward(int t, const std::uint32_t* prompt);
  /// Computes the softmax of these prompts for sample(), before forward() has begun the next update; the policy itself stays as it is.
  void look_at(const std::uint32_t* prompt);
  /// Samples action[b][i] of rollout i to prompt b of the batch, from the random words word[b][blocks][4] (counter blocks of 4 words).
  void sample(const std::uint32_t* word, int blocks, std::uint16_t* action) const;
  /// Saves pi(a_i) of the batch's rollouts as pi_old, at least smallest_probability, for later epochs on the same rollouts.
  void remember(const std::uint16_t* action);
  /// Computes the gradient of the batch objective by the parameters: the mean over the kept rollouts i (mask) of c_i grad ln pi(a_i), with
  /// c_i = advantage_i rho_i - kl (1 - pi_ref / pi). rho_i = pi / pi_old when the rollouts are reused, else 1. A clipped rollout has no first
  /// term: its advantage is positive and rho_i > 1 + c, or negative and rho_i < 1 - c (Schulman et al. 2017, eq. 7), c = terms.ratio_clip.
  /// Writes to `out` [gradient_size()], or with null to the policy's own buffer, which update() applies. Returns the share of kept rollouts
  /// that were clipped. If none is kept, gradient and share are 0.
  double gradient(const std::uint16_t* action, const float* advantage, const RolloutTerms& terms, float* out = nullptr);
  /// Writes to `out` the exact gradient, by the parameters, of the expected quality averaged over the batch's prompts. quality is
  /// [prompts][width]; `out` has gradient_size() floats, which can be compared with those of gradient().
  void exact_gradient(const float* quality, float* out);
  /// Clips the gradient in the policy's own buffer and takes one ascent step along it.
  void update();

  int gradient_size() const { return static_cast<int>(gradient_.size()); }
  /// Returns exact expectations under the current parameters, averaged over all prompts. Does not change the state of training.
  ExactMeans exact(const float* quality);
  /// Returns for each threshold the probability, averaged over all prompts, that the quality is at least the threshold.
  std::vector<double> exact_shares(const float* quality, std::span<const float> thresholds);
  /// Returns the logits [prompts][width] under the current parameters, likewise; those of the padding behind `actions` mean nothing.
  std::vector<float> exact_logits();
  const SoftmaxRows& rows() const { return rows_; }

  /// Writes the state of training to an archive, or reads it from one that a policy of equal shape, optimiser and number of steps wrote.
  /// After reading call restored() with the number of updates done.
  template <class A>
  void keep(A& archive) {
    archive(std::span<float>(theta_), std::span<float>(m_), std::span<float>(v_), std::span<float>(root_), std::span<std::int32_t>(last_));
    for (std::vector<std::uint32_t>& rows : visited_at_) {
      archive(rows);
      for (const std::uint32_t row : rows) archive.require(row < last_.size());
    }
  }
  void restored(int updates_done);

 private:
  bool adam() const { return config_.kind != OptimizerKind::sgd; }
  bool tabular() const { return kind_ == PolicyKind::tabular; }
  TableRows table() {
    return {theta_.data(),
            m_.data(),
            v_.data(),
            root_.data(),
            row_width_,
            tabular() ? shape_.actions : shape_.features,
            tabular() ? padding : 0.0f};
  }
  RowVisit visit(std::uint32_t row, std::uint32_t place = 0) const;
  void catch_up(const RowVisit* visits, int count, float* out);
  void accumulate(const RowVisit* visits, int count, const float* gradient);
  void visit_overdue(int t);
  template <class F>
  void each_exact_row(F use);
  void to_parameters(const float* logit_gradient, float* out) const;

  PolicyKind kind_;
  PolicyShape shape_;
  OptimizerConfig config_;
  const PolicyStages& stages_;
  AdamScalars scalars_;
  int step_ = 0;
  int row_width_;                                       // parameters in a row: width, or features rounded up to 32
  std::vector<float> theta_, m_, v_, root_;             // [rows][row_width]; the linear policy is one row
  std::vector<std::int32_t> last_;                      // [rows] update of the row's last visit, -1 = never
  std::vector<std::vector<std::uint32_t>> visited_at_;  // [update % size] rows visited then; empty unless rows can be overdue
  std::vector<RowVisit> visits_, by_age_;               // the batch's visits; visits sorted by n
  std::vector<float> logits_, bias_;                    // linear: [B][width], [width]
  std::vector<float> probability_, cumulative_, total_, logit_gradient_, gradient_, peek_;
  std::vector<float> old_probability_, coefficient_;  // [B][G]
  std::vector<std::uint32_t> prompt_;            // [B] the batch's prompts
  SoftmaxRows rows_{};
};

// Parameters at the start of a tilted policy: logits = tilt x true quality, or the linear policy nearest to them.

/// Returns the least-squares fit of values v [P][width] by features x, both centred within each prompt: a softmax ignores what a prompt's
/// actions share. Minimises over theta the sum over prompts p and actions a of (v_pa - mean_a v_p - (x_pa - mean_a x_p) . theta)^2. Solved by
/// normal equations and Cholesky's decomposition in double, with + - * / sqrt alone: the same bits on every machine.
///
/// Adds 1e-9 of the diagonal's mean to the matrix's diagonal. A solution then exists even if the features of all responses span fewer than F
/// dimensions (F = shape.features). Returns zeros if no prompt's actions differ in a feature.
std::vector<double> fit_linear(const PolicyShape& shape, const float* value);

/// Returns the parameters of a policy with logits tilt x value: tabular [P][width]; linear [F] = tilt x `fit`, which fit_linear() returns.
std::vector<float> tilted_parameters(PolicyKind kind, const PolicyShape& shape, const float* value, std::span<const double> fit,
                                     double tilt);

}  // namespace odrpo
