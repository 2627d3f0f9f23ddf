// Analyses rollouts in one pass over their steps, then draws the bootstrap from the sums of prompts.
#include "train/rollouts/rollout_analysis.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "estimators/level_formulas.hpp"
#include "kernels/shared/failure.hpp"
#include "results/stats/bootstrap.hpp"
#include "results/stats/statistics.hpp"
#include "train/rollouts/advantages.hpp"
#include "train/rollouts/group_sums.hpp"

namespace odrpo {
namespace {

constexpr std::size_t most_bootstrap_units = 5000;  // more cost time and change no printed interval
constexpr double interval_level = 0.95;

/// An estimator under a convention. Conventions that compute the same share one computation.
struct MadeAdvantages {
  GroupAdvantages make;
  Convention rule;
  std::size_t estimator;
};

bool computes_the_same(const Convention& a, const Convention& b) {
  return a.centre == b.centre && a.divisor == b.divisor && a.ddof == b.ddof && a.eps == b.eps && a.single == b.single && a.guard == b.guard;
}

/// The estimators of an analysis, those that cannot be computed left out with a note.
struct ComparedEstimators {
  std::vector<MadeAdvantages> made;      // the first `estimators` are those that are compared; the others are conventions alone
  std::size_t estimators = 0;
  std::vector<std::size_t> of_convention;  // index into `made`

  ComparedEstimators(const Rollouts& rollouts, const RolloutRewards& rewards, const RolloutAnalysisOptions& o, RolloutAnalysis& a) {
    const int largest = largest_group(rollouts);
    std::vector<EstimatorConfig> kept;
    std::string need_levels;
    for (std::size_t e = 0; e < o.estimators.size(); ++e) {
      if (!o.asked && rewards.scale.size() < 2 && reads_levels(o.estimators[e])) {
        need_levels += (need_levels.empty() ? "" : ", ") + o.texts[e];
        continue;
      }
      try {
        if (row_of(o.estimators[e].form).reads == Reads::lengths) need_lengths(rollouts, rewards.reward, 1, o.texts[e]);
        made.push_back({GroupAdvantages(o.estimators[e], rewards.scale, largest), convention_of(o.estimators[e]), kept.size()});
        kept.push_back(o.estimators[e]);
        a.estimators.push_back(o.texts[e]);
      } catch (const Failure& failure) {
        if (o.asked) throw;
        a.notes.push_back(failure.what());
      }
    }
    if (!need_levels.empty()) a.notes.push_back("left out, since they need levels: " + need_levels);
    estimators = kept.size();
    for (std::size_t e = 0; e < estimators; ++e)
      for (const auto& compat : compat_words) {
        EstimatorConfig config = kept[e];
        config.compat = compat.value;
        if (compat_refusal(config)) continue;
        const Convention rule = convention_of(config);
        auto same = std::find_if(made.begin(), made.end(), [&](const MadeAdvantages& m) { return m.estimator == e && computes_the_same(m.rule, rule); });
        if (same == made.end()) same = made.insert(made.end(), {GroupAdvantages(config, rewards.scale, largest), rule, e});
        of_convention.push_back(static_cast<std::size_t>(same - made.begin()));
        a.conventions.push_back({e, compat.value});
      }
  }
};

std::size_t period_of(std::size_t step, std::size_t steps, std::size_t periods) { return step * periods / steps; }

void add_intervals(RolloutAnalysis& a, const SumLayout& layout, const std::vector<double>& sums, std::size_t units, const RolloutAnalysisOptions& o) {
  RolloutStatistics<double> drawn;
  std::vector<double> total(layout.width()), times(units);
  const auto compute = [&] {
    std::fill(total.begin(), total.end(), 0.0);
    for (std::size_t u = 0; u < units; ++u) {
      if (times[u] == 0) continue;
      const double count = times[u], *row = &sums[u * layout.width()];
      for (std::size_t i = 0; i < total.size(); ++i) total[i] += count * row[i];
    }
    statistics_of(layout, total, drawn);
  };
  std::fill(times.begin(), times.end(), 1.0);
  compute();
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  a.statistics.period.resize(drawn.period.size());
  a.statistics.cosine.resize(drawn.cosine.size()), a.statistics.turned.resize(drawn.turned.size()), a.statistics.leverage.resize(drawn.leverage.size());
  a.statistics.weight.resize(drawn.weight.size()), a.statistics.rms.resize(drawn.rms.size());
  std::vector<Estimate*> to;
  a.statistics.each([&](Estimate& e) { to.push_back(&e); });
  std::size_t n = 0;
  drawn.each([&](double value) { *to[n++] = {value, none, none}; });
  for (std::size_t pair = 0; pair < layout.pairs(); ++pair) a.nonzero.push_back(static_cast<std::int64_t>(total[layout.nonzero(pair)]));
  if (o.resamples == 0 || units < 2) return;
  const std::array<std::uint32_t, 1> sizes = {static_cast<std::uint32_t>(units)};
  auto distributions = bootstrap(
      sizes, n,
      [&](const Picks& picks, std::span<double> out) {
        std::fill(times.begin(), times.end(), 0.0);
        for (const std::uint32_t u : picks[0]) times[u] += 1;
        compute();
        std::size_t i = 0;
        drawn.each([&](double value) { out[i++] = value; });
      },
      o.resamples, o.seed);
  const int count = static_cast<int>(units);
  const double wide = expanded_level(count, count - 1, interval_level);
  for (std::size_t i = 0; i < n; ++i) {
    if (distributions[i].acceleration != distributions[i].acceleration) distributions[i].acceleration = 0;  // no single prompt moves it
    const Interval interval = bca_interval(distributions[i], wide);
    to[i]->lo = interval.lo, to[i]->hi = interval.hi;
  }
}

}  // namespace

std::size_t RolloutAnalysis::pair(std::size_t i, std::size_t j) const { return i * estimators.size() - i * (i + 1) / 2 + (j - i - 1); }

std::vector<std::pair<std::size_t, std::size_t>> steps_of(const Rollouts& rollouts) {
  std::vector<std::pair<std::size_t, std::size_t>> steps;
  const std::vector<RolloutGroup>& g = rollouts.groups;
  for (std::size_t from = 0, to; from < g.size(); from = to) {
    to = from + 1;
    while (to < g.size() && g[to].step == g[from].step) ++to;
    steps.emplace_back(from, to);
  }
  return steps;
}

std::pair<std::size_t, std::size_t> rows_of(std::span<const RolloutGroup> groups) {
  std::size_t begin = groups.front().first, end = 0;
  for (const RolloutGroup& g : groups) begin = std::min<std::size_t>(begin, g.first), end = std::max<std::size_t>(end, g.first + g.count);
  return {begin, end - begin};
}

int largest_group(const Rollouts& rollouts) {
  std::uint32_t largest = 1;
  for (const RolloutGroup& g : rollouts.groups) largest = std::max(largest, g.count);
  return static_cast<int>(largest);
}

RolloutAnalysis analyze_rollouts(const Rollouts& rollouts, const RolloutRewards& rewards, const RolloutAnalysisOptions& o) {
  RolloutAnalysis a;
  if (o.estimators.size() > most_compared) throw Failure(Exit::limits, std::to_string(o.estimators.size()) + " estimators: at most " + std::to_string(most_compared) + " are compared");
  ComparedEstimators compared(rollouts, rewards, o, a);
  const auto steps = steps_of(rollouts);
  const std::size_t periods = std::min<std::size_t>(most_periods, steps.size()), levels = rewards.scale.size();
  const SumLayout layout{periods, compared.estimators, compared.of_convention.size()};
  a.units = std::min(rollouts.prompts.size(), most_bootstrap_units);
  a.low = levels > 0 ? rewards.scale.front() : rewards.least, a.high = levels > 0 ? rewards.scale.back() : rewards.most;
  std::vector<double> sums(a.units * layout.width(), 0.0), zeros;
  std::vector<std::vector<double>> advantage(compared.made.size(), std::vector<double>());
  a.periods.assign(periods + 1, {.level = std::vector<std::int64_t>(levels, 0)});
  GroupSums group_sums(rollouts, rewards, layout);
  std::vector<RolloutGroup> local;
  std::vector<double> reward, rounded, length;
  for (std::size_t s = 0; s < steps.size(); ++s) {
    const std::span<const RolloutGroup> groups = std::span(rollouts.groups).subspan(steps[s].first, steps[s].second - steps[s].first);
    const auto [begin, rows] = rows_of(groups);
    const std::size_t p = period_of(s, steps.size(), periods);
    local.assign(groups.begin(), groups.end());
    for (RolloutGroup& g : local) g.first -= static_cast<std::uint32_t>(begin);
    const std::span<const double> of_length = rollouts.length.empty() ? std::span<const double>() : std::span(rollouts.length).subspan(begin, rows);
    for (std::size_t m = 0; m < compared.made.size(); ++m) {
      advantage[m].resize(rows);
      compared.made[m].make.step(local, rewards.read_by(compared.made[m].make.config()).subspan(begin, rows), of_length, advantage[m]);
    }
    StepCounts step{.step = groups.front().step, .level = std::vector<std::uint32_t>(levels, 0)};
    PeriodCounts& counts = a.periods[p];
    if (counts.steps++ == 0) counts.first_step = step.step;
    counts.last_step = step.step;
    for (std::size_t g = 0; g < groups.size(); ++g) {
      const std::span<double> unit = std::span(sums).subspan(groups[g].prompt % a.units * layout.width(), layout.width());
      const std::int64_t present = counts.rows - counts.missing;
      group_sums.add(groups[g], p, unit, step, counts);
      const std::int64_t own = counts.rows - counts.missing - present;
      a.lone += own == 1, a.empty += own == 0;
      if (group_sums.bin() >= 0) ++a.difficulty[static_cast<std::size_t>(group_sums.bin())];
      add_agreement(layout, std::span(advantage).first(compared.estimators), local[g], group_sums.bin(), unit);
      for (std::size_t c = 0; c < compared.of_convention.size(); ++c) {
        const double* from = &advantage[compared.of_convention[c]][local[g].first];
        double square = 0;
        for (std::size_t i = 0; i < local[g].count; ++i) square += from[i] * from[i];
        unit[layout.convention(c)] += square;
      }
    }
    if (step.rows > 0) step.mean /= static_cast<double>(step.rows);
    if (step.compared > 0) step.dead_levels /= static_cast<double>(step.compared);
    a.steps.push_back(std::move(step));
  }
  PeriodCounts& all = a.periods[periods];
  for (std::size_t p = 0; p < periods; ++p) {
    const PeriodCounts& of = a.periods[p];
    if (p == 0) all.first_step = of.first_step;
    all.last_step = of.last_step, all.steps += of.steps, all.groups += of.groups, all.rows += of.rows, all.missing += of.missing;
    all.compared += of.compared, all.of_three += of.of_three, all.with_length += of.with_length;
    for (std::size_t k = 0; k < levels; ++k) all.level[k] += of.level[k];
  }
  add_intervals(a, layout, sums, a.units, o);
  return a;
}

}  // namespace odrpo
