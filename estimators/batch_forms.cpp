// Implements batch_forms.hpp: each form from the moments of the batch's groups, in double.
#include "estimators/batch_forms.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "estimators/compat.hpp"
#include "estimators/level_values.hpp"
#include "kernels/math.hpp"
#include "kernels/shared/failure.hpp"

namespace odrpo {
namespace {

bool is_there(double reward) { return reward == reward; }

/// Number, mean and variance (ddof 1) of the rewards of a group that are there. Equal rewards have exactly their value as mean, and variance 0.
struct GroupMoments {
  int count = 0;
  double mean = undefined, variance = undefined;
};

GroupMoments moments_of(std::span<const double> rewards) {
  GroupMoments m;
  double first = 0, sum = 0, squares = 0;
  for (const double r : rewards) {
    if (!is_there(r)) continue;
    if (m.count++ == 0) first = r;
    sum += r - first;
  }
  if (m.count == 0) return m;
  m.mean = first + sum / m.count;
  for (const double r : rewards)
    if (is_there(r)) squares += (r - m.mean) * (r - m.mean);
  if (m.count > 1) m.variance = squares / (m.count - 1);
  return m;
}

/// A batch [groups][rollouts] of rewards, whose advantages take their place.
struct Batch {
  std::span<double> values;
  std::size_t rollouts;
  std::vector<GroupMoments> moments{};  ///< [groups]

  std::span<double> group(std::size_t g) const { return values.subspan(g * rollouts, rollouts); }
};

void weight_by_length(const Batch& batch, std::span<const int> lengths, double lone_factor) {
  for (std::size_t g = 0; g < batch.moments.size(); ++g) {
    const std::span<double> r = batch.group(g);
    const std::span<const int> length = lengths.subspan(g * batch.rollouts, batch.rollouts);
    const double mean = batch.moments[g].mean;
    double sum = 0, tokens = 0;  // of the differences from the mean, so that equal rewards have no rounding error
    for (std::size_t i = 0; i < r.size(); ++i)
      if (is_there(r[i])) sum += length[i] * (r[i] - mean), tokens += length[i];
    for (double& x : r) x = batch.moments[g].count == 1 ? x * lone_factor : (x - mean) - sum / tokens;
  }
}

// The density of a Beta distribution. Densities of Beta(1 + x, 1 + y) are (x + y + 1) times binomial probabilities, and those follow from the
// errors of Stirling's formula and from deviances, neither of which cancels where x and y are large.

/// ln Gamma(x + 1) - ((x + 1/2) ln x - x + ln(2 pi)/2), x > 0.
double stirling_error(double x) {
  double sum = 0;
  for (; x < 16; x += 1) sum += (x + 0.5) * math::log((x + 1) / x) - 1;
  const double z = 1 / (x * x);
  return sum + (1.0 / 12 - z * (1.0 / 360 - z * (1.0 / 1260 - z * (1.0 / 1680 - z / 1188)))) / x;
}

/// x ln(x / m) - (x - m), for x, m > 0.
double deviance(double x, double m) {
  const double v = (x - m) / (x + m);  // ln(x / m) = 2 (v + v^3/3 + v^5/5 + ..)
  if (math::abs(v) > 0.1) return x * math::log(x / m) - (x - m);
  double series = 0, power = v * v * v;
  for (int k = 3; k < 21; k += 2, power *= v * v) series += power / k;
  return v * (x - m) + 2 * x * series;
}

/// The density of Beta(1 + x, 1 + y), x, y >= 0.
class BetaDensity {
 public:
  BetaDensity(double x, double y) : x_(x), y_(y) {
    if (x > 0 && y > 0)
      log_scale_ = stirling_error(x + y) - stirling_error(x) - stirling_error(y) + 0.5 * math::log((x + y) / (2 * math::pi * x * y));
  }
  double at(double p) const {
    const double n = x_ + y_, q = 1 - p;
    if (n == 0) return 1;
    if ((p <= 0 && x_ > 0) || (q <= 0 && y_ > 0)) return 0;
    if (x_ == 0 || y_ == 0) return (n + 1) * math::exp(n * math::log(x_ == 0 ? q : p));
    return (n + 1) * math::exp(log_scale_ - deviance(x_, n * p) - deviance(y_, n * q));
  }

 private:
  double x_, y_, log_scale_ = 0;
};

/// The distribution of a batch's prompts by their means p in 0..1, by moments, less sharp by the factor 3.
BetaDensity density_of(const std::vector<double>& p) {
  const GroupMoments m = moments_of(p);
  const auto [low, high] = std::minmax_element(p.begin(), p.end());
  if (p.size() < 2 || *high - *low < 1e-12) return {0, 0};  // equal but for rounding
  const double size = m.mean * (1 - m.mean) / m.variance - 1;
  return {std::max(0.0, size * m.mean / 3), std::max(0.0, size * (1 - m.mean) / 3)};
}

void over_density(const Batch& batch) {
  std::vector<double> p;
  for (const GroupMoments& m : batch.moments)
    if (m.count > 1) p.push_back(m.mean);
  const BetaDensity density = density_of(p);
  for (std::size_t g = 0; g < batch.moments.size(); ++g) {
    const GroupMoments& m = batch.moments[g];
    const double weight = m.count > 1 ? 1 / std::max(1e-6, density.at(m.mean)) : 0;
    for (double& x : batch.group(g)) x = weight * (x - m.mean);
  }
}

/// Sums over the groups of two or more rewards, from which those over all but one of them follow.
struct OtherPrompts {
  double count = 0, centre = 0, spread = 0;  ///< number of groups; mean of their means; sum of squared distances from it
  double variance = 0, noise = 0;            ///< sums of s^2 and of s^2 / G

  explicit OtherPrompts(const std::vector<GroupMoments>& moments) {
    std::vector<double> means;
    for (const GroupMoments& m : moments) {
      if (m.count < 2) continue;
      means.push_back(m.mean);
      variance += m.variance, noise += m.variance / m.count;
    }
    const GroupMoments all = moments_of(means);
    count = all.count, centre = all.count > 0 ? all.mean : 0, spread = all.count > 1 ? all.variance * (all.count - 1) : 0;
  }
  /// Takes out a group, if it is one of them.
  void leave_out(const GroupMoments& m) {
    if (m.count < 2) return;
    const double away = m.mean - centre;
    count -= 1, variance -= m.variance, noise -= m.variance / m.count;
    if (count == 0) return;
    centre -= away / count;
    spread = std::max(0.0, spread - away * away * (count + 1) / count);
  }
  /// l for a group of `size` rewards.
  double share(int size) const {
    if (count == 0) return 0;
    if (size < 2) return 1;
    const double own = variance / count / (size - 1), others = std::max(0.0, spread / (count - 1) - noise / count);
    return count > 1 && own > 0 ? own / (own + others) : 0;
  }
};

void shrink(const Batch& batch) {
  const OtherPrompts all(batch.moments);
  for (std::size_t g = 0; g < batch.moments.size(); ++g) {
    const GroupMoments& m = batch.moments[g];
    OtherPrompts others = all;
    others.leave_out(m);
    const double l = others.share(m.count), size = m.count;
    for (double& x : batch.group(g)) {
      const double away = x - m.mean, from_others = m.count > 1 ? away * size / (size - 1) : 0, from_prompts = away + (m.mean - others.centre);
      x = (1 - l) * from_others + (l > 0 ? l * from_prompts : 0);
    }
  }
}

/// Scores as values; for bnpo as 0..1.
void scale(const EstimatorConfig& config, int levels, std::span<double> rewards) {
  const std::vector<double>& values = config.values;
  if (!values.empty())
    for (double& r : rewards) r = is_there(r) ? value_of_score(values, r) : r;
  if (config.form != Form::bnpo) return;
  const double low = values.empty() ? 1 : values.front(), high = values.empty() ? levels : values.back();
  for (double& r : rewards) r = is_there(r) ? std::clamp((r - low) / (high - low), 0.0, 1.0) : r;
}

}  // namespace

void batch_advantages(const EstimatorConfig& config, int levels, int rollouts, std::span<const double> rewards, std::span<const int> lengths,
                      std::span<double> out) {
  const auto refuse = [&](const std::string& why) { throw Failure(Exit::limits, estimator_word(config) + " " + why); };
  const Reads reads = row_of(config.form).reads;
  refuse_judged(config);
  if (reads == Reads::group) refuse("reads one group at a time, not a batch");
  if (const auto why = values_refusal(config)) refuse("cannot have its values: " + *why);
  if (reads == Reads::lengths && (lengths.size() != rewards.size() || std::any_of(lengths.begin(), lengths.end(), [](int n) { return n < 1; })))
    refuse("needs the length of every response, 1 token or more");
  if (config.form == Form::bnpo && levels < 2) refuse("needs two levels or more");
  const Convention convention = convention_of(config);
  std::copy(rewards.begin(), rewards.end(), out.begin());
  scale(config, levels, out);
  Batch batch{out, static_cast<std::size_t>(rollouts)};
  for (std::size_t g = 0; g * batch.rollouts < out.size(); ++g) batch.moments.push_back(moments_of(batch.group(g)));
  if (config.form == Form::opo) weight_by_length(batch, lengths, single_factor(convention));
  if (config.form == Form::bnpo) over_density(batch);
  if (config.form == Form::shrunk) shrink(batch);
  for (double& x : out) x = is_there(x) ? x : 0;
}

}  // namespace odrpo
