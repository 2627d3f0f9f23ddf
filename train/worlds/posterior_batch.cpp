// Computes posterior scores of a batch, and updates the prior that follows the policy.
#include "train/worlds/posterior_batch.hpp"

#include <algorithm>
#include <type_traits>

#include "estimators/group/entries.hpp"

namespace odrpo {
namespace {

constexpr double least_variance = 0.01;  ///< levels^2, least variance of rule `moments`; integer scores tell nothing apart below a sixteenth of it

}  // namespace

std::shared_ptr<const HistogramTable> posterior_table(const EstimatorConfig& config, const PosteriorModel& model,
                                                      const BatchEstimator& estimator, int levels, int rollouts) {
  if (!GroupNames::possible(levels, rollouts)) return nullptr;
  const StatePrior prior(model.model.prompts.prior);
  const auto fill = [&](const std::uint8_t* score, int groups, float* out) {
    PosteriorGroup group(model.scores);
    std::vector<int> number(static_cast<std::size_t>(rollouts));
    std::vector<double> value(number.size());
    for (int g = 0; g < groups; ++g, score += rollouts, out += rollouts) {
      for (std::size_t i = 0; i < number.size(); ++i) number[i] = model.model.number_of(score[i]);
      const double floor = floor_squared(config, group.values_and_variance(model.scores, prior, number, value));
      estimator.real(value.data(), &floor, 1, out);
    }
  };
  return std::make_shared<const HistogramTable>(GroupNames(levels, rollouts), fill);
}

PosteriorBatch::PosteriorBatch(const EstimatorConfig& config, const PosteriorTables& tables, int rollouts)
    : tables_(tables),
      prior_(tables.prompts().prior),
      config_(config),
      variance_(!config.floor && divides_by_deviation(config.form)),
      moments_(tables.prompts().moments),
      sum_(tables.prompts().size()),
      rollouts_(static_cast<std::size_t>(rollouts)) {
  if (tables.votes) vote_group_.emplace(*tables.votes);
  else if (const auto least = least_ratio(config); least && tables.model->floats)
    groups_of_batch_.emplace(tables.model->scores, *tables.model->floats, *least);
  else group_.emplace(tables.model->scores);
  for (int score = 0; tables.model && score < 256; ++score) integer_number_.push_back(score == no_score ? -1 : tables.model->model.number_of(score));
  if (config_.prior == PriorRule::moments) prior_.set_moments(tables.prompts(), moments_);
}

bool PosteriorBatch::look_up(const std::uint8_t* score, int groups, float* out) const {
  if (!tables_.advantages) return false;
  (*tables_.advantages)(*tables_.look_up, score, static_cast<std::size_t>(groups), out);
  return true;
}

void PosteriorBatch::begin_batch() {
  if (groups_ == 0) return;
  if (config_.prior == PriorRule::following) {
    prior_.follow(sum_, config_.keep, groups_);
  } else if (config_.prior == PriorRule::moments) {
    const double mean = seen_.mean / groups_;
    const auto towards = [&](double& old, double now) { old = config_.keep * old + (1 - config_.keep) * now; };
    towards(moments_.mean, mean);
    // variance over prompts; b: prompt's centre, h: its group's scores. Var E[b | h] + E Var(b | h) = E[b^2] - E[b]^2
    towards(moments_.variance, std::max(seen_.variance / groups_ - mean * mean, least_variance));
    towards(moments_.square, std::max(seen_.square / groups_, least_variance));
    prior_.set_moments(tables_.prompts(), moments_);
  }
  groups_ = 0;
}

void PosteriorBatch::begin_groups(int groups) {
  groups_ = groups;
  std::fill(sum_.begin(), sum_.end(), 0.0);
  seen_ = {};
}

/// Adds what a group shows of its prompt. `mean_square`: E[(x - b)^2 | group] (x, b: WorldMoments), for rule `moments`; NaN without scores.
void PosteriorBatch::add_group(std::span<const double> weights, double mean_square) {
  if (config_.prior == PriorRule::following)
    for (std::size_t c = 0; c < weights.size(); ++c) sum_[c] += weights[c];
  if (config_.prior == PriorRule::moments) add_moments(weights, mean_square == mean_square ? mean_square : moments_.square);
}

/// For rule `moments`: adds one group's P(state | group) and E[(x - b)^2 | group], or their sums over several groups.
void PosteriorBatch::add_moments(std::span<const double> weights, double square) {
  double mean = 0, second = 0;
  const std::vector<double>& centre = tables_.prompts().centre;
  for (std::size_t c = 0; c < weights.size(); ++c) {
    mean += weights[c] * centre[c];
    second += weights[c] * centre[c] * centre[c];
  }
  seen_.mean += mean;
  seen_.variance += second;
  seen_.square += square;
}

template <class T>
void PosteriorBatch::values(const T* score, int groups, double* value, double* floor) {
  const PosteriorModel& model = *tables_.model;
  begin_groups(groups);
  number_.resize(static_cast<std::size_t>(groups) * rollouts_);
  for (std::size_t i = 0; i < number_.size(); ++i) {
    if constexpr (std::is_integral_v<T>) number_[i] = integer_number_[score[i]];
    else number_[i] = present(score[i]) ? model.model.number_of(static_cast<double>(score[i])) : -1;
  }
  if (groups_of_batch_) {
    const PosteriorGroups::Shown shown = groups_of_batch_->values(prior_, number_, groups, variance_, value, floor, sum_);
    if (config_.prior == PriorRule::moments) add_moments(sum_, shown.squares + shown.silent * moments_.square);
  } else {
    for (int g = 0; g < groups; ++g) {
      const std::span<const int> seen(&number_[static_cast<std::size_t>(g) * rollouts_], rollouts_);
      const std::span<double> of_group(value + static_cast<std::size_t>(g) * rollouts_, rollouts_);
      floor[g] = variance_ ? group_->values_and_variance(model.scores, prior_, seen, of_group) : 0;
      if (!variance_) group_->values(model.scores, prior_, seen, of_group);
      add_group(group_->weights(), 0);
    }
  }
  for (int g = 0; g < groups; ++g) floor[g] = floor_squared(config_, floor[g]);
}
template void PosteriorBatch::values(const std::uint8_t*, int, double*, double*);
template void PosteriorBatch::values(const float*, int, double*, double*);

void PosteriorBatch::values_of_votes(const std::uint8_t* seen, int votes, std::span<const int> judge, int groups, double* value,
                                     double* floor) {
  const std::size_t rollouts = rollouts_, size = rollouts * static_cast<std::size_t>(votes);
  begin_groups(groups);
  for (int g = 0; g < groups; ++g, seen += size, value += rollouts) {
    const int first = judge.empty() ? 0 : judge[static_cast<std::size_t>(g)];
    floor[g] = floor_squared(config_, vote_group_->values(*tables_.votes, prior_, {seen, size}, first, {value, rollouts}));
    add_group(vote_group_->weights(), config_.prior == PriorRule::moments ? vote_group_->mean_square() : 0);
  }
}

}  // namespace odrpo
