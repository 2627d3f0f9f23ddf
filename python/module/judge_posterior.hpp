// Computes posterior scores of arrays of groups for Python, under the model of a rater in its own world.
#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>

#include "app/compute/first_posterior.hpp"
#include "estimators/posterior/posterior.hpp"
#include "python/module/scores.hpp"

namespace odrpo::python {

/// E[quality | own score, all scores of the group], of one score each, as the function `posterior_scores` of `compute` has it. Safe from any thread.
/// Remembers the models of a few sizes of groups.
class JudgePosterior {
 public:
  /// `rater`: a catalogue word; `prior`: fixed, following or moments, as a run begins; `levels` 2..100. Throws app::Refusal for other values.
  JudgePosterior(std::string_view rater, std::string_view prior, int levels);
  /// Of groups of any size under this model, as `export-estimator` writes it. Throws app::Refusal for tables of other sizes.
  explicit JudgePosterior(ScoreModel model);
  /// Sets out[groups][members] to posterior scores, in levels; missing ones become NaN. Throws BadScore for a score that the rater cannot give.
  template <class Real>
  void values(const Scores& scores, std::span<Real> out);

 private:
  struct Model {
    ScoreModel model;
    PosteriorScores scores;
    StatePrior prior;
  };
  static std::shared_ptr<const Model> with_prior(ScoreModel model, PriorRule rule);
  std::shared_ptr<const Model> model_for(std::size_t members);

  const RaterConfig* rater_ = nullptr;  ///< null: the model is given
  PriorRule prior_ = PriorRule::fixed;
  int levels_ = 0;
  std::mutex mutex_;  ///< of what follows
  std::map<std::size_t, std::shared_ptr<const Model>> models_;  ///< by size of group; of a given model one, of size 0
};

}  // namespace odrpo::python
