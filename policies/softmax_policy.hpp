// A softmax policy in training: its parameters, its optimiser's state, and the scratch of one batch.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/isa.hpp"
#include "policies/optimizer.hpp"
#include "policies/policy.hpp"
#include "policies/stages.hpp"

namespace odrpo {

/// Sizes and data a policy stands on. `feature` is [P][F][width] and outlives the policy; null for the tabular one.
struct PolicyShape {
  int prompts, actions, width;
  int batch, rollouts;
  int features = 0;
  const float* feature = nullptr;
};

/// Starts uniform (all parameters 0). One step is forward, sample (any number of times), gradient, update.
class SoftmaxPolicy {
 public:
  SoftmaxPolicy(PolicyKind kind, const PolicyShape& shape, const OptimizerConfig& config, int steps, Isa isa);

  /// Begins step t = 0, 1, …: softmax rows of the batch's prompts (`count` = shape.batch different prompts) with all earlier updates
  /// applied.
  void forward(int t, const std::uint32_t* prompt);
  /// action[b][i] from word[b][blocks][4].
  void sample(const std::uint32_t* word, int blocks, std::uint16_t* action) const;
  /// Gradient of the batch objective by the parameters, to out[gradient_size()]: mean over rollouts of c_i grad ln pi(a_i),
  /// c_i = advantage_i - kl (1 - pi_ref / pi). `out` null = the policy's own buffer, which update() applies.
  void gradient(const std::uint16_t* action, const float* advantage, double kl, float* out = nullptr);
  /// Exact gradient of the batch prompts' mean expected quality by the parameters; quality is [P][width]. Same size and scale.
  void exact_gradient(const float* quality, float* out);
  /// Clips the own gradient and takes one ascent step.
  void update();

  int gradient_size() const { return static_cast<int>(gradient_.size()); }
  /// Exact means over all prompts under the current parameters; leaves the state of training alone.
  ExactMeans exact(const float* quality);
  const SoftmaxRows& rows() const { return rows_; }

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
  std::vector<std::int32_t> last_;                      // [rows] step of the last visit, -1 = never
  std::vector<std::vector<std::uint32_t>> visited_at_;  // rows by last visit, when some can be overdue
  std::vector<RowVisit> visits_, by_age_;               // of the batch; the same in order of n
  std::vector<float> logits_, bias_;                    // linear: [B][width], [width]
  std::vector<float> probability_, cumulative_, total_, logit_gradient_, gradient_, peek_;
  std::vector<std::uint32_t> prompt_;  // of the batch
  SoftmaxRows rows_{};
};

}  // namespace odrpo
