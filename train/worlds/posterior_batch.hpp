// Posterior scores of a batch (estimators/posterior/posterior.hpp), and the prior that follows the policy while a run trains.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "estimators/batch.hpp"
#include "estimators/posterior/posterior.hpp"
#include "kernels/group_table.hpp"

namespace odrpo {

/// A model of a judge made ready.
struct PosteriorModel {
  ScoreModel model;
  PosteriorScores scores;
  PosteriorModel(ScoreModel of, Isa isa) : model(std::move(of)), scores(model, isa) {}
  std::size_t bytes() const { return model.bytes() + scores.bytes(); }
};

/// What the runs of one posterior estimator share; both models are null for every other estimator.
struct PosteriorTables {
  std::shared_ptr<const PosteriorModel> model;  ///< of one score of each response
  std::shared_ptr<const PosteriorVotes> votes;  ///< or of all its votes
  /// Advantages of every histogram, where the prior is fixed and rewards are integer scores; null where there is none.
  std::shared_ptr<const HistogramTable> advantages;
  const GroupTableStages* look_up = nullptr;  ///< of `advantages`

  bool any() const { return model || votes; }
  const PromptStates& prompts() const { return votes ? votes->model().prompts : model->model.prompts; }
  /// Judges whose votes are told apart; 1 = none are.
  int judges() const { return votes ? votes->model().judges : 1; }
};
/// Advantages of every histogram of `rollouts` scores on 1..levels under the model's prior, `estimator` made of the config's form; null where
/// such groups have no table.
std::shared_ptr<const HistogramTable> posterior_table(const EstimatorConfig& config, const PosteriorModel& model,
                                                      const BatchEstimator& estimator, int levels, int rollouts);

/// Of one run.
class PosteriorBatch {
 public:
  /// Groups of `rollouts` scores.
  PosteriorBatch(const EstimatorConfig& config, const PosteriorTables& tables, int rollouts);
  /// Looks up out[groups][rollouts] of integer scores, where the prior is fixed and there are advantages by histogram; else returns false.
  bool look_up(const std::uint8_t* score, int groups, float* out) const;
  /// A prior that follows takes over what the last batch showed.
  void begin_batch();
  /// value[groups][rollouts] of score[groups][rollouts], whole or real-valued: posterior means of quality, NaN where there is no score; and
  /// floor[groups] (floor_squared()). Remembers what the groups show of their prompts.
  template <class T>
  void values(const T* score, int groups, double* value, double* floor);
  /// The same of all votes seen[groups][rollouts][votes]; judge[groups]: who answers the first call about a prompt's responses, where
  /// judges are told apart (else empty).
  void values_of_votes(const std::uint8_t* seen, int votes, std::span<const int> judge, int groups, double* value, double* floor);

  /// What a checkpoint keeps (train/checkpoint/checkpoint.hpp).
  template <class Archive>
  void keep(Archive& archive) {
    std::vector<double> prior(prior_.probability().begin(), prior_.probability().end());
    archive(prior, sum_, groups_, moments_.mean, moments_.variance, moments_.square, seen_.mean, seen_.variance, seen_.square);
    if constexpr (Archive::loading) {
      const bool fits = prior.size() == prior_.probability().size() && sum_.size() == prior.size() && groups_ >= 0;
      archive.require(fits);
      if (fits) prior_.set(prior);
    }
  }

 private:
  void begin_groups(int groups);
  void add_group(std::span<const double> weights, double mean_square);
  PosteriorTables tables_;
  StatePrior prior_;
  std::optional<PosteriorGroup> group_;
  std::optional<PosteriorVoteGroup> vote_group_;
  EstimatorConfig config_;
  bool variance_;  ///< the floor asks for it
  WorldMoments moments_,
      seen_{};               ///< rule `moments`: in force; sums of E[b | group], E[b^2 | group] and E[(x - b)^2 | group] over those groups
  int groups_ = 0;           ///< of the last values()
  std::vector<double> sum_;  ///< [states] P(state | group) over those groups
  std::vector<int> number_;  ///< [rollouts]
};

}  // namespace odrpo
