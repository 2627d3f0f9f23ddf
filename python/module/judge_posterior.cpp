// Makes the model of a rater once for each size of group, and computes posterior scores group by group.
#include "python/module/judge_posterior.hpp"

#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "app/compute/arguments.hpp"
#include "estimators/estimator.hpp"

namespace odrpo::python {
namespace {

constexpr std::size_t most_members = 4096, most_models = 8;

PriorRule prior_named(std::string_view word) {
  if (const auto rule = find_word<PriorRule>(prior_words, word)) return *rule;
  throw app::Refusal{"out_of_range", "prior: is one of " + joined(prior_words, &Word<PriorRule>::word)};
}

}  // namespace

JudgePosterior::JudgePosterior(std::string_view rater, std::string_view prior, int levels)
    : rater_(&app::believed_rater(rater)), prior_(prior_named(prior)), levels_(levels) {
  if (levels < 2 || levels > 100) throw app::Refusal{"out_of_range", fmt::format("levels: {} is not in 2 .. 100", levels)};
}

JudgePosterior::JudgePosterior(ScoreModel model) {
  const std::size_t size = model.states() * static_cast<std::size_t>(model.scores);
  if (size == 0 || model.per_level < 1 || model.likelihood.size() != size || model.expected.size() != size || model.variance.size() != size)
    throw app::Refusal{"out_of_range", "tables: likelihood, expected and variance are [states, scores], prior [states]"};
  models_[0] = with_prior(std::move(model), PriorRule::fixed);
}

std::shared_ptr<const JudgePosterior::Model> JudgePosterior::with_prior(ScoreModel model, PriorRule rule) {
  PosteriorScores scores(model);
  StatePrior prior = app::first_prior(model.prompts, rule);
  return std::make_shared<const Model>(Model{std::move(model), std::move(scores), std::move(prior)});
}

std::shared_ptr<const JudgePosterior::Model> JudgePosterior::model_for(std::size_t members) {
  if (rater_ == nullptr) return models_.at(0);
  if (members > most_members) throw app::Refusal{"too_large", fmt::format("scores: a group has at most {} members", most_members)};
  const std::lock_guard hold(mutex_);
  if (models_.size() >= most_models && !models_.contains(members)) models_.clear();
  std::shared_ptr<const Model>& model = models_[members];
  if (model == nullptr) model = with_prior(app::first_score_model(*rater_, levels_, 1, prior_, static_cast<int>(members)), prior_);
  return model;
}

template <class Real>
void JudgePosterior::values(const Scores& scores, std::span<Real> out) {
  if (out.empty()) return;
  const std::size_t members = scores.members();
  const auto now = model_for(members);
  const double lowest = now->model.lowest, highest = lowest + (now->model.scores - 1.0) / now->model.per_level;
  PosteriorGroup group(now->scores);
  std::vector<double> score(members), value(members);
  std::vector<int> number(members);
  for (std::size_t g = 0; g < scores.groups(); ++g) {
    scores.read(g, 1, score);
    for (std::size_t i = 0; i < members; ++i) {
      const double x = score[i];
      if (!std::isnan(x) && !(x >= lowest && x <= highest && (now->model.per_level > 1 || x == std::floor(x))))
        throw BadScore(fmt::format("scores[{}, {}]: {} is not one of the scores {} .. {} of this judge", g, i, x, lowest, highest));
      number[i] = std::isnan(x) ? -1 : now->model.number_of(x);
    }
    group.values(now->scores, now->prior, number, value);
    std::copy(value.begin(), value.end(), out.begin() + static_cast<std::ptrdiff_t>(g * members));
  }
}

template void JudgePosterior::values(const Scores&, std::span<float>);
template void JudgePosterior::values(const Scores&, std::span<double>);

}  // namespace odrpo::python
