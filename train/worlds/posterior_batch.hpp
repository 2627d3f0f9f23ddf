// Declares the posterior scores of a batch (estimators/posterior/posterior.hpp), and the prior that follows the policy while a run trains.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "estimators/batch.hpp"
#include "estimators/posterior/float_groups.hpp"
#include "estimators/posterior/posterior.hpp"
#include "kernels/group_table.hpp"

namespace odrpo {

/// A model of a judge, with the tables from which posterior scores are computed.
struct PosteriorModel {
  ScoreModel model;
  PosteriorScores scores;
  std::optional<FloatScores> floats;  ///< for a prior that moves while a run trains
  /// `members`: of a group, for `floats`; 0 = without them.
  PosteriorModel(ScoreModel of, Isa isa, int members = 0) : model(std::move(of)), scores(model, isa) {
    if (members > 0) floats.emplace(scores, members);
  }
  std::size_t bytes() const { return model.bytes() + scores.bytes() + (floats ? floats->bytes() : 0); }
};

/// What the runs of one posterior estimator share. `model` or `votes` is set; both are null for any other estimator.
struct PosteriorTables {
  std::shared_ptr<const PosteriorModel> model;  ///< a model that reads one score of each response
  std::shared_ptr<const PosteriorVotes> votes;  ///< a model that reads all votes of each response
  /// Table of the advantages of every histogram of a group's scores; null unless the prior is fixed and rewards are integer scores.
  std::shared_ptr<const HistogramTable> advantages;
  const GroupTableStages* look_up = nullptr;  ///< functions that look up `advantages`

  bool any() const { return model || votes; }
  const PromptStates& prompts() const { return votes ? votes->model().prompts : model->model.prompts; }
  /// Returns the number of judges whose votes the model tells apart; 1 = it tells none apart.
  int judges() const { return votes ? votes->model().judges : 1; }
};
/// Makes the table of advantages of every histogram of `rollouts` scores on 1..levels, under the model's prior. `estimator`: made from the
/// form of `config`. Null where groups of this size and number of levels can have no table (GroupNames::possible()).
std::shared_ptr<const HistogramTable> posterior_table(const EstimatorConfig& config, const PosteriorModel& model,
                                                      const BatchEstimator& estimator, int levels, int rollouts);

/// Computes the posterior scores of one run, batch by batch.
class PosteriorBatch {
 public:
  /// Makes it for groups of `rollouts` responses.
  PosteriorBatch(const EstimatorConfig& config, const PosteriorTables& tables, int rollouts);
  /// Looks up the advantages out[groups][rollouts] of integer scores. Returns false where there is no table (PosteriorTables::advantages).
  bool look_up(const std::uint8_t* score, int groups, float* out) const;
  /// Call before each batch: moves a prior that follows the policy towards what the last batch showed.
  void begin_batch();
  const StatePrior& prior() const { return prior_; }
  /// Computes value[groups][rollouts], the posterior means of quality, from score[groups][rollouts] (integer or real); NaN where a score is
  /// missing. Sets floor[groups] to floor_squared() (estimators/estimator.hpp). Keeps what the groups show of their prompts, for the prior.
  template <class T>
  void values(const T* score, int groups, double* value, double* floor);
  /// As values(), but from all votes seen[groups][rollouts][votes]. judge[groups]: who answers the first call about a prompt's responses,
  /// where the model tells judges apart; else empty.
  void values_of_votes(const std::uint8_t* seen, int votes, std::span<const int> judge, int groups, double* value, double* floor);

  /// Saves the state to a checkpoint's archive, or loads it (train/checkpoint/checkpoint.hpp).
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
  void add_moments(std::span<const double> weights, double square);
  PosteriorTables tables_;
  StatePrior prior_;
  std::optional<PosteriorGroup> group_;  ///< for a fixed prior, and where floats do not suffice (least_ratio())
  std::optional<PosteriorGroups> groups_of_batch_;  ///< for other priors
  std::optional<PosteriorVoteGroup> vote_group_;
  EstimatorConfig config_;
  bool variance_;  ///< the floor needs the posterior variance
  WorldMoments moments_,
      seen_{};               ///< rule `moments` (x, b: WorldMoments): in use; sums over the last groups of E[y | group], y = b, b^2, (x - b)^2
  int groups_ = 0;           ///< number of groups of the last values()
  std::vector<double> sum_;  ///< [states] sum of P(state | group) over those groups
  std::size_t rollouts_;
  std::vector<int> number_;         ///< [groups][rollouts] scratch: number of each score in the model, -1 = missing
  std::vector<int> integer_number_;  ///< [256] number of each integer score
};

}  // namespace odrpo
