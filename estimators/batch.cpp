// Tables of the batch form, from the single copy of the formulas in weights.hpp.
#include "estimators/batch.hpp"

#include "estimators/weights.hpp"
#include "kernels/failure.hpp"

namespace odrpo {

namespace portable {
extern const EstimatorStages estimator_table;
}
namespace avx2 {
extern const EstimatorStages estimator_table;
}
const EstimatorStages& estimator_stages(Isa isa) { return isa == Isa::avx2 ? avx2::estimator_table : portable::estimator_table; }

BatchEstimator::BatchEstimator(const EstimatorConfig& config, int levels, int rollouts)
    : config_(config), levels_(levels), rollouts_(rollouts) {
  const bool ordinal = config.form == Form::odrpo || config.form == Form::convex_reinforce;
  pass_ = ordinal ? Pass::ordinal : config.form == Form::rank_grpo ? Pass::rank : Pass::cardinal;
  view_ = {config.form, levels, rollouts, config.ddof, static_cast<float>(config.eps), nullptr, 0, 0, 0};
  if (!ordinal) return;
  const int size = (levels + 1) * (rollouts + 1);
  const bool by_median = config.form == Form::odrpo && config.weight == Weight::gini_median && !needs_median();
  // a group's median is a class: lower or upper median 1..K, or lower + upper (2..2K) for the mean of the two
  const bool mid = config.median == MedianRule::mid;
  const int classes = !by_median ? 1 : mid ? 2 * levels + 1 : levels + 1;
  term_.assign(static_cast<std::size_t>(classes) * size, 0.0f);
  for (int c = 0; c < classes; ++c) fill_terms(&term_[static_cast<std::size_t>(c) * size], mid ? c / 2.0 : c);
  if (!by_median) return;
  view_.class_size = size;
  // the member at sorted place j is >= k exactly when at least G - j members are
  if (config.median != MedianRule::upper) view_.lower_reach = rollouts - (rollouts - 1) / 2;
  if (config.median != MedianRule::lower) view_.upper_reach = rollouts - rollouts / 2;
}

void BatchEstimator::fill_terms(float* to, double median) const {
  for (int k = 1; k <= levels_; ++k) {
    const double decay = median_decay(median, k);
    for (int count = 1; count < rollouts_; ++count) {    // dead levels stay 0
      double term = math::sqrt(static_cast<double>(k));  // convex-reinforce: U(r) = sum of sqrt(k)
      if (config_.form == Form::odrpo)
        term = level_weight(config_.weight, k, level_variance(count, rollouts_), decay) /
               (level_norm(config_.norm, count, rollouts_) + config_.eps);
      to[k * (rollouts_ + 1) + count] = static_cast<float>(term);
    }
  }
}

void BatchEstimator::set_median(double median) { fill_terms(term_.data(), median); }

void BatchEstimator::operator()(const EstimatorStages& stages, const std::uint8_t* score, int groups, float* out) const {
  EstimatorView view = view_;
  view.term = term_.data();
  switch (pass_) {
    case Pass::ordinal: return stages.ordinal(view, score, groups, out);
    case Pass::cardinal: return stages.cardinal(view, score, groups, out);
    case Pass::rank: return stages.rank(view, score, groups, out);
  }
}

void BatchEstimator::with_gaps(const EstimatorStages&, const std::uint8_t*, int, float*) const { throw Failure(Exit::internal, "not yet written"); }
void BatchEstimator::real(const float*, int, float*) const { throw Failure(Exit::internal, "not yet written"); }
DeadShares dead_shares(const float*, int, int, int, int) { throw Failure(Exit::internal, "not yet written"); }
int mark_kept(const std::uint8_t*, int, int, bool, std::uint8_t*) { throw Failure(Exit::internal, "not yet written"); }
int mark_kept(const float*, int, int, bool, std::uint8_t*) { throw Failure(Exit::internal, "not yet written"); }
DeadShares dead_shares(const std::uint8_t* score, int groups, int rollouts, int levels, int) {
  long dead_groups = 0, dead_levels = 0;
  for (int g = 0; g < groups; ++g) {
    const std::uint8_t* s = score + static_cast<std::size_t>(g) * rollouts;
    int low = s[0], high = s[0];
    for (int i = 1; i < rollouts; ++i) {
      low = s[i] < low ? s[i] : low;
      high = s[i] > high ? s[i] : high;
    }
    dead_groups += low == high;
    dead_levels += (levels - 1) - (high - low);  // level k is alive exactly when low < k <= high
  }
  return {static_cast<double>(dead_groups) / groups, static_cast<double>(dead_levels) / (static_cast<double>(groups) * (levels - 1))};
}

}  // namespace odrpo
