// Computes the score distributions of a world and the gradients of the policy's log-probabilities, for the bound on advantages.
#include "train/worlds/bound_world.hpp"

#include <algorithm>
#include <atomic>

#include "envs/bandit/channel.hpp"
#include "kernels/math.hpp"
#include "policies/softmax/policy.hpp"

namespace odrpo {
namespace {

std::size_t size_of(int n) { return static_cast<std::size_t>(n); }

/// Softmax of logits.
std::vector<double> softmax(std::vector<double> logit) {
  const double most = *std::max_element(logit.begin(), logit.end());
  double total = 0;
  for (double& x : logit) total += x = math::exp(x - most);
  for (double& x : logit) x /= total;
  return logit;
}

/// One world, in the form that bound_problem() reads.
struct Parts {
  const BoundWorld& of;
  BanditWorld world;
  RatedWorld rated;
  int outcomes;
  std::vector<float> parameters;  ///< of the policy; empty when it is uniform

  std::size_t cell(std::size_t p, std::size_t a) const { return p * size_of(world.width) + a; }
  bool linear() const { return of.policy.kind == PolicyKind::linear; }
  double feature(std::size_t p, std::size_t d, std::size_t a) const {
    return world.feature[(p * size_of(world.features) + d) * size_of(world.width) + a];
  }

  std::vector<double> policy(std::size_t p) const {
    std::vector<double> logit(size_of(world.actions), 0.0);
    for (std::size_t a = 0; a < logit.size() && !parameters.empty(); ++a) {
      if (!linear()) logit[a] = parameters[cell(p, a)];
      else
        for (std::size_t d = 0; d < parameters.size(); ++d) logit[a] += parameters[d] * feature(p, d, a);
    }
    return softmax(std::move(logit));
  }

  /// Returns P(score | action) of prompt p, [action][score]; of a panel that takes turns, the mean over the turns.
  std::vector<double> channel(std::size_t p) const {
    std::vector<double> distribution(size_of(outcomes)), rows;
    const std::size_t turns = size_of(rated.turns), cells = world.quality16.size();
    for (std::size_t a = 0; a < size_of(world.actions); ++a) {
      std::vector<double> row(distribution.size(), 0.0);
      for (std::size_t turn = 0; turn < turns; ++turn) {
        distribution_of_row(rated, rated.row[turn * cells + cell(p, a)], distribution);
        for (std::size_t k = 0; k < row.size(); ++k) row[k] += distribution[k] / static_cast<double>(turns);
      }
      rows.insert(rows.end(), row.begin(), row.end());
    }
    return rows;
  }

  BoundPrompt prompt(std::size_t p) const {
    BoundPrompt out;
    const std::size_t actions = size_of(world.actions), features = size_of(linear() ? world.features : world.actions);
    out.policy = policy(p);
    out.channel = channel(p);
    double value = 0;
    std::vector<double> mean(features, 0.0);
    const auto x = [&](std::size_t a, std::size_t d) { return linear() ? feature(p, d, a) : a == d ? 1.0 : 0.0; };
    for (std::size_t a = 0; a < actions; ++a) {
      value += out.policy[a] * static_cast<double>(world.quality[cell(p, a)]);
      for (std::size_t d = 0; d < features; ++d) mean[d] += out.policy[a] * x(a, d);
    }
    out.gradient.resize(features);
    for (std::size_t a = 0; a < actions; ++a) {
      const double above = out.policy[a] * (static_cast<double>(world.quality[cell(p, a)]) - value);
      for (std::size_t d = 0; d < features; ++d) {
        out.score.push_back(x(a, d) - mean[d]);
        out.gradient[d] += above * x(a, d);
      }
    }
    return out;
  }
};

Parts make_parts(const BoundWorld& of) {
  const std::atomic<bool> never{false};
  const bool linear = of.policy.kind == PolicyKind::linear;
  RaterConfig rater = of.rater;
  rater.sampling = sampling_of(rater, of.votes) == Sampling::draws && panel_size(rater.noise) > 1 ? Sampling::draws : Sampling::law;
  Parts parts{of, make_bandit(of.env, resolve_source(of.env, rater), of.key, linear), {}, 0, {}};
  DistributionCache distributions(rater, of.env.levels, of.votes);
  parts.rated = *rate_world(parts.world, rater, of.votes, of.key, distributions, never);
  parts.outcomes = distributions.outcomes().count;
  if (of.policy.tilt > 0) {
    const BanditWorld& w = parts.world;
    const PolicyShape shape{w.prompts, w.actions, w.width, of.batch, of.members, w.features, w.feature.empty() ? nullptr : w.feature.data()};
    std::vector<double> fit;
    if (linear) fit = fit_linear(shape, w.quality.data());
    parts.parameters = tilted_parameters(of.policy.kind, shape, w.quality.data(), fit, of.policy.tilt);
  }
  return parts;
}

}  // namespace

BoundProblem bound_problem(const BoundWorld& of) {
  const Parts parts = make_parts(of);
  BoundProblem problem{of.env.levels, of.members, parts.linear(), of.batch, {}};
  for (std::size_t p = 0; p < size_of(of.env.prompts); ++p) problem.prompts.push_back(parts.prompt(p));
  if (!problem.shared) return problem;
  // prompts share the parameters of a linear policy, so each gets the gradient of the mean over prompts
  std::vector<double> mean(problem.parameters(), 0.0);
  for (const BoundPrompt& prompt : problem.prompts)
    for (std::size_t d = 0; d < mean.size(); ++d) mean[d] += prompt.gradient[d] / static_cast<double>(problem.prompts.size());
  for (BoundPrompt& prompt : problem.prompts) prompt.gradient = mean;
  return problem;
}

}  // namespace odrpo
