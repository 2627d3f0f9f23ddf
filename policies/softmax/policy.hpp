// A softmax policy in training: its parameters, its optimiser's state, the scratch of one batch; and where a tilted one starts.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/isa.hpp"
#include "policies/optimizer.hpp"
#include "policies/policy.hpp"
#include "policies/softmax/stages.hpp"

namespace odrpo {

/// Sizes and data a policy stands on. `feature` is [P][F][width] and outlives the policy; null for the tabular one.
struct PolicyShape {
  int prompts, actions, width;
  int batch, rollouts;
  int features = 0;
  const float* feature = nullptr;
};

/// How long a row's pending updates are remembered, in updates; overdue: rows can go longer without a visit, and get one in time.
struct RowMemory {
  int updates;
  bool overdue;
};
RowMemory row_memory(PolicyKind kind, int prompts, int batch, int epochs);

/// The ratios pi / pi_old between which an advantage counts; clip 0 = all.
struct RatioLimits {
  float lowest, highest;
};
RatioLimits ratio_limits(double clip);

/// How rollouts enter a gradient besides their advantages.
struct RolloutTerms {
  double kl = 0;                       ///< weight of the KL penalty to the uniform policy
  const std::uint8_t* mask = nullptr;  ///< [B][G] 0 = no part in the gradient, nor in its denominator; null = all take part
  bool reused = false;                 ///< the rollouts were drawn by an earlier policy: remember() was called when they were
  double ratio_clip = 0;               ///< PPO: largest distance of pi / pi_old from 1 in the advantage's direction; 0 = no clip
};

/// Starts uniform (all parameters 0), unless start_at() says otherwise. One update is forward, sample (any number of times), gradient, update. With several epochs on a batch
/// of rollouts: forward, sample, remember, gradient, update; then forward with the same prompts, gradient with reused rollouts, update.
class SoftmaxPolicy {
 public:
  /// `steps` counts updates: with several epochs per batch, training steps times epochs. `epochs` = consecutive updates on one batch, which
  /// tells how long a prompt can go without one.
  SoftmaxPolicy(PolicyKind kind, const PolicyShape& shape, const OptimizerConfig& config, int steps, Isa isa, int epochs = 1);

  /// The parameters before the first update: of the tabular policy [P][width], of the linear one [F]. (tilted_parameters())
  void start_at(std::span<const float> parameters);

  /// Begins update t = 0, 1, …: softmax rows of the batch's prompts (`count` = shape.batch different prompts) with all earlier updates
  /// applied.
  void forward(int t, const std::uint32_t* prompt);
  /// action[b][i] from word[b][blocks][4].
  void sample(const std::uint32_t* word, int blocks, std::uint16_t* action) const;
  /// Remembers pi(a_i) of the batch as pi_old, at least smallest_probability, for later epochs on the same rollouts.
  void remember(const std::uint16_t* action);
  /// Gradient of the batch objective by the parameters, to out[gradient_size()]: mean over the kept rollouts of c_i grad ln pi(a_i),
  /// c_i = advantage_i rho_i [not clipped] - kl (1 - pi_ref / pi); rho_i = pi / pi_old when the rollouts are reused, else 1. Clipped: the
  /// advantage is positive and rho_i > 1 + c, or negative and rho_i < 1 - c (Schulman et al. 2017, eq. 7). `out` null = the policy's own
  /// buffer, which update() applies. Returns the share of kept rollouts that were clipped. Zero when none is kept.
  double gradient(const std::uint16_t* action, const float* advantage, const RolloutTerms& terms, float* out = nullptr);
  /// Exact gradient of the batch prompts' mean expected quality by the parameters; quality is [P][width]. Same size and scale.
  void exact_gradient(const float* quality, float* out);
  /// Clips the own gradient and takes one ascent step.
  void update();

  int gradient_size() const { return static_cast<int>(gradient_.size()); }
  /// Exact means over all prompts under the current parameters; leaves the state of training alone.
  ExactMeans exact(const float* quality);
  const SoftmaxRows& rows() const { return rows_; }

  /// The state that later updates read, written to an archive or read from one of the same shape, optimiser and number of steps; then
  /// restored() with the number of updates done.
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
  void to_parameters(const float* logit_gradient, float* out) const;

  PolicyKind kind_;
  PolicyShape shape_;
  OptimizerConfig config_;
  const PolicyStages& stages_;
  AdamScalars scalars_;
  int step_ = 0;
  int row_width_;                                       // parameters in a row: width, or features rounded up to 32
  std::vector<float> theta_, m_, v_, root_;             // [rows][row_width]; the linear policy is one row
  std::vector<std::int32_t> last_;                      // [rows] update of the last visit, -1 = never
  std::vector<std::vector<std::uint32_t>> visited_at_;  // rows by last visit, when some can be overdue
  std::vector<RowVisit> visits_, by_age_;               // of the batch; the same in order of n
  std::vector<float> logits_, bias_;                    // linear: [B][width], [width]
  std::vector<float> probability_, cumulative_, total_, logit_gradient_, gradient_, peek_;
  std::vector<float> old_probability_, coefficient_;  // [B][G]
  std::vector<std::uint32_t> prompt_;            // of the batch
  SoftmaxRows rows_{};
};

// Where a tilted policy starts: logits = tilt x value, or the linear policy nearest to them.

/// The least-squares fit of values by features, both centred within each prompt (a softmax does not feel what a prompt's actions share):
/// theta minimises sum over prompts p and actions a of (v_pa - mean_a v_p - (x_pa - mean_a x_p) . theta)^2. By normal equations and
/// Cholesky's decomposition in double, with + - * / sqrt alone: the same bits on every machine. Values are [P][width], as features are.
///
/// 1e-9 of the mean of the matrix's diagonal is added to the diagonal, so that there is a solution where the features of all responses
/// span fewer than F dimensions. Zeros where no features differ.
std::vector<double> fit_linear(const PolicyShape& shape, const float* value);

/// The parameters of a policy with logits tilt x value: of a tabular one [P][width]; of a linear one tilt x `fit` (fit_linear()).
std::vector<float> tilted_parameters(PolicyKind kind, const PolicyShape& shape, const float* value, std::span<const double> fit,
                                     double tilt);

}  // namespace odrpo
