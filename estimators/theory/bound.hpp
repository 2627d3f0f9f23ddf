// Computes the best possible advantages for one policy and one judge, as a function of a group's scores, and how far estimators stay below.
#pragma once
#include <span>
#include <vector>

#include "estimators/posterior/posterior.hpp"
#include "estimators/theory/setting.hpp"

namespace odrpo {

/// A prompt: the policy's probabilities of its actions, the distribution of each action's score, and gradients by the policy's parameters.
struct BoundPrompt {
  std::vector<double> policy;    ///< [actions] probability of the action
  std::vector<double> channel;   ///< [actions][levels] P(score k | action)
  std::vector<double> score;     ///< [actions][parameters] s = grad log pi(action), no judge's score; its mean under the policy is 0
  std::vector<double> gradient;  ///< [parameters] g*, gradient of the true quality; of this prompt's alone if it has parameters of its own
};

/// Equally likely prompts, and batches of groups of `members` rollouts.
struct BoundProblem {
  int levels = 0, members = 0;
  bool shared = false;  ///< all prompts share their parameters; else each prompt has its own, and a batch has every prompt once
  int batch = 1;        ///< B, prompts of a batch, drawn independently; changes UpdateMoments' R only if parameters are shared
  std::vector<BoundPrompt> prompts;
  std::size_t parameters() const { return prompts.front().gradient.size(); }
};

/// Moments of the update u = sum over a batch's groups and members of A(h, k) s, s and g* as in BoundPrompt. The map A has an advantage for
/// each histogram h of a group's scores and each score k in it (HistogramIndex). Its efficiency is R(A) = (E<u, g*>)^2 / (E|u|^2 |g*|^2): on
/// a spherical loss, the share that a step along u gains of what a step along g* gains, each at its best length. Notation: b(h, k) = E[1_h
/// sum over members i with score k of <s_i, g*>]; S = E of the sums of <s_i, s_j>, block-diagonal in h; M A = E of one group's update. Up to
/// factors of B, E<u, g*> = b'A and E|u|^2 = A'(S + (B - 1) M'M)A; the second term is 0 if prompts have parameters of their own.
class UpdateMoments {
 public:
  /// Throws Failure(Exit::limits) where `levels` and `members` give too many histograms.
  static void check_size(int levels, int members);
  /// Sums over the prompts and their histograms; leaves out histograms of a probability below 1e-13. Throws as check_size().
  explicit UpdateMoments(const BoundProblem& problem);
  const HistogramIndex& index() const { return index_; }
  double probability(std::size_t histogram) const { return probability_[histogram]; }  ///< of a histogram; mean over prompts
  /// The map A that maximises R: a solution of (S + (B - 1) M'M) A = b; 0 for histograms that never occur.
  std::vector<double> best_map() const;
  /// The efficiency R of a map [entries of index()]; NaN if the map is 0 everywhere.
  double efficiency(std::span<const double> map) const;
  /// |E u|^2 of each map, in the units of E|u|^2 in efficiency(), for the problem of the constructor. R(A) is then the product of `aligned` =
  /// (E<u, g*>)^2 / (|E u|^2 |g*|^2), which is 1 for a map without bias, and |E u|^2 / E|u|^2, which noise makes small.
  std::vector<double> mean_squares(const BoundProblem& problem, std::span<const std::vector<double>> maps) const;
  double aligned(std::span<const double> map, double mean_square) const;
  /// Returns the map times the factor that gives the members' advantages a mean square of 1.
  std::vector<double> scaled(std::vector<double> map) const;

 private:
  double along(std::span<const double> map) const;               ///< b'A
  double shared_mean_square(std::span<const double> map) const;  ///< |M A|^2
  void add_prompt(const BoundProblem& problem, const BoundPrompt& prompt);
  void solve_block(std::size_t histogram, std::span<const double> right, std::size_t columns, std::span<double> out) const;
  HistogramIndex index_;
  bool shared_;
  double batch_, weight_, goal_square_ = 0;
  std::size_t parameters_;
  std::vector<double> probability_;    ///< [histograms] mean over prompts
  std::vector<double> along_;          ///< b [entries]
  std::vector<double> seen_;           ///< [entries] expected number of members of a group that have the histogram and the score
  std::vector<std::size_t> block_;     ///< [histograms + 1] where the histogram's block of S begins in gram_
  std::vector<double> gram_;           ///< S: for each histogram a block [its entries][its entries]
  std::vector<double> mean_;           ///< M' [entries][parameters]; empty if parameters are not shared
};

/// An estimator's advantages as a map [entries of `index`], on levels with these values. Throws Failure(Exit::limits) for a setting that
/// theory_refusal() refuses.
std::vector<double> estimator_map(const EstimatorConfig& config, std::span<const double> values, const HistogramIndex& index);

/// What mean_cosines() estimates for each map: E cos(u, g*), u and g* of UpdateMoments, from the first `batches` batches of the random key
/// `key`. All maps share these batches. If each prompt has parameters of its own, g* is the gradient for the prompts of the batch.
struct MeanCosine {
  double mean = 0, error = 0;   ///< mean cosine, and its standard error
  double less = 0, less_error = 0;  ///< mean difference from the first map's cosine, and its standard error
};
std::vector<MeanCosine> mean_cosines(const BoundProblem& problem, const HistogramIndex& index,
                                     std::span<const std::vector<double>> maps, int batches, std::uint64_t key);

/// Searches from the map `from` (not 0 everywhere) for a map with a higher expected cosine, and returns it: Newton's steps with a diagonal
/// Hessian. Entries whose slope is within its noise do not move. Uses `steps` batches of the random key `key`. Half of them choose the
/// step length: a step is taken only if it gains more than twice its standard error. Without any step it returns `from`, scaled.
std::vector<double> improve_cosine(const BoundProblem& problem, const UpdateMoments& moments, const std::vector<double>& from, int steps,
                                   std::uint64_t key);

// Posterior estimators as maps from a group's scores to advantages.

/// The advantages of a posterior estimator with this model and prior, as a map [entries of `index`]; scores are 1..K.
std::vector<double> posterior_map(const EstimatorConfig& config, const ScoreModel& model, const StatePrior& prior, const HistogramIndex& index);

/// The prior that training with prior = "following" reaches if the policy stays as it is, by `rounds` steps of EM: P(state) <- mean over
/// groups of P(state | group). One step moves the prior about as far as 1 / (1 - keep) batches of training do.
StatePrior followed_prior(const ScoreModel& model, const UpdateMoments& moments, int rounds);

}  // namespace odrpo
