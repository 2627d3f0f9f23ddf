// Makes the tables of BatchEstimator from the formulas in weights.hpp, computes advantages of batches, and masks rollouts without a part in
// the update.
#include "estimators/batch.hpp"

#include <algorithm>
#include <cstring>

#include "estimators/group/entries.hpp"
#include "estimators/group/group.hpp"
#include "estimators/level_values.hpp"
#include "estimators/weights.hpp"
#include "kernels/shared/failure.hpp"

namespace odrpo {

namespace portable {
extern const EstimatorStages estimator_table;
}
namespace avx2 {
extern const EstimatorStages estimator_table;
}
namespace avx512 {
extern const EstimatorStages estimator_table;
}
const EstimatorStages& estimator_stages(Isa isa) {
  return isa == Isa::avx512 ? avx512::estimator_table : isa == Isa::avx2 ? avx2::estimator_table : portable::estimator_table;
}

namespace {
// A table by histogram pays if it serves at least pays_from groups per row. Making a row costs about as much as three groups; a look-up
// saves most of a group. Making all rows of a HalvesTable costs as much as rows_of_halves rows of a HistogramTable.
constexpr double pays_from = 8, rows_of_halves = 5000;

int terms_of_class(int levels, int rollouts) { return 2 * (levels + 1) * (rollouts + 1); }
// How many classes EstimatorView::term has. A class is a value of the group's median: lower or upper median 0..K, or lower + upper (0..2K)
// for the mean of the two; 1 class if what a level adds does not depend on the median.
int median_classes(const EstimatorConfig& config, int levels) {
  if (!reads_median(config) || config.median == MedianRule::running) return 1;
  return config.median == MedianRule::mid ? 2 * levels + 1 : levels + 1;
}
}  // namespace

BatchEstimator::BatchEstimator(const EstimatorConfig& config, int levels, int rollouts)
    : config_(config), by_formula_(by_formula(config)), term_(std::make_shared<std::vector<float>>()) {
  refuse_judged(config);
  config_.formula_levels = levels;
  if (const auto why = formula_refusal(config, levels)) throw Failure(Exit::limits, *why);
  if (by_formula_) make_formula_tables(rollouts);
  if (const auto why = values_refusal(config)) throw Failure(Exit::limits, *why);
  if (!config.values.empty() && std::ssize(config.values) != levels)
    throw Failure(Exit::limits, std::to_string(config.values.size()) + " values of " + std::to_string(levels) + " levels");
  const Convention c = convention_of(config);
  view_ = {.form = config.form,
           .basis = row_of(config.form).basis,
           .centre = c.centre,
           .divisor = c.divisor,
           .weight = level_weighting(config),
           .median = config.median,
           .levels = levels,
           .rollouts = rollouts,
           .ddof = c.ddof,
           .eps = c.eps,
           .kappa = config.kappa,
           .r_min = config.r_min,
           .taught_below = c.centre == Centre::floored ? score_of_value(config.values, config.r_min)
                           : config.form == Form::shrunk          ? std::numeric_limits<double>::infinity()
                                                                  : nothing_below,
           .floor = 0,
           .shift = 1 - config.origin,
           .ordered = row_of(config.form).basis != Basis::reward || c.divisor == Divisor::others_deviation || c.divisor == Divisor::distances ||
                      !is_mean(c.centre) || is_spaced(config.values),
           .guard = c.guard,
           .spaced = is_spaced(config.values),
           .lone = c.single != Single::zero,
           .lone_factor = single_factor(c),
           .rule = level_rule(config),
           .term = nullptr,
           .class_size = 0,
           .lower_reach = 0,
           .upper_reach = 0,
           .running = 0,
           .along = nullptr,
           .counts = nullptr};
  if (view_.basis == Basis::rank) view_.eps *= 2;
  if (view_.basis == Basis::bit) fill_bits();
  gaps_ = std::make_shared<const Gaps>(make_gaps());
  view_.along = gaps_->along.data();
  view_.counts = gaps_->counts.data();
  if (view_.basis != Basis::level) return;
  const int size = terms_of_class(levels, rollouts), classes = median_classes(config, levels);
  const bool mid = config.median == MedianRule::mid;
  term_->assign(static_cast<std::size_t>(classes) * size, 0.0f);
  for (int i = 0; i < classes; ++i) fill_terms(mid ? i / 2.0 : i, &(*term_)[static_cast<std::size_t>(i) * size]);
  view_.term = term_->data();
  if (classes == 1) return;
  view_.class_size = size;
  // the member at sorted index j is >= k exactly when at least G - j members are >= k
  if (config.median != MedianRule::upper) view_.lower_reach = rollouts - (rollouts - 1) / 2;
  if (config.median != MedianRule::lower) view_.upper_reach = rollouts - rollouts / 2;
}

// Makes the tables for real rewards: sums of weights along the levels, and what a level adds by the number of members that reach it.
BatchEstimator::Gaps BatchEstimator::make_gaps() const {
  Gaps gaps;
  if (view_.basis != Basis::level) return gaps;
  const std::size_t row = static_cast<std::size_t>(view_.levels) + 2;
  gaps.along.assign(4 * row, 0.0);
  double *step = gaps.along.data(), *sum = step + row, *grown = sum + row, *grown_sum = grown + row;
  for (int k = 1; k <= view_.levels + 1; ++k) {
    step[k] = level_shape(view_.weight, k) * level_gap(config_.values, k);
    grown[k] = step[k] / median_decay(k, 0);
    sum[k] = sum[k - 1] + step[k];
    grown_sum[k] = grown_sum[k - 1] + grown[k];
  }
  for (int count = 0; count <= view_.rollouts; ++count)
    gaps.counts.push_back(group::count_of(view_.weight, view_.rule, count, view_.rollouts));
  return gaps;
}

// Fills EstimatorView::term for odrpo-bitwise: what a bit that `count` members have adds to these members, and to the others.
void BatchEstimator::fill_bits() {
  const int bits = bits_of(view_.levels);
  term_->assign(2 * static_cast<std::size_t>(bits) * static_cast<std::size_t>(view_.rollouts + 1), 0.0f);
  float* at = term_->data();
  view_.term = at;
  for (int b = 0; b < bits; ++b)
    for (int count = 0; count <= view_.rollouts; ++count) {
      const LevelShares shares = level_shares(view_.rule, bit_weight(b), count, view_.rollouts);
      *at++ = static_cast<float>(shares.reached);
      *at++ = static_cast<float>(shares.missed);
    }
}

void BatchEstimator::fill_terms(double median, float* term) const {
  for (int k = 1; k <= view_.levels; ++k) {
    const double decay = median_decay(median, k);
    for (int count = 1; count < view_.rollouts; ++count) {  // levels that all or none reach add 0
      const double gap = level_gap(config_.values, k);
      const LevelTerm of = by_formula_ ? term_of(shares_of_level(config_, view_.rule, gap, k, count, view_.rollouts, median))
                                       : level_term(view_.weight, view_.rule, k, decay, count, view_.rollouts, gap);
      float* at = term + 2 * (k * (view_.rollouts + 1) + count);
      at[0] = of.reached;
      at[1] = of.centre;
    }
  }
}

void BatchEstimator::set_median(double median) {
  if (term_.use_count() > 1) term_ = std::make_shared<std::vector<float>>(*term_);
  fill_terms(median, term_->data());
  view_.term = term_->data();
  view_.running = median;
}

bool BatchEstimator::table_pays(double groups) const {
  const int levels = view_.levels, rollouts = view_.rollouts;
  if (needs_median() || !GroupNames::possible(levels, rollouts)) return false;
  return view_.ordered  // other forms are as fast from sums over the group
         && groups >= pays_from * (by_halves() ? rows_of_halves : HistogramTable::rows(levels, rollouts));
}

void BatchEstimator::expect(double groups, Isa isa) {
  const int levels = view_.levels, stride = view_.rollouts + 1;
  if (tabulated() || !table_pays(groups)) return;
  const GroupNames names(levels, view_.rollouts);
  if (by_halves()) {
    const auto half = [&](int from, int to) {
      return [=, this](const std::uint8_t* reach, float* out) {
        const auto at = [&](int k) { return group::term_at<true>(view_.term + 2 * k * stride, reach[k - 1]); };
        out[0] = 0;
        const float centre = group::running_sums<float>(from, to, at, [&](int k, float sum) { out[k - from + 1] = sum; });
        for (int v = 0; v <= to - from + 1; ++v) out[v] -= centre;
      };
    };
    halves_ = std::make_shared<const HalvesTable>(names, half(1, names.middle), half(names.middle + 1, levels));
  } else {
    const auto fill = [&](const std::uint8_t* score, int rows, float* out) { (*this)(estimator_stages(isa), score, rows, out); };
    histograms_ = std::make_shared<const HistogramTable>(names, fill);
  }
  look_up_ = &group_table_stages(isa);
}

double BatchEstimator::bytes(double groups) const {
  double terms = static_cast<double>(sizeof(BatchEstimator)) + static_cast<double>(term_->size() * sizeof(float));
  for (int n = 1; by_formula_ && n <= view_.rollouts; ++n) terms += static_cast<double>(formula_entries(n) * sizeof(LevelShares));
  if (!table_pays(groups)) return terms;
  const GroupNames names(view_.levels, view_.rollouts);
  return terms + (by_halves() ? HalvesTable::bytes(names) : HistogramTable::rows(view_.levels, view_.rollouts) * 64);
}

namespace {

struct Placed {
  double value;
  int at;  // index of the member in its group
};

}  // namespace

void BatchEstimator::one(const EstimatorView& view, const double* reward, int n, double* out) const {
  const bool all_equal = std::all_of(reward, reward + n, [&](double r) { return r == reward[0]; });
  if (!group::teaches(view, all_equal, n) && view.centre != Centre::floored) return std::fill(out, out + n, 0.0);
  if (by_formula_) return by_levels(reward, n, out);
  if (!view.ordered)
    return group::estimate<group::RealNumbers>(view, group::Unsorted<const double*>{reward, n}, group::Array<double>{out});
  Placed placed[most_scores];
  double sorted[most_scores], advantage[most_scores];
  for (int i = 0; i < n; ++i) placed[i] = {by_value() ? value_of_score(config_.values, reward[i]) : reward[i], i};
  std::sort(placed, placed + n, [](const Placed& a, const Placed& b) { return a.value < b.value; });
  for (int i = 0; i < n; ++i) sorted[i] = placed[i].value;
  const group::Sorted<const double*> entries{sorted, n};
  group::estimate<group::RealNumbers>(view, entries, group::Array<double>{advantage});
  for (int i = 0, next; i < n; i = next) {
    next = entries.next(i);
    for (int j = i; j < next; ++j) out[placed[j].at] = advantage[i];
  }
}

// Computes the advantages of one group in which scores may be missing, or of a group of one.
template <class T>
void BatchEstimator::some(const EstimatorView& view, const T* seen, float* out) const {
  double value[most_scores], advantage[most_scores];
  int n = 0;
  for (int i = 0; i < view_.rollouts; ++i)
    if (present(seen[i])) value[n++] = static_cast<double>(seen[i]);
  if (n > 0) one(view, value, n, advantage);
  n = 0;
  for (int i = 0; i < view_.rollouts; ++i) out[i] = present(seen[i]) ? static_cast<float>(advantage[n++]) : 0.0f;
}

// Computes the advantages, by a form of levels, of one group with more scores than the stage file can count in bytes.
void BatchEstimator::large(const std::uint8_t* score, float* out) const {
  std::int32_t reached[256] = {};
  float advantage[256];
  for (int i = 0; i < view_.rollouts; ++i) ++reached[score[i]];
  for (int k = view_.levels; k >= 0; --k) reached[k] += reached[k + 1];
  group::estimate<group::WholeNumbers>(view_, group::WideScores{reached, view_.levels}, group::Array<float>{advantage});
  for (int i = 0; i < view_.rollouts; ++i) out[i] = advantage[score[i]];
}

void BatchEstimator::operator()(const EstimatorStages& stages, const std::uint8_t* score, int groups, float* out) const {
  if (halves_) return (*halves_)(*look_up_, score, static_cast<std::size_t>(groups), out);
  if (histograms_) return (*histograms_)(*look_up_, score, static_cast<std::size_t>(groups), out);
  if (by_value()) {
    for (int g = 0; g < groups; ++g, score += view_.rollouts, out += view_.rollouts) some(view_, score, out);
    return;
  }
  if (view_.rollouts > most_rollouts) {
    const std::size_t size = static_cast<std::size_t>(view_.rollouts);
    for (std::size_t g = 0; g < static_cast<std::size_t>(groups); ++g) large(score + g * size, out + g * size);
    return;
  }
  if (view_.rollouts > 1) return stages.estimate(view_, score, groups, out);
  for (int g = 0; g < groups; ++g) some(view_, score + g, out + g);
}

void BatchEstimator::with_gaps(const EstimatorStages& stages, const std::uint8_t* score, int groups, float* out) const {
  const std::size_t size = static_cast<std::size_t>(view_.rollouts);
  const auto has_gap = [&](int g) { return std::memchr(score + g * size, no_score, size) != nullptr; };
  for (int g = 0, end; g < groups; g = end) {
    end = g + 1;
    if (has_gap(g)) {
      some(view_, score + g * size, out + g * size);
      continue;
    }
    while (end < groups && !has_gap(end)) ++end;
    (*this)(stages, score + g * size, end - g, out + g * size);
  }
}

void BatchEstimator::real(const float* reward, int groups, float* out) const {
  for (int g = 0; g < groups; ++g, reward += view_.rollouts, out += view_.rollouts) some(view_, reward, out);
}
void BatchEstimator::real(const double* value, const double* floor, int groups, float* out) const {
  EstimatorView view = view_;
  for (int g = 0; g < groups; ++g, value += view_.rollouts, out += view_.rollouts) {
    view.floor = floor[g];
    some(view, value, out);
  }
}
void BatchEstimator::real(const double* reward, int groups, float* out) const {
  for (int g = 0; g < groups; ++g, reward += view_.rollouts, out += view_.rollouts) some(view_, reward, out);
}

namespace {

template <class T>
DeadShares shares(const T* value, int groups, int rollouts, int levels, int lowest, double taught_below) {
  long dead_groups = 0, dead_levels = 0;
  for (int g = 0; g < groups; ++g) {
    const Range<T> r = range_of(value + static_cast<std::size_t>(g) * rollouts, rollouts);
    dead_groups += dead(r, taught_below);
    dead_levels += dead_levels_of(r, lowest, levels);
  }
  return {static_cast<double>(dead_groups) / groups, static_cast<double>(dead_levels) / (static_cast<double>(groups) * (levels - lowest))};
}

template <class T>
int mark(const T* value, int groups, int rollouts, bool drop_dead, std::uint8_t* mask, double taught_below) {
  int count = 0;
  for (int g = 0; g < groups; ++g, value += rollouts, mask += rollouts) {
    const bool dropped = drop_dead && dead(range_of(value, rollouts), taught_below);
    for (int i = 0; i < rollouts; ++i) count += mask[i] = !dropped && present(value[i]);
  }
  return count;
}

template <class T>
void leave_out(const T* value, int groups, int rollouts, std::uint8_t* mask) {
  for (int g = 0; g < groups; ++g, value += rollouts, mask += rollouts)
    if (const int pivot = pivot_of(value, rollouts); pivot >= 0) mask[pivot] = 0;
}

}  // namespace

void leave_pivots_out(const std::uint8_t* score, int groups, int rollouts, std::uint8_t* mask) { leave_out(score, groups, rollouts, mask); }
void leave_pivots_out(const float* reward, int groups, int rollouts, std::uint8_t* mask) { leave_out(reward, groups, rollouts, mask); }
void leave_pivots_out(const double* reward, int groups, int rollouts, std::uint8_t* mask) { leave_out(reward, groups, rollouts, mask); }

// Counts of tokens can be too large for floats, and batches of texts are small. So sums are in double, which keeps all digits of floats.
void whiten_tokens(const Whitening& w, float* advantage, const std::uint8_t* mask, const int* tokens, int n) {
  const auto times = [&](int k) { return mask == nullptr || mask[k] != 0 ? static_cast<double>(tokens[k]) : 0.0; };
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
  const double mean = sum / count;  // of the differences from the first advantage
  double squares = 0;
  for (int k = 0; k < n; ++k) {
    const double d = (static_cast<double>(advantage[k]) - first) - mean;
    squares += times(k) * (d * d);
  }
  const double variance = squares / (count - w.ddof);
  const double scale = whitening_scale(w, variance);
  for (int k = 0; k < n; ++k)
    if (times(k) != 0) advantage[k] = static_cast<float>((w.centred ? (static_cast<double>(advantage[k]) - first) - mean : static_cast<double>(advantage[k])) / scale);
}

DeadShares dead_shares(const std::uint8_t* score, int groups, int rollouts, int levels, int lowest, double taught_below) {
  return shares(score, groups, rollouts, levels, lowest, taught_below);
}
DeadShares dead_shares(const float* reward, int groups, int rollouts, int levels, int lowest, double taught_below) {
  return shares(reward, groups, rollouts, levels, lowest, taught_below);
}
int fill_mask(const std::uint8_t* score, int groups, int rollouts, bool drop_dead, std::uint8_t* mask, double taught_below) {
  return mark(score, groups, rollouts, drop_dead, mask, taught_below);
}
int fill_mask(const float* reward, int groups, int rollouts, bool drop_dead, std::uint8_t* mask, double taught_below) {
  return mark(reward, groups, rollouts, drop_dead, mask, taught_below);
}
int fill_mask(const double* reward, int groups, int rollouts, bool drop_dead, std::uint8_t* mask, double taught_below) {
  return mark(reward, groups, rollouts, drop_dead, mask, taught_below);
}

}  // namespace odrpo
