// Computes the best map from a group's scores to advantages, for one policy and one judge, and how far an estimator stays below it.
#pragma once
#include <span>
#include <vector>

#include "estimators/posterior/posterior.hpp"
#include "estimators/theory/setting.hpp"

namespace odrpo {

/// A prompt: actions drawn from a policy, the distribution of their scores, and the gradients by the policy's parameters.
struct BoundPrompt {
  std::vector<double> policy;    ///< [actions] probability
  std::vector<double> channel;   ///< [actions][levels] P(score k | action)
  std::vector<double> score;     ///< [actions][parameters] s = grad log pi(action); its mean under the policy is 0
  std::vector<double> gradient;  ///< [parameters] g*, the gradient of true quality: the prompt's own part where parameters are its own
};

/// Equally likely prompts, groups of `members`.
struct BoundProblem {
  int levels = 0, members = 0;
  bool shared = false;  ///< all prompts share their parameters; else each prompt has its own, and a batch has every prompt once
  int batch = 1;        ///< B, prompts of a batch, drawn independently; decides R only where parameters are shared
  std::vector<BoundPrompt> prompts;
  std::size_t parameters() const { return prompts.front().gradient.size(); }
};

/// Moments of the update u = sum over a batch's groups and members of A(h, k) s. A is a map with an entry for each (histogram, score)
/// (HistogramIndex). R(A) = (E<u, g*>)^2 / (E|u|^2 |g*|^2), 0..1: what a step along u gains, as a share of what a step along g* gains. Each
/// step has the best length, and the loss is a sphere. Notation: b(h, k) = E[1_h sum over i with score k of <s_i, g*>]; S = E of the sums
/// of <s_i, s_j>, block-diagonal in h; M A = E of one group's update. Up to factors of B, E<u, g*> = b'A and
/// E|u|^2 = A'(S + (B - 1) M'M)A; the second term is 0 where prompts have parameters of their own.
class UpdateMoments {
 public:
  /// Throws Failure(Exit::limits) where `levels` and `members` give too many histograms.
  static void check_size(int levels, int members);
  /// Sums over the prompts' histograms of at least probability 1e-13. Failure as check_size().
  explicit UpdateMoments(const BoundProblem& problem);
  const HistogramIndex& index() const { return index_; }
  double probability(std::size_t histogram) const { return probability_[histogram]; }  ///< mean over prompts
  /// A solution of (S + (B - 1) M'M) A = b, which maximises R; 0 where a histogram never occurs.
  std::vector<double> best_map() const;
  /// R of a map [entries]; NaN where it is 0 everywhere.
  double efficiency(std::span<const double> map) const;
  /// The map times the factor that makes its mean square 1 over the scores that occur.
  std::vector<double> scaled(std::vector<double> map) const;

 private:
  void add_prompt(const BoundProblem& problem, const BoundPrompt& prompt);
  void solve_block(std::size_t histogram, std::span<const double> right, std::size_t columns, std::span<double> out) const;
  HistogramIndex index_;
  bool shared_;
  double batch_, weight_, goal_square_ = 0;
  std::size_t parameters_;
  std::vector<double> probability_;    ///< [histograms]
  std::vector<double> along_;          ///< b [entries]
  std::vector<double> seen_;           ///< [entries] expected members
  std::vector<std::size_t> block_;     ///< [histograms + 1] where blocks begin
  std::vector<double> gram_;           ///< S: of each histogram [its entries][its entries]
  std::vector<double> mean_;           ///< M' [entries][parameters]; empty where parameters are not shared
};

/// An estimator's map for that index, on levels of those values. Failure(Exit::limits) for what theory_refusal() refuses.
std::vector<double> estimator_map(const EstimatorConfig& config, std::span<const double> values, const HistogramIndex& index);

/// E cos(u, g*) by Monte Carlo: the first `batches` batches of that key, the same for all maps. Where each prompt has parameters of its
/// own, g* is that of the batch's prompts.
struct MeanCosine {
  double mean = 0, error = 0;   ///< and its standard error
  double less = 0, less_error = 0;  ///< mean difference from the first map, and its standard error
};
std::vector<MeanCosine> mean_cosines(const BoundProblem& problem, const HistogramIndex& index,
                                     std::span<const std::vector<double>> maps, int batches, std::uint64_t key);

/// A map with a higher expected cosine, by Newton's steps with the diagonal from a map that is not 0 everywhere. Steps follow slopes that
/// are beyond their noise. Uses `steps` batches of that key; half of them decide how far to go: only where the gain is beyond twice its
/// standard error. Without a step it is the map itself, scaled.
std::vector<double> improve_cosine(const BoundProblem& problem, const UpdateMoments& moments, const std::vector<double>& from, int steps,
                                   std::uint64_t key);

// Posterior estimators as maps from a group's scores to advantages.

/// The map of a posterior estimator with such a model and prior, whose scores are 1..K.
std::vector<double> posterior_map(const EstimatorConfig& config, const ScoreModel& model, const StatePrior& prior, const HistogramIndex& index);

/// The prior that follows a policy at rest, after `rounds` steps of EM: P(state) <- mean over groups of P(state | group). One step moves it
/// as about 1 / (1 - keep) batches do.
StatePrior followed_prior(const ScoreModel& model, const UpdateMoments& moments, int rounds);

}  // namespace odrpo
