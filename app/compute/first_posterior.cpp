// Computes posterior scores of a group by a model of its rater, before the first batch of a run.
#include "app/compute/first_posterior.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "app/compute/arguments.hpp"
#include "config/catalogue/prior_grid.hpp"
#include "envs/bandit/believed.hpp"
#include "estimators/posterior/posterior.hpp"
#include "kernels/shared/judge_model.hpp"

namespace odrpo::app {
namespace {

BanditConfig world_of(int levels) {
  BanditConfig world;
  world.levels = levels;
  return world;
}

}  // namespace

const RaterConfig& believed_rater(std::string_view word) {
  std::vector<std::string_view> words;
  for (const RaterPreset& rater : rater_presets()) {
    if (same_word(rater.word, word) && rater_levels(rater.config) == 0) return rater.config;
    if (rater_levels(rater.config) == 0) words.push_back(rater.word);
  }
  throw Refusal{"out_of_range", fmt::format("rater: is one of {}", fmt::join(words, ", "))};
}

ScoreModel first_score_model(const RaterConfig& rater, int levels, int votes, PriorRule rule, int members) {
  const BanditConfig world = world_of(levels);
  return make_score_model(rater, resolve_source(world, rater), levels, votes, prior_grid(rule, world, rater, votes, members));
}

StatePrior first_prior(const PromptStates& prompts, PriorRule rule) {
  StatePrior prior(prompts.prior);
  if (rule == PriorRule::moments) prior.set_moments(prompts, prompts.moments);
  return prior;
}

FirstScores first_posterior_scores(const RaterConfig& rater, int levels, PriorRule rule, std::span<const int> scores) {
  const ScoreModel model = first_score_model(rater, levels, 1, rule, static_cast<int>(scores.size()));
  const PosteriorScores posterior(model);
  std::vector<int> numbers;
  for (const int score : scores) numbers.push_back(model.number_of(score));
  FirstScores first{std::vector<double>(numbers.size())};
  first.variance = PosteriorGroup(posterior).values_and_variance(posterior, first_prior(model.prompts, rule), numbers, first.values);
  return first;
}

std::vector<double> first_posterior_of_votes(const RaterConfig& rater, int levels, PriorRule rule,
                                             const std::vector<std::vector<int>>& votes) {
  const BanditConfig world = world_of(levels);
  std::size_t most = 1;
  for (const auto& of_response : votes) most = std::max(most, of_response.size());
  const int calls = static_cast<int>(most), members = static_cast<int>(votes.size());
  const PosteriorVotes posterior(
      make_call_model(rater, resolve_source(world, rater), levels, calls, prior_grid(rule, world, rater, calls, members)), best_isa());
  std::vector<std::uint8_t> seen(votes.size() * most, no_score);
  for (std::size_t i = 0; i < votes.size(); ++i)
    for (std::size_t v = 0; v < votes[i].size(); ++v) seen[i * most + v] = static_cast<std::uint8_t>(votes[i][v]);
  std::vector<double> values(votes.size());
  PosteriorVoteGroup(posterior).values(posterior, first_prior(posterior.model().prompts, rule), seen, 0, values);
  return values;
}

}  // namespace odrpo::app
