// Computes posterior scores of a batch in float by the stages, and by PosteriorGroup where floats are too coarse.
#include "estimators/posterior/float_groups.hpp"

#include <algorithm>
#include <bit>
#include <limits>

namespace odrpo {

namespace portable {
extern const FloatStages float_table;
}
namespace avx2 {
extern const FloatStages float_table;
}
const FloatStages& float_stages(Isa isa) { return isa == Isa::portable ? portable::float_table : avx2::float_table; }

namespace {

// An L(c) below 2^-126 may be lost, since a power of a likelihood may underflow. Then its weight is below 2^-26, and L(c) / E below 2^-36.
constexpr float least_sum = 0x1p10f;
constexpr double least_normal = 0x1p-126;
constexpr double least_float_range = 1e-3;  // levels; values that differ by less are computed in double, since a form may divide by their deviation

}  // namespace

FloatScores::FloatScores(const PosteriorScores& scores, int members)
    : tiles_((scores.states() + tile_states - 1) / tile_states), members_(members), squares_(scores.has_squares()), centre_(tiles_ * tile_states) {
  const auto n = static_cast<std::size_t>(scores.scores());
  std::vector<double> weight(scores.states()), sum(scores.states());
  const auto likelihood = [&](std::size_t k) { return scores.factor({static_cast<int>(k), 1}).relative; };
  const auto quality = [&](std::size_t k) { return scores.quality(static_cast<int>(k), 1); };
  for (std::size_t k = 0; k < n; ++k)
    for (std::size_t c = 0; c < sum.size(); ++c) {
      weight[c] += likelihood(k)[c];
      sum[c] += likelihood(k)[c] * quality(k).expected[c];
    }
  for (std::size_t c = 0; c < sum.size(); ++c) centre_[c] = static_cast<float>(weight[c] > 0 ? sum[c] / weight[c] : quality(0).expected[c]);
  for (int digit = 1; digit <= members; digit *= 4)
    for (int times = 1; times < 4 && times * digit <= members; ++times) exponents_.push_back(times * digit);
  const std::size_t exponents = exponents_.size();
  tables_.resize(n * tiles_ * stride());
  powers_.resize(n * exponents * tiles_ * tile_states);
  highest_.resize(n * exponents * bounds());
  for (std::size_t k = 0; k < n; ++k)
    for (std::size_t c = 0; c < sum.size(); ++c) {
      const std::size_t tile = c / tile_states;
      float* to = &tables_[(k * tiles_ + tile) * stride() + c % tile_states];
      const double expected = quality(k).expected[c] - static_cast<double>(centre_[c]);
      to[table_expected * tile_states] = static_cast<float>(expected);
      to[table_second * tile_states] = static_cast<float>((1 - 1.0 / members) * quality(k).variance[c] + expected * expected);
      to[table_variance * tile_states] = static_cast<float>(quality(k).variance[c]);
      if (squares_) to[table_square * tile_states] = static_cast<float>(scores.square(static_cast<int>(k))[c]);
      double power = 1;
      for (std::size_t e = 0, exponent = 0; e < exponents; ++e) {
        for (; exponent < static_cast<std::size_t>(exponents_[e]); ++exponent) power *= likelihood(k)[c];
        const float rounded = power >= least_normal ? static_cast<float>(power) : 0;
        powers_[(k * exponents + e) * tiles_ * tile_states + c] = rounded;
        float& highest = highest_[(k * exponents + e) * bounds() + tile];
        highest = std::max(highest, rounded);
      }
    }
}

void FloatScores::add_powers(ScoreCount seen, std::vector<FloatPower>& powers) const {
  std::size_t row = static_cast<std::size_t>(seen.score) * exponents_.size();
  for (int rest = seen.count; rest > 0; rest /= 4, row += 3)
    if (const std::size_t digit = static_cast<std::size_t>(rest % 4); digit > 0)
      powers.push_back({&powers_[(row + digit - 1) * tiles_ * tile_states], &highest_[(row + digit - 1) * bounds()]});
}

PosteriorGroups::PosteriorGroups(const PosteriorScores& scores, const FloatScores& floats, float least_ratio)
    : scores_(&scores),
      floats_(&floats),
      stages_(&float_stages(scores.isa())),
      least_ratio_(least_ratio),
      exact_(scores),
      prior_(floats.tiles() * tile_states),
      highest_prior_(floats.bounds()),
      ratio_(prior_.size()),
      times_(static_cast<std::size_t>(scores.scores())),
      of_score_(times_.size()),
      bound_(floats.bounds()),
      likelihood_(prior_.size()),
      heavy_(floats.tiles() + 8),
      light_(heavy_.size()) {}

/// Counts the scores of a group, in ascending order, at the end of count_.
PosteriorGroups::Group PosteriorGroups::count(std::span<const int> seen) {
  Group group{0, 0, 0, 1, 0, count_.size(), 0};
  for (const int score : seen) {
    if (score < 0) continue;
    ++group.members;
    if (times_[static_cast<std::size_t>(score)]++ > 0) continue;
    std::size_t at = count_.size();
    count_.push_back({score, 0});
    for (; at > group.counts && count_[at - 1].score > score; --at) count_[at] = count_[at - 1];
    count_[at].score = score;
  }
  group.scores = count_.size() - group.counts;
  for (std::size_t k = group.counts; k < count_.size(); ++k) {
    int& times = times_[static_cast<std::size_t>(count_[k].score)];
    count_[k].count = times;
    times = 0;
    group.hash = (group.hash + static_cast<std::uint64_t>(count_[k].score * 256 + count_[k].count)) * 0x9e3779b97f4a7c15u;
  }
  return group;
}

bool PosteriorGroups::same(const Group& a, const Group& b) const {
  return a.hash == b.hash && a.scores == b.scores &&
         std::equal(count_.data() + a.counts, count_.data() + a.counts + a.scores, count_.data() + b.counts,
                    [](const ScoreCount& x, const ScoreCount& y) { return x.score == y.score && x.count == y.count; });
}

/// Sets group_ to the different groups, in the order in which they come, and next_.
void PosteriorGroups::find_different(std::span<const int> seen, std::size_t rollouts) {
  const std::size_t groups = seen.size() / rollouts, places = std::bit_ceil(2 * groups);
  group_.clear(), count_.clear();
  next_.assign(groups, groups);
  place_.assign(places, 0);
  for (std::size_t g = 0; g < groups; ++g) {
    Group group = count(seen.subspan(g * rollouts, rollouts));
    group.first = group.last = g;
    std::size_t at = group.hash >> 32 & (places - 1);
    while (place_[at] != 0 && !same(group_[place_[at] - 1], group)) at = (at + 1) & (places - 1);
    if (place_[at] == 0) {
      group_.push_back(group);
      place_[at] = group_.size();
      continue;
    }
    Group& known = group_[place_[at] - 1];
    count_.resize(group.counts);
    next_[known.last] = g, known.last = g, ++known.times;
  }
}

/// Sets of_score_ of the group's scores, and adds L(c) / E to ratio_, for each of its times. Returns false, without effect, if floats are too coarse.
bool PosteriorGroups::in_float(const Group& group, bool variance, double& open, Shown& shown) {
  if (group.members == 0) return false;
  const std::span<const ScoreCount> counts(&count_[group.counts], group.scores);
  factor_.clear(), power_.clear();
  for (const ScoreCount& c : counts) factor_.push_back(floats_->factor(c, group.members)), floats_->add_powers(c, power_);
  expected_.resize(counts.size()), value_.resize(counts.size()), lanes_.resize(counts.size() * 8);
  const FloatPrior prior{floats_->tiles(), {prior_.data(), highest_prior_.data()}, floats_->centre()};
  const FloatTiles tiles = stages_->weigh(prior, power_, least_ratio_, {heavy_.data(), light_.data(), bound_.data(), likelihood_.data()});
  if (tiles.heavy.empty()) return false;
  const bool gaps = group.members != floats_->members();
  const FloatWanted wanted{variance, gaps, floats_->squares(), gaps ? static_cast<float>(1.0 / floats_->members() - 1.0 / group.members) : 0};
  const FloatSums sums = stages_->sum(prior, factor_, tiles.heavy, likelihood_.data(), wanted, expected_.data(), lanes_.data());
  if (!(sums.total >= least_sum)) return false;
  const double total = static_cast<double>(sums.total);
  double mean = 0, own = 0;
  for (std::size_t k = 0; k < counts.size(); ++k) value_[k] = static_cast<double>(expected_[k]) / total;
  const auto [low, high] = std::minmax_element(value_.begin(), value_.end());
  if (counts.size() > 1 && *high - *low < least_float_range) return false;
  for (std::size_t k = 0; k < counts.size(); ++k) mean += counts[k].count * value_[k] / group.members;
  for (std::size_t k = 0; k < counts.size(); ++k) own += counts[k].count * (value_[k] - mean) * (value_[k] - mean) / group.members;
  open = variance ? std::max(static_cast<double>(sums.spread) / total - own, 0.0) : 0;
  const double centre = static_cast<double>(sums.centre) / total;
  for (std::size_t k = 0; k < counts.size(); ++k) of_score_[static_cast<std::size_t>(counts[k].score)] = centre + value_[k];
  if (floats_->squares()) shown.squares += group.times * static_cast<double>(sums.square) / total;
  stages_->add(power_, tiles, likelihood_.data(), static_cast<float>(group.times) * (prior_scale / sums.total), ratio_.data());
  return true;
}

/// As in_float(), but by the definition; adds the weights to `weights`.
void PosteriorGroups::in_double(const StatePrior& prior, std::span<const int> seen, bool variance, int times, double& open, std::span<double> weights,
                                Shown& shown) {
  value_.resize(seen.size());
  open = variance ? exact_.values_and_variance(*scores_, prior, seen, value_) : 0;
  if (!variance) exact_.values(*scores_, prior, seen, value_);
  bool silent = true;
  for (std::size_t i = 0; i < seen.size(); ++i)
    if (seen[i] >= 0) of_score_[static_cast<std::size_t>(seen[i])] = value_[i], silent = false;
  for (std::size_t c = 0; c < weights.size(); ++c) weights[c] += times * exact_.weights()[c];
  ++shown.in_double;
  if (silent) shown.silent += times;
  else if (floats_->squares()) shown.squares += times * exact_.mean_square(*scores_);
}

PosteriorGroups::Shown PosteriorGroups::values(const StatePrior& prior, std::span<const int> seen, int groups, bool variance, double* value,
                                               double* open, std::span<double> weights) {
  const std::size_t rollouts = seen.size() / static_cast<std::size_t>(groups);
  Shown shown;
  stages_->set_prior(prior.probability(), prior_.data(), highest_prior_.data());
  std::fill(ratio_.begin(), ratio_.end(), 0.0f);
  find_different(seen, rollouts);
  for (const Group& group : group_) {
    double variance_of_group = 0;
    if (!in_float(group, variance, variance_of_group, shown))
      in_double(prior, seen.subspan(group.first * rollouts, rollouts), variance, group.times, variance_of_group, weights, shown);
    for (std::size_t g = group.first; g < static_cast<std::size_t>(groups); g = next_[g]) {
      open[g] = variance_of_group;
      for (std::size_t i = g * rollouts; i < (g + 1) * rollouts; ++i)
        value[i] = seen[i] < 0 ? std::numeric_limits<double>::quiet_NaN() : of_score_[static_cast<std::size_t>(seen[i])];
    }
  }
  stages_->add_weights(prior.probability(), ratio_.data(), weights.data());
  return shown;
}

}  // namespace odrpo
