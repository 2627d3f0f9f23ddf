// Posterior scores of a batch.
#include "train/posterior_batch.hpp"

#include <algorithm>

#include "estimators/group_range.hpp"

namespace odrpo {
namespace {

constexpr double least_variance = 0.01;  ///< levels^2: below a sixteenth of it nothing is told apart by whole scores

}  // namespace

std::shared_ptr<const HistogramTable> posterior_table(const PosteriorModel& model, const BatchEstimator& estimator, int levels,
                                                      int rollouts) {
  if (!GroupNames::possible(levels, rollouts)) return nullptr;
  const StatePrior prior(model.model.prompts.prior);
  const auto fill = [&](const std::uint8_t* score, int groups, float* out) {
    PosteriorGroup group(model.scores);
    std::vector<int> number(static_cast<std::size_t>(rollouts));
    std::vector<double> value(number.size());
    for (int g = 0; g < groups; ++g, score += rollouts, out += rollouts) {
      for (std::size_t i = 0; i < number.size(); ++i) number[i] = model.model.number_of(score[i]);
      group.values(model.scores, prior, number, value);
      estimator.real(value.data(), 1, out);
    }
  };
  return std::make_shared<const HistogramTable>(GroupNames(levels, rollouts), fill);
}

PosteriorBatch::PosteriorBatch(const EstimatorConfig& config, const PosteriorTables& tables, int rollouts)
    : tables_(tables),
      prior_(tables.model->model.prompts.prior),
      group_(tables.model->scores),
      rule_(config.prior),
      keep_(config.keep),
      moments_(tables.model->model.prompts.moments),
      sum_(tables.model->model.states()),
      number_(static_cast<std::size_t>(rollouts)) {
  if (rule_ == PriorRule::moments) prior_.set_moments(tables_.model->model.prompts, moments_);
}

bool PosteriorBatch::look_up(const std::uint8_t* score, int groups, float* out) const {
  if (!tables_.advantages) return false;
  (*tables_.advantages)(*tables_.look_up, score, static_cast<std::size_t>(groups), out);
  return true;
}

void PosteriorBatch::begin_batch() {
  if (groups_ == 0) return;
  if (rule_ == PriorRule::following) {
    for (double& s : sum_) s /= groups_;
    prior_.follow(sum_, keep_);
  } else if (rule_ == PriorRule::moments) {
    const double mean = seen_.mean / groups_;
    const auto towards = [&](double& old, double now) { old = keep_ * old + (1 - keep_) * now; };
    towards(moments_.mean, mean);
    // Var E[b | h] + E Var(b | h) = E[b^2] - E[b]^2
    towards(moments_.variance, std::max(seen_.variance / groups_ - mean * mean, least_variance));
    towards(moments_.square, std::max(seen_.square / groups_, least_variance));
    prior_.set_moments(tables_.model->model.prompts, moments_);
  }
  groups_ = 0;
}

void PosteriorBatch::add_moments() {
  const PosteriorModel& model = *tables_.model;
  const std::span<const double> weight = group_.weights();
  double mean = 0, second = 0, square = 0;
  for (std::size_t c = 0; c < weight.size(); ++c) {
    mean += weight[c] * model.model.prompts.centre[c];
    second += weight[c] * model.model.prompts.centre[c] * model.model.prompts.centre[c];
  }
  int members = 0;
  for (const ScoreCount& seen : group_.counts()) {
    square += seen.count * model.scores.square(weight, seen.score);
    members += seen.count;
  }
  seen_.mean += mean;
  seen_.variance += second;
  seen_.square += members > 0 ? square / members : moments_.square;
}

template <class T>
void PosteriorBatch::values(const T* score, int groups, double* value) {
  const PosteriorModel& model = *tables_.model;
  groups_ = groups;
  std::fill(sum_.begin(), sum_.end(), 0.0);
  seen_ = {};
  const std::size_t rollouts = number_.size();
  for (int g = 0; g < groups; ++g, score += rollouts, value += rollouts) {
    for (std::size_t i = 0; i < rollouts; ++i) number_[i] = present(score[i]) ? model.model.number_of(static_cast<double>(score[i])) : -1;
    group_.values(model.scores, prior_, number_, {value, rollouts});
    if (rule_ == PriorRule::moments) add_moments();
    if (rule_ != PriorRule::following) continue;
    const std::span<const double> weights = group_.weights();
    for (std::size_t c = 0; c < weights.size(); ++c) sum_[c] += weights[c];
  }
}
template void PosteriorBatch::values(const std::uint8_t*, int, double*);
template void PosteriorBatch::values(const float*, int, double*);

}  // namespace odrpo
