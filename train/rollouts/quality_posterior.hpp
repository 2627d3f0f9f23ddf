// Declares the posterior of the true qualities of a group of scores, under the model of a judge that posterior estimators have.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "envs/bandit/believed.hpp"
#include "envs/rater/rater.hpp"
#include "estimators/estimator.hpp"
#include "estimators/posterior/posterior.hpp"
#include "kernels/purpose.hpp"
#include "kernels/random.hpp"
#include "train/worlds/posterior_batch.hpp"

namespace odrpo {

/// Uniform random numbers in [0, 1), one after the other: the words of the counters (purpose, step, prompt, 0, 1, …).
class UniformStream {
 public:
  UniformStream(std::uint64_t key, Purpose purpose, std::uint32_t step, std::uint32_t prompt) : key_(key), purpose_(purpose), step_(step), prompt_(prompt) {}
  double next() {
    if (count_ % 4 == 0) words_ = odrpo::draw(key_, purpose_, step_, prompt_, count_ / 4);
    return static_cast<double>(words_.x[count_++ % 4]) * 0x1p-32;
  }

 private:
  std::uint64_t key_;
  Purpose purpose_;
  std::uint32_t step_, prompt_, count_ = 0;
  Words4 words_{};
};

/// A judge's world and scores as tables, from which true qualities are drawn. A quality is the number of a kind of response (BelievedPrompts), a score
/// its number in the model (ScoreModel::number_of()).
class QualityPosterior {
 public:
  /// `votes`: calls whose aggregate is one of the scores. `members`: scores of the largest group. `most_votes`: the most votes of which rows() will be
  /// asked. Throws as make_score_model().
  QualityPosterior(const RaterConfig& rater, int levels, int votes, int members, int most_votes = 1);

  const ScoreModel& model() const { return model_.model; }
  const PosteriorScores& scores() const { return model_.scores; }
  const BelievedPrompts& believed() const { return believed_; }
  std::size_t bytes() const;

  /// Sets P(state | group) for the scores observed[n], and returns it.
  std::span<const double> observe(const StatePrior& prior, std::span<const int> observed);
  /// Draws a state from P(state | group), and for each score of observe() a quality from P(quality | score, state).
  void draw(UniformStream& random, std::span<std::uint32_t> quality);

 private:
  BelievedPrompts believed_;
  ScoreRows rows_;
  PosteriorModel model_;
  PosteriorGroup group_;
  std::vector<int> observed_;
  std::vector<std::uint32_t> order_;  ///< of observed_ by score: equal ones share a table
  std::vector<double> value_, reached_, sums_;  ///< reached_: running sums of P(state | group); sums_: of P(quality, score | state)
};

/// Fits the prior over kinds of prompts to groups of scores by EM: P(c) <- mean over groups of P(c | group). In a world where quality is normal, a step then
/// makes P normal in (centre, log spread), with its means, variances and correlation: the policy of a training moves all of them. A file's prompts keep
/// any P.
class PriorFit {
 public:
  PriorFit(QualityPosterior& posterior, const std::vector<std::vector<int>>& groups);
  /// The prior of the judge's own world.
  std::vector<double> start() const;
  /// So many steps from the prior p. times[groups]: how often each group counts; empty = once.
  std::vector<double> fit(std::vector<double> p, std::span<const double> times, int rounds) const;
  std::size_t groups() const { return groups_; }

 private:
  const PromptStates& prompts_;
  std::size_t groups_;
  std::vector<double> likelihood_;  ///< [groups][states] P(group | state), up to a factor of the group
};
inline constexpr int prior_rounds = 200, again_rounds = 60;  ///< EM steps from the judge's own prior, and from one that was fitted to nearly the same groups

}  // namespace odrpo
