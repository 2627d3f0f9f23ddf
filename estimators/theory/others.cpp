// Computes a member's advantage from the other members' levels, fast; tests compare the results with group_advantages().
#include "estimators/theory/others.hpp"

#include <algorithm>

#include "estimators/compat.hpp"
#include "estimators/definition.hpp"
#include "estimators/level_formulas.hpp"
#include "estimators/weights.hpp"
#include "kernels/shared/failure.hpp"

namespace odrpo {
namespace {

using OthersForm = std::variant<LevelOthers, ScaledOthers, AnyOthers>;

/// True if sums of squares of R_k - R_1 are exact, or if at least variances from them have relative errors below 1e-11.
bool safe_squares(const TheorySetting& s) {
  const double range = s.values.back() - s.values.front();
  double least = range;
  bool whole = true;
  for (std::size_t k = 1; k < s.values.size(); ++k) {
    least = std::min(least, s.values[k] - s.values[k - 1]);
    const double offset = s.values[k] - s.values.front();
    whole = whole && offset == math::floor(offset);
  }
  const double members = s.members;
  return (whole && members * members * range * range < 0x1p52) || range <= 100 * least;
}

bool one_divisor(const TheorySetting& s) {
  const Convention c = convention_of(s.estimator);
  if (row_of(s.estimator.form).basis != Basis::reward || !is_mean(c.centre) || c.divisor == Divisor::others_deviation ||
      c.divisor == Divisor::distances)
    return false;
  if (c.divisor == Divisor::mean) return s.values.front() - (s.estimator.origin == 0 ? 1 : 0) >= 0;
  return safe_squares(s);
}

OthersForm form_of_setting(const TheorySetting& s) {
  if (row_of(s.estimator.form).basis == Basis::level) return LevelOthers(s);
  if (one_divisor(s)) return ScaledOthers(s);
  return AnyOthers(s);
}

/// Rough number of elementary steps of group_advantages(). Ranks compare all pairs of members; Divisor::others_deviation sorts the others
/// of each member.
double definition_cost(const TheorySetting& s) {
  const bool ranks = row_of(s.estimator.form).basis == Basis::rank,
             others = convention_of(s.estimator).divisor == Divisor::others_deviation;
  return 100.0 + s.levels() + 40.0 * s.members + (others ? 3.0 : ranks ? 0.35 : 0.0) * s.members * s.members;
}

TheorySetting checked(const TheorySetting& s) {
  if (const auto why = theory_refusal(s)) throw Failure(Exit::limits, *why);
  if (const auto why = formula_refusal(s.estimator, s.levels())) throw Failure(Exit::limits, *why);
  long work = 5'000'000;
  if (by_formula(s.estimator))
    if (const auto why = not_finite(s.estimator, {s.levels(), 1, s.members}, work)) throw Failure(Exit::limits, estimator_word(s.estimator) + ": " + *why);
  return s;
}

}  // namespace

OthersMap::OthersMap(const TheorySetting& s) : setting_(checked(s)), form_(form_of_setting(s)), gain_(s.values.size()) {
  if (std::holds_alternative<AnyOthers>(form_)) gain_cost_ = difference_cost_ = definition_cost(s);
  else if (reads_median(s.estimator)) gain_cost_ += s.levels();  // its median depends on the own level
}

double OthersMap::group_cost() const {
  if (std::holds_alternative<AnyOthers>(form_)) return gain_cost_;
  return std::min(setting_.members, setting_.levels()) * setting_.levels() * gain_cost_;
}

void OthersMap::advantages(std::span<const int> counts, std::span<double> out) {
  if (std::holds_alternative<AnyOthers>(form_)) {
    const std::vector<double> all = group_advantages(setting_, counts);
    std::copy(all.begin(), all.end(), out.begin());
    return;
  }
  others_.assign(counts.begin(), counts.end());
  for (std::size_t k = 0; k < counts.size(); ++k) {
    out[k] = 0;
    if (counts[k] == 0) continue;
    --others_[k];
    gains(others_, gain_);
    ++others_[k];
    out[k] = gain_[k];
  }
}

LevelOthers::LevelOthers(const TheorySetting& s)
    : levels_(s.levels()), members_(s.members), rule_(s.estimator.median), up_(s.values.size()), down_(s.values.size() + 1) {
  EstimatorConfig c = s.estimator;
  c.formula_levels = levels_;
  const LevelRule rule = level_rule(c);
  const std::vector<double> gaps = level_gaps(s.values);
  reads_median_ = odrpo::reads_median(c);
  // tables by twice the median, 2..2K, since the mid rule has half levels; one table if weights depend on no median
  const int medians = reads_median_ ? 2 * levels_ + 1 : 1;
  const auto side = static_cast<std::size_t>(levels_) * static_cast<std::size_t>(members_ + 1);
  if (side * static_cast<std::size_t>(medians) > 5'000'000) throw Failure(Exit::limits, "so many levels and members need too much memory");
  reached_.resize(side * static_cast<std::size_t>(medians));
  missed_.resize(reached_.size());
  std::size_t at = 0;
  for (int m = 0; m < medians; ++m)
    for (int k = 1; k <= levels_; ++k)
      for (int count = 0; count <= members_; ++count, ++at) {
        const LevelShares shares = shares_of_level(c, rule, 1, k, count, members_, reads_median_ ? 0.5 * m : no_median);
        reached_[at] = gaps[static_cast<std::size_t>(k - 1)] * shares.reached;
        missed_[at] = gaps[static_cast<std::size_t>(k - 1)] * shares.missed;
      }
  reach_.resize(s.values.size());
  // the lower median is element (M-1)/2 of the sorted group, the upper one element M/2; M - (M-1)/2 or M - M/2 members reach its level
  at_least_[0] = members_ - (members_ - 1) / 2;
  at_least_[1] = members_ - members_ / 2;
  sums_.assign(static_cast<std::size_t>(medians), std::vector<double>(s.values.size()));
  made_.assign(static_cast<std::size_t>(medians), 0);
}

/// Computes reach_ and top_ from the counts of the others by level.
void LevelOthers::read(std::span<const int> others) {
  int reach = 0;
  for (std::size_t k = others.size(); k-- > 0;) reach_[k] = reach += others[k];
  ++now_;
  if (!reads_median_) return;
  for (int which = 0; which < 2; ++which)
    for (int more = 0; more < 3; ++more) {
      int top = levels_;
      while (top > 0 && reach_[static_cast<std::size_t>(top - 1)] + more < at_least_[which]) --top;
      top_[which][more] = top;
    }
}

/// Twice the median of a group: the others, a member at level `high`, and, unless `low` is 0, a member at `low` <= high. A level is at most
/// the median if enough members reach it. Of these two members both reach levels up to `low`, one reaches those up to `high`.
int LevelOthers::median_index(int high, int low) const {
  if (!reads_median_) return 0;
  int median[2];
  for (int which = 0; which < 2; ++which)
    median[which] = std::max({top_[which][0], std::min(high, top_[which][1]), std::min(low, top_[which][2])});
  if (rule_ == MedianRule::lower) return 2 * median[0];
  if (rule_ == MedianRule::upper) return 2 * median[1];
  return median[0] + median[1];
}

const double* LevelOthers::table(const std::vector<double>& of, int median) const {
  return of.data() + static_cast<std::size_t>(median) * static_cast<std::size_t>(levels_) * static_cast<std::size_t>(members_ + 1);
}

void LevelOthers::gains(std::span<const int> others, std::span<double> out) {
  read(others);
  const auto levels = static_cast<std::size_t>(levels_), side = static_cast<std::size_t>(members_ + 1);
  int last = -1;
  for (std::size_t j = 0; j < levels; ++j) {
    const int median = median_index(static_cast<int>(j) + 1, 0);
    if (median != last) {
      const double *reached = table(reached_, median), *missed = table(missed_, median);
      double up = 0;
      for (std::size_t k = 0; k < levels; ++k) up_[k] = up += reached[k * side + static_cast<std::size_t>(reach_[k]) + 1];
      down_[levels] = 0;
      for (std::size_t k = levels; k-- > 0;) down_[k] = down_[k + 1] + missed[k * side + static_cast<std::size_t>(reach_[k])];
      last = median;
    }
    out[j] = up_[j] + down_[j + 1];
  }
}

const std::vector<double>& LevelOthers::rising(int median) {
  std::vector<double>& sums = sums_[static_cast<std::size_t>(median)];
  if (made_[static_cast<std::size_t>(median)] == now_) return sums;
  made_[static_cast<std::size_t>(median)] = now_;
  const auto side = static_cast<std::size_t>(members_ + 1);
  const double *reached = table(reached_, median), *missed = table(missed_, median);
  double sum = 0;
  for (std::size_t k = 0; k < sums.size(); ++k) {
    const std::size_t at = k * side + static_cast<std::size_t>(reach_[k]) + 1;
    sums[k] = sum += reached[at] - missed[at];
  }
  return sums;
}

/// Exactly one of two members at levels a > b reaches a level k with b < k <= a. So A_a - A_b = sum_{b < k <= a} t_k(c_k) - u_k(c_k).
void LevelOthers::differences(std::span<const int> others, std::span<double> out) {
  read(others);
  const auto levels = static_cast<std::size_t>(levels_);
  for (std::size_t a = 1; a < levels; ++a)
    for (std::size_t b = 0; b < a; ++b) {
      const std::vector<double>& sums = rising(median_index(static_cast<int>(a) + 1, static_cast<int>(b) + 1));
      out[a * levels + b] = sums[a] - sums[b];
    }
}

ScaledOthers::ScaledOthers(const TheorySetting& s) : members_(s.members), base_(s.values.front()), plain_(1) {
  const Convention c = convention_of(s.estimator);
  kind_ = c.divisor == Divisor::deviation ? Kind::deviation : c.divisor == Divisor::mean ? Kind::mean : Kind::none;
  ddof_ = c.ddof;
  eps_ = c.eps;
  if (s.estimator.origin == 0) base_ -= 1;
  if (c.centre == Centre::others) plain_ = members_ / (members_ - 1);
  for (const double value : s.values) x_.push_back(value - s.values.front());
}

/// The factor that turns value - mean into an advantage, in a group whose x = R_k - R_1 have this sum and sum of squares.
double ScaledOthers::factor(double sum, double squares) const {
  if (kind_ == Kind::none) return plain_;
  if (kind_ == Kind::mean) {
    const double mean = base_ + sum / members_ + eps_;
    return mean > 0 ? 1 / mean : 0;
  }
  const double spread = members_ * squares - sum * sum;  // M^2 sigma^2
  return spread > 0 ? 1 / (math::sqrt(spread / (members_ * (members_ - ddof_))) + eps_) : 0;
}

void ScaledOthers::gains(std::span<const int> others, std::span<double> out) {
  double sum = 0, squares = 0;
  for (std::size_t k = 0; k < x_.size(); ++k) sum += others[k] * x_[k], squares += others[k] * x_[k] * x_[k];
  for (std::size_t k = 0; k < x_.size(); ++k) {
    const double all = sum + x_[k];
    out[k] = (x_[k] - all / members_) * factor(all, squares + x_[k] * x_[k]);
  }
}

template <ScaledOthers::Kind kind>
void ScaledOthers::fill_differences(double sum, double squares, std::span<double> out) const {
  const std::size_t levels = x_.size();
  const double *x = x_.data(), members = members_, over = 1 / (members_ * (members_ - ddof_));
  for (std::size_t a = 1; a < levels; ++a) {
    double* row = &out[a * levels];
    const double own = x[a], sum_a = sum + own, squares_a = squares + own * own;
    for (std::size_t b = 0; b < a; ++b) {  // the group has members at levels a and b, so its variance is positive
      const double all = sum_a + x[b];
      if constexpr (kind == Kind::none) row[b] = (own - x[b]) * plain_;
      if constexpr (kind == Kind::mean) row[b] = (own - x[b]) / (base_ + all / members + eps_);
      if constexpr (kind == Kind::deviation)
        row[b] = (own - x[b]) / (math::sqrt((members * (squares_a + x[b] * x[b]) - all * all) * over) + eps_);
    }
  }
}

void ScaledOthers::differences(std::span<const int> others, std::span<double> out) {
  double sum = 0, squares = 0;
  for (std::size_t k = 0; k < x_.size(); ++k) sum += others[k] * x_[k], squares += others[k] * x_[k] * x_[k];
  if (kind_ == Kind::deviation) return fill_differences<Kind::deviation>(sum, squares, out);
  if (kind_ == Kind::mean) return fill_differences<Kind::mean>(sum, squares, out);
  fill_differences<Kind::none>(sum, squares, out);
}

void AnyOthers::gains(std::span<const int> others, std::span<double> out) {
  group_.assign(others.begin(), others.end());
  for (std::size_t k = 0; k < group_.size(); ++k) {
    ++group_[k];
    out[k] = group_advantages(setting_, group_)[k];
    --group_[k];
  }
}

void AnyOthers::differences(std::span<const int> others, std::span<double> out) {
  group_.assign(others.begin(), others.end());
  for (std::size_t a = 1; a < group_.size(); ++a)
    for (std::size_t b = 0; b < a; ++b) {
      ++group_[a], ++group_[b];
      const std::vector<double> advantage = group_advantages(setting_, group_);
      out[a * group_.size() + b] = advantage[a] - advantage[b];
      --group_[a], --group_[b];
    }
}

}  // namespace odrpo
