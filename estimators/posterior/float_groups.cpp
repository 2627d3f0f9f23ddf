// Computes posterior scores of a batch in float by the stages, and by PosteriorGroup where floats are too coarse.
#include "estimators/posterior/float_groups.hpp"

#include <algorithm>
#include <limits>

namespace odrpo {

namespace portable {
extern const FloatStages float_table;
}
namespace avx2 {
extern const FloatStages float_table;
}
const FloatStages& float_stages(Isa isa) { return isa == Isa::avx2 ? avx2::float_table : portable::float_table; }

namespace {

constexpr float prior_scale = 0x1p100f;  // weights of likely groups are far from the largest and from the least normal float
// Weights below 2^-26 may be lost, since a power of a likelihood may underflow before 2^100 raises it.
constexpr float least_sum = 1;
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

PosteriorGroups::PosteriorGroups(const PosteriorScores& scores, const FloatScores& floats)
    : scores_(&scores),
      floats_(&floats),
      stages_(&float_stages(scores.isa())),
      exact_(scores),
      prior_(floats.tiles() * tile_states),
      highest_prior_(floats.bounds()),
      weight_sum_(prior_.size()),
      times_(static_cast<std::size_t>(scores.scores())),
      of_score_(times_.size()),
      bound_(floats.bounds()),
      weight_(prior_.size() + tile_states),
      tile_(floats.tiles() + 1) {}

void PosteriorGroups::set_prior(std::span<const double> probability) {
  for (std::size_t c = 0; c < probability.size(); ++c) prior_[c] = static_cast<float>(probability[c]) * prior_scale;
  for (std::size_t t = 0; t < floats_->tiles(); ++t) {
    const float* p = &prior_[t * tile_states];
    float highest = 0;
    for (std::size_t i = 0; i < tile_states; ++i) highest = std::max(highest, p[i]);
    highest_prior_[t] = highest;
  }
}

/// Counts the scores of a group, in ascending order, at the end of count_.
PosteriorGroups::Group PosteriorGroups::count(std::span<const int> seen) {
  Group group{0, 0, static_cast<std::uint32_t>(count_.size()), 0, 0};
  for (const int score : seen) {
    if (score < 0) continue;
    ++group.members;
    if (times_[static_cast<std::size_t>(score)]++ > 0) continue;
    std::size_t at = count_.size();
    count_.push_back({score, 0});
    for (; at > group.first && count_[at - 1].score > score; --at) count_[at] = count_[at - 1];
    count_[at].score = score;
  }
  group.scores = static_cast<std::uint32_t>(count_.size()) - group.first;
  for (std::size_t k = group.first; k < count_.size(); ++k) {
    int& times = times_[static_cast<std::size_t>(count_[k].score)];
    count_[k].count = times;
    times = 0;
    group.hash = (group.hash + static_cast<std::uint64_t>(count_[k].score * 256 + count_[k].count)) * 0x9e3779b97f4a7c15u;
  }
  return group;
}

bool PosteriorGroups::same(const Group& a, const Group& b) const {
  return a.hash == b.hash && a.scores == b.scores &&
         std::equal(&count_[a.first], &count_[a.first] + a.scores, &count_[b.first],
                    [](const ScoreCount& x, const ScoreCount& y) { return x.score == y.score && x.count == y.count; });
}

/// Sets of_score_ of the group's scores, and adds its weights so many times. Returns false, without effect, if floats are too coarse.
bool PosteriorGroups::in_float(const Group& group, bool variance, int times, double& open, Shown& shown) {
  if (group.members == 0) return false;
  const std::span<const ScoreCount> counts(&count_[group.first], group.scores);
  factor_.clear(), power_.clear();
  for (const ScoreCount& c : counts) factor_.push_back(floats_->factor(c, group.members)), floats_->add_powers(c, power_);
  expected_.resize(counts.size()), value_.resize(counts.size()), lanes_.resize(counts.size() * 8);
  const FloatPrior prior{floats_->tiles(), {prior_.data(), highest_prior_.data()}, floats_->centre()};
  const std::span<const std::uint32_t> tiles(tile_.data(), stages_->weigh(prior, power_, bound_.data(), tile_.data(), weight_.data()));
  if (tiles.empty()) return false;
  const bool gaps = group.members != floats_->members();
  const FloatWanted wanted{variance, gaps, floats_->squares(), gaps ? static_cast<float>(1.0 / floats_->members() - 1.0 / group.members) : 0};
  const FloatSums sums = stages_->sum(prior, factor_, tiles, weight_.data(), wanted, expected_.data(), lanes_.data());
  if (!(sums.total >= least_sum)) return false;
  const double total = static_cast<double>(sums.total);
  double mean = 0, own = 0;
  for (std::size_t k = 0; k < counts.size(); ++k) value_[k] = static_cast<double>(expected_[k]) / total;
  const auto [low, high] = std::minmax_element(value_.begin(), value_.end());
  if (counts.size() > 1 && *high - *low < least_float_range) return false;
  for (std::size_t k = 0; k < counts.size(); ++k) mean += counts[k].count * value_[k] / group.members;
  for (std::size_t k = 0; k < counts.size(); ++k) own += counts[k].count * (value_[k] - mean) * (value_[k] - mean) / group.members;
  open = variance ? std::max(static_cast<double>(sums.spread) / total - own, 0.0) : 0;
  const double centre = static_cast<double>(sums.reference) - static_cast<double>(sums.below) / total;
  for (std::size_t k = 0; k < counts.size(); ++k) of_score_[static_cast<std::size_t>(counts[k].score)] = centre + value_[k];
  if (floats_->squares()) shown.squares += times * static_cast<double>(sums.square) / total;
  stages_->add(tiles, weight_.data(), static_cast<float>(times) / sums.total, weight_sum_.data());
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
  set_prior(prior.probability());
  std::fill(weight_sum_.begin(), weight_sum_.end(), 0.0f);
  group_.clear(), count_.clear();
  for (std::uint32_t g = 0; g < static_cast<std::uint32_t>(groups); ++g) {
    group_.push_back(count(seen.subspan(g * rollouts, rollouts)));
    group_.back().number = g;
  }
  std::sort(group_.begin(), group_.end(), [](const Group& a, const Group& b) { return a.hash != b.hash ? a.hash < b.hash : a.number < b.number; });
  for (std::size_t first = 0, end = 0; first < group_.size(); first = end) {
    while (end < group_.size() && same(group_[first], group_[end])) ++end;
    const std::span<const int> of_group = seen.subspan(group_[first].number * rollouts, rollouts);
    const int times = static_cast<int>(end - first);
    double variance_of_group = 0;
    if (!in_float(group_[first], variance, times, variance_of_group, shown))
      in_double(prior, of_group, variance, times, variance_of_group, weights, shown);
    for (std::size_t g = first; g < end; ++g) {
      const std::size_t at = group_[g].number * rollouts;
      open[group_[g].number] = variance_of_group;
      for (std::size_t i = at; i < at + rollouts; ++i)
        value[i] = seen[i] < 0 ? std::numeric_limits<double>::quiet_NaN() : of_score_[static_cast<std::size_t>(seen[i])];
    }
  }
  for (std::size_t c = 0; c < weights.size(); ++c) weights[c] += static_cast<double>(weight_sum_[c]);
  return shown;
}

}  // namespace odrpo
