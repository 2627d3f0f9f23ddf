// Explains logged advantages where the weights of several rewards are not known: solves for the weights, then for their factor, and keeps those that fit most.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "kernels/shared/failure.hpp"
#include "train/rollouts/advantages.hpp"
#include "train/rollouts/logged.hpp"
#include "train/rollouts/rollout_analysis.hpp"

namespace odrpo {
namespace {

constexpr std::size_t most_factors = 4;
constexpr double most_spread = 10;  // of factors over groups, against the most consistent convention

double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Sums over a group of products of distances from the means: of two lists, and of the second with itself.
struct RewardMoments {
  double both = 0, own = 0;
  double ratio() const { return both / own; }
};
RewardMoments moments_of(std::span<const double> x, std::span<const double> y) {
  double mean_x = 0, mean_y = 0;
  for (std::size_t i = 0; i < x.size(); ++i) mean_x += x[i] / static_cast<double>(x.size()), mean_y += y[i] / static_cast<double>(x.size());
  RewardMoments m;
  for (std::size_t i = 0; i < x.size(); ++i) m.both += (x[i] - mean_x) * (y[i] - mean_y), m.own += (y[i] - mean_y) * (y[i] - mean_y);
  return m;
}

/// The rewards under these weights; nothing if one of them is too large, or off a scale that the user states.
std::optional<RolloutRewards> rewards_under(const Rollouts& rollouts, std::span<const double> weights, const ScaleChoice& scale) {
  try {
    return rewards_of(rollouts, weights, scale);
  } catch (const Failure& failure) {
    if (failure.code != Exit::bad_input) throw;
    return std::nullopt;
  }
}

std::string names_of(const Rollouts& rollouts, const std::vector<std::size_t>& columns) {
  std::string text;
  for (const std::size_t c : columns) text += (text.empty() ? "" : ", ") + rollouts.reward_names[c];
  return text;
}

}  // namespace

std::vector<double> factors_of_weights(const Rollouts& rollouts, std::span<const double> weights) {
  const auto rewards = rewards_under(rollouts, weights, {});
  if (!rewards) return {};
  struct Factor {
    double spread, factor;
  };
  std::vector<Factor> found;
  for (const EstimatorConfig& config : comparable_estimators(rollouts, *rewards, false)) {
    GroupAdvantages make(config, rewards->scale, largest_group(rollouts));
    const Convention rule = convention_of(config);
    const bool divides = rule.divisor != Divisor::none;
    if (divides && rule.eps == 0) continue;  // the same for every factor
    std::vector<double> made(rollouts.rows()), factors;
    for (const auto& [from, to] : some_logged_steps(rollouts)) {
      const auto groups = std::span(rollouts.groups).subspan(from, to - from);
      make.step(groups, rewards->reward, rollouts.length, made);
      for (const RolloutGroup& g : groups) {
        const auto part = [&](const std::vector<double>& values) { return std::span(values).subspan(g.first, g.count); };
        const auto logged = part(rollouts.advantage), own = part(made), reward = part(rewards->reward);
        const RewardMoments with_own = moments_of(reward, own), with_logged = moments_of(reward, logged);
        if (!(with_own.own > 0) || !(with_logged.own > 0)) continue;  // also where one is missing
        // of A = c (t - mean) / (c D + eps), (t - mean) / A = D + eps / c, and D + eps for c = 1
        factors.push_back(divides ? rule.eps / (rule.eps + with_logged.ratio() - with_own.ratio()) : moments_of(logged, own).ratio());
      }
    }
    if (factors.empty()) continue;
    const double factor = median_of(factors);
    if (!(factor > 0) || !std::isfinite(factor)) continue;
    for (double& f : factors) f = std::fabs(f - factor) / factor;
    found.push_back({median_of(factors), factor});
  }
  double least = std::numeric_limits<double>::infinity();
  for (const Factor& f : found) least = std::min(least, f.spread);
  std::erase_if(found, [&](const Factor& f) { return f.spread > most_spread * least + 1e-6; });
  // weights and eps of one ratio cannot be told apart: those nearest to 1 are the plainest
  std::stable_sort(found.begin(), found.end(), [](const Factor& a, const Factor& b) { return std::max(a.factor, 1 / a.factor) < std::max(b.factor, 1 / b.factor); });
  std::vector<double> kept;
  for (const Factor& f : found)
    if (kept.size() < most_factors && std::none_of(kept.begin(), kept.end(), [&](double k) { return std::fabs(k - f.factor) < 1e-6 * k; })) kept.push_back(f.factor);
  return kept;
}

LoggedComparison explain_logged(const Rollouts& rollouts, const ScaleChoice& scale) {
  LoggedComparison out;
  if (rollouts.advantage.empty()) return out;
  const std::size_t columns = rollouts.columns();
  if (columns == 1 || !rollouts.weights.empty()) {
    out.weights = rollouts.weights.empty() ? std::vector<double>(columns, 1.0) : rollouts.weights;
    out.fits = fitting_conventions(rollouts, rewards_of(rollouts, out.weights, scale));
    return out;
  }
  const std::vector<double> ones(columns, 1.0);
  std::vector<std::vector<double>> tried;
  bool all_fit = false;
  const auto try_weights = [&](std::vector<double> weights) {
    if (all_fit || std::find(tried.begin(), tried.end(), weights) != tried.end()) return;
    tried.push_back(weights);
    const auto rewards = rewards_under(rollouts, weights, scale);
    if (!rewards) return;
    std::vector<LoggedFit> fits = fitting_conventions(rollouts, *rewards);
    if (fits.empty() || (!out.fits.empty() && fits[0].all_fitting() <= out.fits[0].all_fitting())) return;
    out.weights = std::move(weights), out.fits = std::move(fits);
    all_fit = out.fits[0].all_fitting() == out.fits[0].groups + out.fits[0].equal;
  };
  SolvedWeights solved = solve_weights(rollouts);
  std::vector<double>& direction = solved.weights;
  const bool several = solved.open || !solved.dependent.empty();
  if (!solved.dependent.empty())
    out.notes.push_back(fmt::format("within every group the other rewards give {}: the weights cannot be told apart", names_of(rollouts, solved.dependent)));
  else if (solved.open) out.notes.push_back("the logged advantages show no single direction of weights: they cannot be told apart");
  if (several) try_weights(ones);  // the plainest of many
  std::vector<std::size_t> constant;
  for (std::size_t c = 0; c < direction.size(); ++c)
    if (direction[c] != direction[c]) constant.push_back(c), direction[c] = 1;
  if (!direction.empty()) {
    const std::vector<double> exact = direction;
    try_weights(rounded_weights(direction)), try_weights(direction);
    if (!all_fit)
      for (const double factor : factors_of_weights(rollouts, exact)) {
        std::vector<double> scaled = exact;
        for (double& w : scaled) w *= factor;
        for (const std::size_t c : constant) scaled[c] = 1;
        try_weights(rounded_weights(scaled)), try_weights(scaled);
      }
  }
  try_weights(ones);
  const bool most = !out.fits.empty() && out.fits[0].fitting * 2 > out.fits[0].groups;
  out.found = most && !direction.empty() && (out.weights != ones || (!several && rounded_weights(direction) == ones));
  if (out.found) {
    out.exact = direction;
    for (const std::size_t c : constant) out.notes.push_back(fmt::format("reward {} never varies within a group: its weight cannot be found and counts as 1", rollouts.reward_names[c]));
    return out;
  }
  if (most) out.notes.push_back("weights of 1 each fit; others may too");
  else out.notes.push_back("no weights of the rewards explain most of the logged advantages: they count 1 each");
  if (out.weights == ones) return out;
  out.weights = ones;
  const auto rewards = rewards_under(rollouts, ones, scale);
  out.fits = rewards ? fitting_conventions(rollouts, *rewards) : std::vector<LoggedFit>();
  return out;
}

}  // namespace odrpo
