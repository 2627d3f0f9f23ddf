// Computes the update field for scores from a noisy judge, by sums over histograms of scores. Given scores, true levels are independent.
#include <algorithm>
#include <limits>

#include "estimators/corrected.hpp"
#include "estimators/theory/others.hpp"
#include "estimators/theory/field.hpp"
#include "estimators/theory/setting.hpp"
#include "kernels/math.hpp"
#include "kernels/shared/failure.hpp"

namespace odrpo {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double rounding = 1e-12;  ///< smaller differences of expected advantages, relative to the largest advantage, are rounding

/// The joint distribution of a member's true level and score.
struct Joint {
  std::span<const double> p, channel;
  std::size_t levels = p.size();
  std::vector<double> seen;   ///< [scores] P(score)
  std::vector<double> truth;  ///< [scores][levels] P(true level | score); 0 for a score that nobody gives

  Joint(std::span<const double> of_levels, std::span<const double> of_scores)
      : p(of_levels), channel(of_scores), seen(levels, 0.0), truth(levels * levels, 0.0) {
    for (std::size_t j = 0; j < levels; ++j)
      for (std::size_t k = 0; k < levels; ++k) seen[k] += p[j] * channel[j * levels + k];
    for (std::size_t k = 0; k < levels; ++k)
      for (std::size_t j = 0; j < levels && seen[k] > 0; ++j) truth[k * levels + j] = p[j] * channel[j * levels + k] / seen[k];
  }
};

/// Adds one kind of prompt to `field` and `flips`, by sums over the histograms of the other members' scores.
void add_others(const TheorySetting& s, const Joint& joint, double weight, ChannelField& out) {
  const std::size_t levels = joint.levels;
  OthersMap map(s);
  const Multinomial multinomial(joint.seen, s.members - 1);
  std::vector<double> gain(levels), expected(levels);
  for_each_histogram(s.levels(), s.members - 1, [&](std::span<const int> others) {
    const double probability = weight * multinomial(others);
    if (probability == 0) return;
    map.gains(others, gain);
    double largest = 0;
    for (std::size_t j = 0; j < levels; ++j) {
      expected[j] = 0;
      for (std::size_t k = 0; k < levels; ++k) expected[j] += joint.channel[j * levels + k] * gain[k];
      largest = std::max(largest, math::abs(gain[j]));
      out.field[j] += probability * expected[j];
    }
    for (std::size_t j = 1; j < levels; ++j)
      for (std::size_t i = 0; i < j; ++i)
        if (expected[i] - expected[j] > rounding * largest) out.flips[j] += probability * joint.p[i];
  });
}

/// Turns flips[j], so far the weight of the lower levels with a higher expected advantage, into a share of all lower levels.
void divide_flips(std::span<const double> p, ChannelField& out) {
  double below = 0, pairs = 0, all = 0;
  for (std::size_t j = 0; j < p.size(); ++j) {
    pairs += p[j] * below, all += p[j] * out.flips[j];
    out.flips[j] = below > 0 ? out.flips[j] / below : nan;
    below += p[j];
  }
  out.all_flips = pairs > 0 ? all / pairs : nan;
}

/// Adds one kind of prompt to the first and second moments (`total`, `covariance`) of a group's gradient. Sums over the histograms of all
/// members' scores; a member with score k has the true level j with probability truth[k][j].
void add_moments(const TheorySetting& s, const Joint& joint, double weight_of_kind, std::span<double> total, ChannelField& out) {
  const std::size_t levels = joint.levels;
  const Multinomial multinomial(joint.seen, s.members);
  const double members = s.members;
  OthersMap map(s);
  std::vector<double> advantages(levels), mean(levels);
  std::vector<double>& covariance = out.covariance;
  for_each_histogram(s.levels(), s.members, [&](std::span<const int> counts) {
    const double probability = weight_of_kind * multinomial(counts);
    if (probability == 0) return;
    map.advantages(counts, advantages);
    double sum = 0;  // of all members' advantages, over M
    std::fill(mean.begin(), mean.end(), 0.0);
    for (std::size_t k = 0; k < levels; ++k) {
      if (counts[k] == 0) continue;
      const double advantage = advantages[k] / members, weight = probability * counts[k] * advantage * advantage;
      const double* truth = &joint.truth[k * levels];
      sum += counts[k] * advantage;
      for (std::size_t i = 0; i < levels; ++i) {
        mean[i] += counts[k] * advantage * truth[i];
        covariance[i * levels + i] += weight * truth[i];
        for (std::size_t j = 0; j < levels; ++j) covariance[i * levels + j] -= weight * truth[i] * truth[j];
      }
    }
    for (std::size_t i = 0; i < levels; ++i) mean[i] -= joint.p[i] * sum, total[i] += probability * mean[i];
    for (std::size_t i = 0; i < levels; ++i)
      for (std::size_t j = 0; j < levels; ++j) covariance[i * levels + j] += probability * mean[i] * mean[j];
  });
}

/// The setting of the form that corrected(FORM) applies.
TheorySetting plain(TheorySetting s) {
  if (s.estimator.corrected) s.estimator = form_of(s.estimator);
  return s;
}

double mean_under(std::span<const double> p, std::span<const double> x) {
  double mean = 0;
  for (std::size_t k = 0; k < p.size(); ++k) mean += p[k] * x[k];
  return mean;
}

}  // namespace

double channel_field_work(const TheorySetting& asked, std::size_t kinds) {
  const TheorySetting s = plain(asked);
  const OthersMap map(s);
  const double levels = s.levels(), occupied = std::min(s.members, s.levels()), n = static_cast<double>(kinds);
  return check_histogram_work(s.levels(), s.members - 1, n * levels * (levels + map.gain_cost())) +
         check_histogram_work(s.levels(), s.members, n * (0.25 * occupied * levels * levels + map.group_cost()));
}

ChannelField channel_field(const TheorySetting& asked, std::span<const double> p, std::span<const LevelChannel> kinds) {
  channel_field_work(asked, kinds.size());
  const std::size_t levels = p.size();
  const TheorySetting of_levels = plain(asked);
  const std::vector<double> exact = update_field(of_levels, p);
  TheorySetting s = of_levels;
  if (asked.estimator.corrected) {
    const CorrectedScores corrected = corrected_scores(mean_channel(kinds), asked.values);
    if (const auto why = correction_refusal(asked.estimator, corrected)) throw Failure(Exit::limits, estimator_word(asked.estimator) + ": " + *why);
    s.values = corrected.score;
  }
  ChannelField out;
  out.field.resize(levels), out.flips.resize(levels), out.covariance.resize(levels * levels);
  std::vector<double> total(levels, 0.0);
  for (const LevelChannel& kind : kinds) {
    const Joint joint(p, kind.probability);
    add_others(s, joint, kind.weight, out);
    add_moments(s, joint, kind.weight, total, out);
  }
  divide_flips(p, out);
  for (std::size_t i = 0; i < levels; ++i)
    for (std::size_t j = 0; j < levels; ++j) out.covariance[i * levels + j] -= total[i] * total[j];
  const double mean = mean_under(p, out.field), exact_mean = mean_under(p, exact), value = mean_under(p, of_levels.values);
  double along = 0, of_gradient = 0, of_value = 0, trace = 0;
  for (std::size_t j = 0; j < levels; ++j) {
    out.bias.push_back((out.field[j] - mean) - (exact[j] - exact_mean));
    out.gradient.push_back(p[j] * (out.field[j] - mean));
    const double variance = out.covariance[j * levels + j], g = out.gradient[j], right = p[j] * (of_levels.values[j] - value);
    out.snr.push_back(variance > 0 ? g * g / variance : nan);
    trace += variance, of_gradient += g * g, along += g * right, of_value += right * right;
  }
  out.all_snr = trace > 0 ? of_gradient / trace : nan;
  out.cosine = of_gradient > 0 && of_value > 0 ? along / (math::sqrt(of_gradient) * math::sqrt(of_value)) : nan;
  return out;
}

}  // namespace odrpo
