// Tables of the batch form, from the single copy of the formulas in weights.hpp.
#include "estimators/batch.hpp"

#include <algorithm>
#include <cstring>

#include "estimators/group_range.hpp"
#include "estimators/weights.hpp"
#include "estimators/whitening_scale.hpp"

namespace odrpo {

namespace portable {
extern const EstimatorStages estimator_table;
}
namespace avx2 {
extern const EstimatorStages estimator_table;
}
const EstimatorStages& estimator_stages(Isa isa) { return isa == Isa::avx2 ? avx2::estimator_table : portable::estimator_table; }

namespace {
// groups a row: a row costs about three groups, and a look-up saves most of one; the halves' rows cost as much as this many histograms
constexpr double pays_from = 8, rows_of_halves = 5000;

int terms_of_class(int levels, int rollouts) { return 2 * (levels + 1) * (rollouts + 1); }
// A group's median is a class: lower or upper median 0..K, or lower + upper (0..2K) for the mean of the two.
int median_classes(const EstimatorConfig& config, int levels) {
  if (config.form != Form::odrpo || config.weight != Weight::gini_median || config.median == MedianRule::running) return 1;
  return config.median == MedianRule::mid ? 2 * levels + 1 : levels + 1;
}
}  // namespace

BatchEstimator::BatchEstimator(const EstimatorConfig& config, int levels, int rollouts)
    : config_(config),
      levels_(levels),
      rollouts_(rollouts),
      term_(std::make_shared<std::vector<float>>()),
      real_(config, levels, rollouts) {
  const Convention c = convention_of(config);
  const bool ordinal = config.form == Form::odrpo || config.form == Form::convex_reinforce;
  pass_ = ordinal ? Pass::ordinal : config.form == Form::rank_grpo ? Pass::rank : Pass::cardinal;
  view_.form = config.form;
  view_.levels = levels;
  view_.rollouts = rollouts;
  view_.ddof = c.ddof;
  view_.eps = static_cast<float>(c.eps);
  view_.shift = 1 - config.origin;
  view_.guard = c.guard;
  view_.others = c.divisor == Divisor::others_deviation;
  if (!ordinal) return;
  const int size = terms_of_class(levels, rollouts), classes = median_classes(config, levels);
  const bool mid = config.median == MedianRule::mid;
  term_->assign(static_cast<std::size_t>(classes) * size, 0.0f);
  for (int i = 0; i < classes; ++i) fill_terms(mid ? i / 2.0 : i, &(*term_)[static_cast<std::size_t>(i) * size]);
  if (classes == 1) return;
  view_.class_size = size;
  // the member at sorted place j is >= k exactly when at least G - j members are
  if (config.median != MedianRule::upper) view_.lower_reach = rollouts - (rollouts - 1) / 2;
  if (config.median != MedianRule::lower) view_.upper_reach = rollouts - rollouts / 2;
}

void BatchEstimator::fill_terms(double median, float* term) const {
  const bool convex = config_.form == Form::convex_reinforce;  // U(r) = sum of sqrt(k), the shape of gini
  const LevelRule rule = convex ? LevelRule{} : level_rule(config_);
  for (int k = 1; k <= levels_; ++k) {
    const double decay = median_decay(median, k);
    for (int count = 1; count < rollouts_; ++count) {  // dead levels stay 0
      float* at = term + 2 * (k * (rollouts_ + 1) + count);
      if (convex) {
        const double rise = level_shape(Weight::gini, k);
        at[0] = static_cast<float>(rise);
        at[1] = static_cast<float>(rise * count / rollouts_);
        continue;
      }
      const LevelTerm term = level_term(config_.weight, rule, k, decay, count, rollouts_);
      at[0] = term.reached;
      at[1] = term.centre;
    }
  }
}

void BatchEstimator::set_median(double median) {
  if (term_.use_count() > 1) term_ = std::make_shared<std::vector<float>>(*term_);
  fill_terms(median, term_->data());
  real_.set_median(median);
}

void BatchEstimator::expect(double groups, Isa isa) {
  if (tabulated() || needs_median() || !GroupNames::possible(levels_, rollouts_)) return;
  if (pass_ == Pass::cardinal && !view_.others) return;  // as fast from its sums
  const bool by_halves = pass_ == Pass::ordinal && view_.class_size == 0;
  if (groups < pays_from * (by_halves ? rows_of_halves : HistogramTable::rows(levels_, rollouts_))) return;
  const GroupNames names(levels_, rollouts_);
  if (by_halves) {
    const auto half = [&](int from, int to) {
      return [=, this](const std::uint8_t* reach, float* out) {
        const auto at = [&](int k) { return &(*term_)[2 * static_cast<std::size_t>(k * (rollouts_ + 1) + reach[k - 1])]; };
        const float centre = half_values(from, to, at, out);
        for (int v = 0; v <= to - from + 1; ++v) out[v] -= centre;
      };
    };
    halves_ = std::make_shared<const HalvesTable>(names, half(1, names.middle), half(names.middle + 1, levels_));
  } else {
    const auto fill = [&](const std::uint8_t* score, int rows, float* out) { passes(estimator_stages(isa), score, rows, out); };
    histograms_ = std::make_shared<const HistogramTable>(names, fill);
  }
  look_up_ = &group_table_stages(isa);
}

EstimatorView BatchEstimator::view() const {
  EstimatorView view = view_;
  view.term = term_->data();
  return view;
}

double BatchEstimator::bytes(const EstimatorConfig& config, int levels, int rollouts) {
  const double terms = static_cast<double>(median_classes(config, levels)) * terms_of_class(levels, rollouts);
  const double table = GroupNames::possible(levels, rollouts) ? HistogramTable::rows(levels, rollouts) * 64 : 0;
  return static_cast<double>(sizeof(BatchEstimator)) + terms * sizeof(float) + table;
}

void BatchEstimator::passes(const EstimatorStages& stages, const std::uint8_t* score, int groups, float* out) const {
  const EstimatorView view = this->view();
  switch (pass_) {
    case Pass::ordinal: return stages.ordinal(view, score, groups, out);
    case Pass::cardinal: return stages.cardinal(view, score, groups, out);
    case Pass::rank: return stages.rank(view, score, groups, out);
  }
}

// One group with gaps, or of one.
void BatchEstimator::some(const std::uint8_t* score, float* out) const {
  double value[most_rollouts], advantage[most_rollouts];
  int n = 0;
  for (int i = 0; i < rollouts_; ++i)
    if (score[i] != no_score) value[n++] = score[i];
  real_(value, n, advantage);
  n = 0;
  for (int i = 0; i < rollouts_; ++i) out[i] = score[i] != no_score ? static_cast<float>(advantage[n++]) : 0.0f;
}

void BatchEstimator::operator()(const EstimatorStages& stages, const std::uint8_t* score, int groups, float* out) const {
  if (halves_) return (*halves_)(*look_up_, score, static_cast<std::size_t>(groups), out);
  if (histograms_) return (*histograms_)(*look_up_, score, static_cast<std::size_t>(groups), out);
  if (rollouts_ > 1) return passes(stages, score, groups, out);
  for (int g = 0; g < groups; ++g) some(score + g, out + g);
}

void BatchEstimator::with_gaps(const EstimatorStages& stages, const std::uint8_t* score, int groups, float* out) const {
  const std::size_t size = static_cast<std::size_t>(rollouts_);
  const auto has_gap = [&](int g) { return std::memchr(score + g * size, no_score, size) != nullptr; };
  for (int g = 0, end; g < groups; g = end) {
    end = g + 1;
    if (has_gap(g)) {
      some(score + g * size, out + g * size);
      continue;
    }
    while (end < groups && !has_gap(end)) ++end;
    (*this)(stages, score + g * size, end - g, out + g * size);
  }
}

void BatchEstimator::real(const float* reward, int groups, float* out) const {
  double value[most_rollouts], advantage[most_rollouts];
  for (int g = 0; g < groups; ++g, reward += rollouts_, out += rollouts_) {
    int n = 0;
    for (int i = 0; i < rollouts_; ++i)
      if (reward[i] == reward[i]) value[n++] = reward[i];
    real_(value, n, advantage);
    n = 0;
    for (int i = 0; i < rollouts_; ++i) out[i] = reward[i] == reward[i] ? static_cast<float>(advantage[n++]) : 0.0f;
  }
}

namespace {

template <class T>
DeadShares shares(const T* value, int groups, int rollouts, int levels, int lowest) {
  long dead_groups = 0, dead_levels = 0;
  for (int g = 0; g < groups; ++g) {
    const Range<T> r = range_of(value + static_cast<std::size_t>(g) * rollouts, rollouts);
    dead_groups += dead(r);
    dead_levels += dead_levels_of(r, lowest, levels);
  }
  return {static_cast<double>(dead_groups) / groups, static_cast<double>(dead_levels) / (static_cast<double>(groups) * (levels - lowest))};
}

template <class T>
int mark(const T* value, int groups, int rollouts, bool drop_dead, std::uint8_t* kept) {
  int count = 0;
  for (int g = 0; g < groups; ++g, value += rollouts, kept += rollouts) {
    const bool dropped = drop_dead && dead(range_of(value, rollouts));
    for (int i = 0; i < rollouts; ++i) count += kept[i] = !dropped && present(value[i]);
  }
  return count;
}

}  // namespace

// Lengths make counts that floats do not hold, and batches of texts are small: sums in double, which keeps all digits of floats.
void whiten_tokens(const Whitening& w, float* advantage, const std::uint8_t* kept, const int* tokens, int n) {
  const auto times = [&](int k) { return kept == nullptr || kept[k] != 0 ? static_cast<double>(tokens[k]) : 0.0; };
  double count = 0, sum = 0, first = 0;
  bool equal = true;
  for (int k = 0; k < n; ++k) {
    const double c = times(k), a = static_cast<double>(advantage[k]);
    if (c == 0) {
      advantage[k] = 0;
      continue;
    }
    if (count == 0) first = a;
    equal = equal && a == first;
    count += c;
    sum += c * (a - first);
  }
  if (!w.on) return;
  if (equal) {
    for (int k = 0; k < n; ++k) advantage[k] = 0;
    return;
  }
  const double mean = sum / count;  // from the first
  double squares = 0;
  for (int k = 0; k < n; ++k) {
    const double d = (static_cast<double>(advantage[k]) - first) - mean;
    squares += times(k) * (d * d);
  }
  const double variance = squares / (count - w.ddof);
  const double scale = whitening_scale(w, variance);
  for (int k = 0; k < n; ++k)
    if (times(k) != 0) advantage[k] = static_cast<float>(((static_cast<double>(advantage[k]) - first) - mean) / scale);
}

DeadShares dead_shares(const std::uint8_t* score, int groups, int rollouts, int levels, int lowest) {
  return shares(score, groups, rollouts, levels, lowest);
}
DeadShares dead_shares(const float* reward, int groups, int rollouts, int levels, int lowest) {
  return shares(reward, groups, rollouts, levels, lowest);
}
int mark_kept(const std::uint8_t* score, int groups, int rollouts, bool drop_dead, std::uint8_t* kept) {
  return mark(score, groups, rollouts, drop_dead, kept);
}
int mark_kept(const float* reward, int groups, int rollouts, bool drop_dead, std::uint8_t* kept) {
  return mark(reward, groups, rollouts, drop_dead, kept);
}

}  // namespace odrpo
