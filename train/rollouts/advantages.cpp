// Computes advantages of groups of a dump by BatchEstimator, and those of forms that read the batch by batch_advantages().
#include "train/rollouts/advantages.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "estimators/batch_forms.hpp"
#include "estimators/level_formulas.hpp"
#include "estimators/level_values.hpp"
#include "kernels/shared/failure.hpp"
#include "kernels/system/fail.hpp"

namespace odrpo {
namespace {

constexpr int usual_group = 64;            // tables are made for groups up to this size; larger ones are computed without

bool is_present(double reward) { return reward == reward; }

EstimatorConfig on_scale(EstimatorConfig config, std::span<const double> scale) {
  config.values.clear();
  return reads_levels(config) && is_spaced(scale) ? with_values(std::move(config), scale) : config;
}

std::string refusal_of(const EstimatorConfig& config, std::span<const double> scale) {
  if (config.outside != Outside::none) return "is another program, which only runs ask";
  if (reads_running_median(config)) return "has a running median of the training's batches, which a dump does not hold";
  if (reads_levels(config) && scale.size() < 2)
    return "needs levels, and the scores have no scale of at most 100: --scale states one, --round or --bins make one";
  return "";
}

}  // namespace

bool reads_levels(const EstimatorConfig& config) {
  const Basis basis = row_of(config.form).basis;
  return basis == Basis::level || basis == Basis::bit || config.form == Form::bnpo;
}

GroupAdvantages::GroupAdvantages(const EstimatorConfig& config, std::span<const double> scale, int largest)
    : config_(on_scale(config, scale)), scale_(scale.begin(), scale.end()), levels_(reads_levels(config)) {
  refuse_judged(config_);
  if (const std::string why = refusal_of(config_, scale); !why.empty()) fail(Exit::limits, "{} {}", estimator_word(config_), why);
  if (largest > most_scores) fail(Exit::limits, "a group of {} rollouts: at most {} are compared with each other", largest, most_scores);
  convention_of(config_);  // throws for a system that has no such form
  seen_.resize(static_cast<std::size_t>(largest));
  advantage_.resize(seen_.size());
  if (row_of(config_.form).reads != Reads::group) return;
  const int levels = levels_ ? static_cast<int>(scale_.size()) : 2;
  estimator_.emplace(config_, levels, by_formula(config_) ? largest : std::min(largest, usual_group));
}

double GroupAdvantages::worth(double reward) const {
  if (!levels_ || !is_present(reward)) return reward;
  const int level = level_on(scale_, reward);
  if (level == 0) fail(Exit::limits, "{}: the reward {} is not on the scale of {} levels, {} to {}", estimator_word(config_), reward, scale_.size(), scale_.front(), scale_.back());
  return level;
}

void GroupAdvantages::group(std::span<const double> rewards, std::span<double> out) {
  if (!estimator_) fail(Exit::limits, "{} reads {} and cannot estimate one group", estimator_word(config_), beside_group(config_.form));
  std::size_t n = 0;
  for (const double r : rewards)
    if (is_present(r)) seen_[n++] = worth(r);
  if (n > 0) estimator_->one(seen_.data(), static_cast<int>(n), advantage_.data());
  n = 0;
  for (std::size_t i = 0; i < rewards.size(); ++i) out[i] = is_present(rewards[i]) ? advantage_[n++] : 0.0;
}

void GroupAdvantages::step(std::span<const RolloutGroup> groups, std::span<const double> rewards, std::span<const double> length,
                           std::span<double> out) {
  if (estimator_) {
    for (const RolloutGroup& g : groups) group(rewards.subspan(g.first, g.count), out.subspan(g.first, g.count));
    return;
  }
  std::size_t side = 0;
  for (const RolloutGroup& g : groups) side = std::max<std::size_t>(side, g.count);
  const bool lengths = row_of(config_.form).reads == Reads::lengths;
  batch_.assign(groups.size() * side, std::numeric_limits<double>::quiet_NaN());
  made_.resize(batch_.size());
  tokens_.assign(lengths ? batch_.size() : 0, 1);
  for (std::size_t g = 0; g < groups.size(); ++g)
    for (std::size_t i = 0; i < groups[g].count; ++i) {
      const std::size_t row = groups[g].first + i;
      batch_[g * side + i] = worth(rewards[row]);
      if (!lengths || !is_present(rewards[row])) continue;
      if (row >= length.size() || !(length[row] >= 1))
        fail(Exit::limits, "{} needs the length of every completion, 1 or more; a completion of step {} has none", estimator_word(config_), groups[g].step);
      tokens_[g * side + i] = static_cast<int>(std::min(length[row], 1e9));
    }
  batch_advantages(config_, static_cast<int>(scale_.size()), static_cast<int>(side), batch_, tokens_, made_);
  for (std::size_t g = 0; g < groups.size(); ++g)
    for (std::size_t i = 0; i < groups[g].count; ++i) out[groups[g].first + i] = made_[g * side + i];
}

}  // namespace odrpo
