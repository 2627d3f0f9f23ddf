// Chooses, for each few groups of an array, between the tables of training and the definition.
#include "python/module/group_estimator.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "app/compute/functions.hpp"
#include "estimators/batch_forms.hpp"
#include "estimators/level_formulas.hpp"
#include "kernels/shared/judge_model.hpp"

namespace odrpo::python {
namespace {

constexpr int most_table_levels = 100, first_table_levels = 10;
constexpr std::size_t at_once = 4096;  // scores that are read and estimated before the next: they stay in the cache

/// K: the number of `values`, what formulas read, or 0 where nothing reads it.
int levels_of(const app::Arguments& a, EstimatorConfig& c) {
  if (!beside_group(c.form).empty()) {
    if (a.given("K") && (c.form != Form::bnpo || a.given("values"))) throw app::Refusal{"out_of_range", "K: only bnpo without `values` reads it"};
    return a.given("K") ? a.integer("K", 2, 1'000'000) : 10;
  }
  const int levels = app::read_formulas(a, c);
  return by_formula(c) ? levels : 0;
}

}  // namespace

std::span<const app::Argument> estimator_takes() {
  static const std::vector<app::Argument> all = [] {
    std::vector<app::Argument> some;
    for (const app::Argument& a : app::texts::advantage_takes) {
      if (a.name == "rewards") continue;
      some.push_back(a);
      some.back().optional = a.name != "est";
    }
    return some;
  }();
  return all;
}

GroupEstimator::GroupEstimator(const nlohmann::json& settings) {
  const app::Arguments a(settings, estimator_takes());
  config_ = app::named_estimator(a);
  levels_ = levels_of(a, config_);
  app::read_conventions(a, config_);
  app::read_level_values(a, {}, config_);
  by_formula_ = by_formula(config_);
  if (!config_.values.empty()) levels_ = static_cast<int>(config_.values.size());
}

std::shared_ptr<const BatchEstimator> GroupEstimator::tables(std::size_t members, double highest, double groups) {
  const bool wide = row_of(config_.form).basis == Basis::level;
  if (by_formula_ || members > static_cast<std::size_t>(wide ? most_scores : most_rollouts)) return nullptr;
  const int most = levels_ > 0 ? levels_ : most_table_levels;
  if (most > most_table_levels || highest > most) return nullptr;
  const int levels = levels_ > 0 ? levels_ : std::max(first_table_levels, static_cast<int>(std::ceil(highest)));
  const std::lock_guard hold(mutex_);
  if (tables_ == nullptr || members_ != members || table_levels_ < levels) {
    tables_ = std::make_shared<const BatchEstimator>(config_, levels, static_cast<int>(members));
    members_ = members, table_levels_ = levels, groups_ = 0;
  }
  groups_ += groups;
  if (!tables_->tabulated() && groups_ >= 1000) {  // a copy: another thread may be using these
    BatchEstimator more = *tables_;
    more.expect(groups_, isa_);
    if (more.tabulated()) tables_ = std::make_shared<const BatchEstimator>(std::move(more));
  }
  return tables_;
}

template <class Estimate, class Real>
void GroupEstimator::one_by_one(std::span<double> reward, std::size_t members, Estimate estimate, std::span<Real> out) const {
  std::vector<double> some(members), advantage(members);
  for (std::size_t from = 0; from < reward.size(); from += members) {
    std::size_t n = 0;
    for (std::size_t i = from; i < from + members; ++i)
      if (!std::isnan(reward[i])) some[n++] = reward[i];
    if (n > 0) estimate(std::span(some).first(n), std::span(advantage).first(n));
    n = 0;
    for (std::size_t i = from; i < from + members; ++i) out[i] = std::isnan(reward[i]) ? Real(0) : static_cast<Real>(advantage[n++]);
  }
}

namespace {

/// What can be said of all scores that are there: the least and the largest, whether all are whole, and whether some are missing.
struct Extent {
  double low = 0, high = 0;
  bool whole = true, gaps = false;
};

Extent extent_of(std::span<const double> reward) {
  double low = 0, high = 0;
  int broken = 0, missing = 0;
  for (const double x : reward) {
    low = x < low ? x : low;
    high = x > high ? x : high;
    missing += x != x;
    broken += x == x && static_cast<double>(static_cast<int>(x < 1e9 && x > -1e9 ? x : 0.5)) != x;
  }
  return {low, high, broken == 0, missing > 0};
}

}  // namespace

template <class Real>
void GroupEstimator::some_groups(std::span<double> reward, std::size_t members, double groups, std::span<Real> out) {
  const Extent extent = extent_of(reward);
  const Basis basis = row_of(config_.form).basis;
  const auto fast = extent.low < 0 || (basis == Basis::bit && !extent.whole) ? nullptr : tables(members, extent.high, groups);
  if (fast == nullptr)
    return one_by_one(reward, members, [&](std::span<double> some, std::span<double> to) { app::group_advantages(config_, std::max(1, levels_), some, to); }, out);
  if constexpr (std::is_same_v<Real, float>)
    if (extent.whole) {
      std::vector<std::uint8_t> score(reward.size());
      for (std::size_t i = 0; i < reward.size(); ++i) score[i] = std::isnan(reward[i]) ? no_score : static_cast<std::uint8_t>(reward[i]);
      const EstimatorStages& stages = estimator_stages(isa_);
      const int count = static_cast<int>(reward.size() / members);
      return extent.gaps ? fast->with_gaps(stages, score.data(), count, out.data()) : (*fast)(stages, score.data(), count, out.data());
    }
  one_by_one(reward, members, [&](std::span<double> some, std::span<double> to) {
    if (basis == Basis::rank && !extent.whole) app::join_rounded(some);
    fast->one(some.data(), static_cast<int>(some.size()), to.data());
  }, out);
}

template <class Real>
void GroupEstimator::whole_batch(const Scores& scores, const Matrix& lengths, std::span<Real> out) const {
  std::vector<double> reward(out.size()), advantage(out.size()), tokens(lengths.data == nullptr ? 0 : out.size());
  scores.read(0, scores.groups(), reward);
  if (!tokens.empty()) read_numbers(lengths, 0, scores.groups(), tokens);
  const auto whole = [](double x) { return x >= 1 && x <= 1e9 && x == std::floor(x); };
  for (std::size_t i = 0; i < tokens.size(); ++i)
    if (!std::isnan(reward[i]) && !whole(tokens[i])) throw app::Refusal{"out_of_range", "lengths: whole numbers from 1 to 1000000000 are needed"};
  std::vector<int> length(tokens.size(), 1);
  for (std::size_t i = 0; i < tokens.size(); ++i)
    if (whole(tokens[i])) length[i] = static_cast<int>(tokens[i]);
  batch_advantages(config_, levels_, static_cast<int>(scores.members()), reward, length, advantage);
  std::copy(advantage.begin(), advantage.end(), out.begin());
}

template <class Real>
void GroupEstimator::estimate(const Scores& scores, const Matrix& lengths, std::span<Real> out) {
  const bool needs_lengths = row_of(config_.form).reads == Reads::lengths;
  if (needs_lengths != (lengths.data != nullptr))
    throw app::Refusal{needs_lengths ? "missing_argument" : "out_of_range", "lengths: opo needs the length of every response, and only opo reads it"};
  const std::size_t members = scores.members();
  if (out.empty()) return;
  if (!beside_group(config_.form).empty()) return whole_batch(scores, lengths, out);
  const std::size_t some = std::max<std::size_t>(1, at_once / members);
  std::vector<double> reward(std::min(some, scores.groups()) * members);
  for (std::size_t g = 0; g < scores.groups(); g += some) {
    const std::size_t count = std::min(some, scores.groups() - g);
    const std::span<double> now = std::span(reward).first(count * members);
    scores.read(g, count, now);
    some_groups(now, members, static_cast<double>(g == 0 ? scores.groups() : 0), out.subspan(g * members, now.size()));
  }
}

template void GroupEstimator::estimate(const Scores&, const Matrix&, std::span<float>);
template void GroupEstimator::estimate(const Scores&, const Matrix&, std::span<double>);

}  // namespace odrpo::python
