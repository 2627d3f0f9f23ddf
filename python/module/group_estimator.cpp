// Chooses, for each few groups of an array, between the tables of training and the definition.
#include "python/module/group_estimator.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "app/compute/functions.hpp"
#include "estimators/batch_forms.hpp"
#include "estimators/compat.hpp"
#include "estimators/definition.hpp"
#include "estimators/level_formulas.hpp"
#include "kernels/shared/judge_model.hpp"

namespace odrpo::python {
namespace {

constexpr std::size_t at_once = 4096;  // scores that are read and estimated before the next: they stay in the cache
using Levels = std::array<std::uint8_t, std::max<std::size_t>(at_once, most_scores)>;
constexpr int table_levels[] = {10, 20, 50, 100};  // K of tables where nothing says it: the least that the scores fit

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

std::vector<app::Argument> estimator_takes(bool batch) {
  std::vector<app::Argument> takes;
  const std::span<const app::Argument> all = batch ? std::span<const app::Argument>(app::texts::batch_takes) : app::texts::advantage_takes;
  for (app::Argument a : all) {
    if (a.name == "rewards" || a.name == "groups" || a.name == "lengths") continue;
    a.optional = a.name != "est";
    takes.push_back(a);
  }
  return takes;
}

GroupEstimator::GroupEstimator(const nlohmann::json& settings) {
  const auto word = settings.contains("est") && settings["est"].is_string() ? parse_estimator(settings["est"].get<std::string>()) : std::nullopt;
  const std::vector<app::Argument> takes = estimator_takes(word && !beside_group(word->form).empty());
  const app::Arguments a(settings, takes);
  config_ = app::named_estimator(a);
  levels_ = levels_of(a, config_);
  app::read_conventions(a, config_);
  app::read_level_values(a, {}, config_);
  by_formula_ = by_formula(config_);
  if (!config_.values.empty()) levels_ = static_cast<int>(config_.values.size());
}

std::shared_ptr<const BatchEstimator> GroupEstimator::tables(std::size_t members, int levels, double groups) {
  const std::lock_guard hold(mutex_);
  if (tables_ == nullptr || members_ != members || table_levels_ != levels) {
    tables_ = std::make_shared<const BatchEstimator>(config_, levels, static_cast<int>(members));
    members_ = members, table_levels_ = levels, groups_ = 0, next_try_ = 1000;
  }
  groups_ += groups;
  if (groups_ >= next_try_ && !tables_->tabulated()) {
    next_try_ = 2 * groups_;
    BatchEstimator more = *tables_;  // a copy: another thread may be using these
    more.expect(groups_, isa_);
    if (more.tabulated()) tables_ = std::make_shared<const BatchEstimator>(std::move(more));
  }
  return tables_;
}

/// What can be said of all scores that are there: the least and the largest (at most 0, at least 0), whether all are whole, whether some are missing.
struct Extent {
  double low = 0, high = 0;
  bool whole = true, gaps = false;

  void add(std::span<const double> reward) {
    int broken = 0, missing = 0;
    double least = low, most = high;
    for (const double x : reward) {
      least = x < least ? x : least;
      most = x > most ? x : most;
      missing += x != x;
      broken += x == x && static_cast<double>(static_cast<int>(x < 1e9 && x > -1e9 ? x : 0.5)) != x;
    }
    low = least, high = most, whole = whole && broken == 0, gaps = gaps || missing > 0;
  }
};

/// How the scores of a call are estimated: by tables for so many levels, of integer scores or in double; levels = 0: by the definition.
struct GroupEstimator::Way {
  int levels = 0;
  bool whole = true, gaps = false;
  std::shared_ptr<const BatchEstimator> tables = nullptr;
  bool same(const Way& other) const { return levels == other.levels && whole == other.whole && gaps == other.gaps; }
};

GroupEstimator::Way GroupEstimator::way_for(const Extent& extent, std::size_t members) const {
  Way way{.whole = extent.whole, .gaps = extent.gaps};
  const Basis basis = row_of(config_.form).basis;
  if (by_formula_ || (basis == Basis::bit && !extent.whole)) return way;
  if (members > static_cast<std::size_t>(basis == Basis::level ? most_scores : most_rollouts)) return way;
  if (extent.low < 0 || extent.high > table_levels[3]) {  // forms that know no levels take any real scores; maxrl's guard is the definition's own
    const bool any_real = (basis == Basis::reward || basis == Basis::rank) && levels_ == 0 && convention_of(config_).divisor != Divisor::mean;
    if (any_real && extent.low >= -max_level && extent.high <= max_level) way.levels = table_levels[0], way.whole = false;
    return way;
  }
  const std::span<const int> choices = levels_ > 0 ? std::span(&levels_, 1) : std::span(table_levels);
  for (const int levels : choices)
    if (extent.high <= levels && levels <= table_levels[3] && way.levels == 0) way.levels = levels;
  return way;
}

namespace {

/// A result in the type of its array. Refuses what that cannot hold.
template <class Real>
Real narrowed(double x) {
  if (std::abs(x) > static_cast<double>(std::numeric_limits<Real>::max())) throw app::Refusal{"not_finite", "a result is beyond the range of float32: give scores in float64"};
  return static_cast<Real>(x);
}

/// Calls estimate(scores, out) for each group with the scores that are there; missing ones get 0.
template <class Estimate, class Real>
void one_by_one(std::span<const double> reward, std::size_t members, Estimate estimate, std::span<Real> out) {
  std::vector<double> some(members), advantage(members);
  for (std::size_t from = 0; from < reward.size(); from += members) {
    std::size_t n = 0;
    for (std::size_t i = from; i < from + members; ++i)
      if (!std::isnan(reward[i])) some[n++] = reward[i];
    if (n > 0) estimate(std::span(some).first(n), std::span(advantage).first(n));
    n = 0;
    for (std::size_t i = from; i < from + members; ++i) out[i] = std::isnan(reward[i]) ? Real(0) : narrowed<Real>(advantage[n++]);
  }
}

}  // namespace

template <class Real>
void GroupEstimator::some_groups(const Way& way, std::span<const double> reward, std::size_t members, std::span<Real> out) const {
  if (way.levels == 0)
    return one_by_one(reward, members, [&](std::span<double> some, std::span<double> to) { app::group_advantages(config_, std::max(1, levels_), some, to); }, out);
  if constexpr (std::is_same_v<Real, float>)
    if (way.whole) {
      Levels score;
      for (std::size_t i = 0; i < reward.size(); ++i) score[i] = way.gaps && std::isnan(reward[i]) ? no_score : static_cast<std::uint8_t>(static_cast<int>(reward[i]));
      const EstimatorStages& stages = estimator_stages(isa_);
      const int count = static_cast<int>(reward.size() / members);
      return way.gaps ? way.tables->with_gaps(stages, score.data(), count, out.data()) : (*way.tables)(stages, score.data(), count, out.data());
    }
  const bool joined = row_of(config_.form).basis == Basis::rank && !way.whole;
  one_by_one(reward, members, [&](std::span<double> some, std::span<double> to) {
    if (joined) app::join_rounded(some);
    way.tables->one(some.data(), static_cast<int>(some.size()), to.data());
  }, out);
}

/// As some_groups(), for floats that are integers side by side, without a detour by doubles; false if they are not.
template <class Real>
bool GroupEstimator::integer_groups(const Way& way, const Scores& scores, std::size_t first, std::span<Real> out) const {
  if constexpr (std::is_same_v<Real, float>) {
    Levels score;
    const std::size_t count = out.size() / scores.members();
    if (way.levels == 0 || !way.whole || way.gaps || !scores.read_levels(first, count, way.levels, score)) return false;
    (*way.tables)(estimator_stages(isa_), score.data(), static_cast<int>(count), out.data());
    return true;
  }
  return false;
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
  std::transform(advantage.begin(), advantage.end(), out.begin(), narrowed<Real>);
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
  const auto read = [&](std::size_t g) {
    const std::span<double> now = std::span(reward).first(std::min(some, scores.groups() - g) * members);
    scores.read(g, now.size() / members, now);
    return now;
  };
  // begins with what the first groups allow, and once more when later ones do not
  Extent extent;
  const std::span<const double> first = read(0);
  extent.add(first);
  for (bool complete = false;;) {
    Way way = way_for(extent, members);
    if (way.levels > 0) way.tables = tables(members, way.levels, static_cast<double>(scores.groups()));
    bool fits = true;
    for (std::size_t g = 0; g < scores.groups(); g += some) {
      const std::size_t size = std::min(some, scores.groups() - g) * members;
      if (g > 0 && fits && integer_groups(way, scores, g, out.subspan(g * members, size))) continue;
      const std::span<const double> now = g == 0 && !complete ? first : read(g);
      if (!complete) extent.add(now), fits = fits && way_for(extent, members).same(way);
      if (fits) some_groups(way, now, members, out.subspan(g * members, size));
    }
    if (fits) return;
    complete = true;
  }
}

template void GroupEstimator::estimate(const Scores&, const Matrix&, std::span<float>);
template void GroupEstimator::estimate(const Scores&, const Matrix&, std::span<double>);

}  // namespace odrpo::python
