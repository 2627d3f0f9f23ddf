// Fits the prior over kinds of prompts to groups of scores, and draws true qualities from their posterior.
#include "train/rollouts/quality_posterior.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>

#include "config/catalogue/prior_grid.hpp"
#include "envs/bandit/world.hpp"
#include "envs/rater/noise.hpp"
#include "kernels/math.hpp"

namespace odrpo {
namespace {

BanditConfig world_with(int levels) {
  BanditConfig world;
  world.levels = levels;
  return world;
}

BelievedPrompts believed_by(const RaterConfig& rater, int levels, int members, int most_votes) {
  const BanditConfig world = world_with(levels);
  const PriorRule rule = scored_responses(rater.noise) != nullptr ? PriorRule::following : PriorRule::moments;
  return believe_prompts(resolve_source(world, rater), levels, prior_grid(rule, world, rater, most_votes, members));
}

constexpr std::size_t lanes = 4;  ///< sums that are added up side by side
constexpr double least_centre_variance = 1e-4, least_spread_variance = 1e-3, most_correlation = 0.95;  ///< of a fitted prior

/// The first place at which the running sums exceed u times the last of them.
std::size_t place_of(std::span<const double> sums, double u) {
  const auto at = static_cast<std::size_t>(std::upper_bound(sums.begin(), sums.end(), u * sums.back()) - sums.begin());
  return std::min(at, sums.size() - 1);
}

/// Replaces probabilities p of the states by those of a normal distribution of (centre, log spread) that has the mean and the covariance of p.
void make_normal(const PromptStates& states, std::span<double> p) {
  const std::vector<double>&b = states.centre, &s = states.log_spread;
  double mean_b = 0, mean_s = 0, bb = 0, ss = 0, bs = 0, total = 0;
  for (std::size_t c = 0; c < p.size(); ++c) mean_b += p[c] * b[c], mean_s += p[c] * s[c];
  for (std::size_t c = 0; c < p.size(); ++c) {
    bb += p[c] * (b[c] - mean_b) * (b[c] - mean_b);
    ss += p[c] * (s[c] - mean_s) * (s[c] - mean_s);
    bs += p[c] * (b[c] - mean_b) * (s[c] - mean_s);
  }
  bb = std::max(bb, least_centre_variance);
  ss = std::max(ss, least_spread_variance);
  bs = std::clamp(bs, -most_correlation * math::sqrt(bb * ss), most_correlation * math::sqrt(bb * ss));
  const double determinant = bb * ss - bs * bs;
  for (std::size_t c = 0; c < p.size(); ++c) {
    const double x = b[c] - mean_b, y = s[c] - mean_s;
    total += p[c] = math::exp(std::max(-0.5 * (x * x * ss - 2 * x * y * bs + y * y * bb) / determinant, log_never));
  }
  for (double& x : p) x /= total;
}

}  // namespace

QualityPosterior::QualityPosterior(const RaterConfig& rater, int levels, int votes, int members, int most_votes)
    : believed_(believed_by(rater, levels, members, std::max(votes, most_votes))),
      rows_(make_score_rows(rater, believed_, levels, votes)),
      model_(make_score_model(believed_, rows_), best_isa()),
      group_(model_.scores) {}

std::size_t QualityPosterior::bytes() const {
  std::size_t members = 0;
  for (std::size_t c = 0; c < model_.model.states(); ++c) members += believed_.members(c).size();
  return model_.bytes() + rows_.probability.size() * sizeof(double) + believed_.quality.size() * sizeof(double) + members * sizeof(BelievedPrompts::Member);
}

PriorFit::PriorFit(QualityPosterior& posterior, const std::vector<std::vector<int>>& groups) : prompts_(posterior.model().prompts), groups_(groups.size()) {
  const std::vector<double> even(prompts_.size(), 1.0 / static_cast<double>(prompts_.size()));
  const StatePrior uniform(even);
  likelihood_.reserve(groups.size() * prompts_.size());
  for (const std::vector<int>& observed : groups) {
    const auto weights = posterior.observe(uniform, observed);
    likelihood_.insert(likelihood_.end(), weights.begin(), weights.end());
  }
}

std::vector<double> PriorFit::fit(std::vector<double> p, std::span<const double> times, int rounds) const {
  const std::size_t states = p.size();
  std::vector<double> next(states);
  double all = 0;
  for (std::size_t g = 0; g < groups_; ++g) all += times.empty() ? 1 : times[g];
  for (int round = 0; round < rounds && all > 0; ++round) {
    std::fill(next.begin(), next.end(), 0.0);
    for (std::size_t g = 0; g < groups_; ++g) {
      const double count = times.empty() ? 1 : times[g];
      if (count == 0) continue;
      const double* likelihood = &likelihood_[g * states];
      double sum[lanes] = {};
      for (std::size_t c = 0; c < states; ++c) sum[c % lanes] += p[c] * likelihood[c];
      double total = 0;
      for (const double x : sum) total += x;
      const double factor = total > 0 ? count / (all * total) : 0;
      for (std::size_t c = 0; c < states; ++c) next[c] += factor * p[c] * likelihood[c];
    }
    if (!prompts_.centre.empty()) make_normal(prompts_, next);
    p.swap(next);
  }
  return p;
}

std::vector<double> PriorFit::start() const {
  StatePrior prior(prompts_.prior);
  if (!prompts_.centre.empty()) prior.set_moments(prompts_, prompts_.moments);
  return {prior.probability().begin(), prior.probability().end()};
}

std::span<const double> QualityPosterior::observe(const StatePrior& prior, std::span<const int> observed) {
  observed_.assign(observed.begin(), observed.end());
  order_.resize(observed.size());
  std::iota(order_.begin(), order_.end(), 0u);
  std::stable_sort(order_.begin(), order_.end(), [&](auto a, auto b) { return observed_[a] < observed_[b]; });
  value_.resize(observed.size());
  group_.values(model_.scores, prior, observed, value_);
  reached_.clear();
  return group_.weights();
}

void QualityPosterior::draw(UniformStream& random, std::span<std::uint32_t> quality) {
  if (reached_.empty()) std::partial_sum(group_.weights().begin(), group_.weights().end(), std::back_inserter(reached_));
  const auto members = believed_.members(place_of(reached_, random.next()));
  int summed = -1;  // the score of which sums_ are
  for (const std::uint32_t i : order_) {
    if (observed_[i] != summed) {
      summed = observed_[i];
      double sum = 0;
      sums_.clear();
      for (const BelievedPrompts::Member& m : members) sums_.push_back(sum += m.probability * rows_.of(m.response)[static_cast<std::size_t>(summed)]);
      if (sum == 0)  // the model gives the state no such score, so that it says nothing about the quality
        for (std::size_t j = 0; j < members.size(); ++j) sums_[j] = sum += members[j].probability;
    }
    quality[i] = members[place_of(sums_, random.next())].response;
  }
}

}  // namespace odrpo
