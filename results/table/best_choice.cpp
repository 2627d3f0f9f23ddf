// The choice of a cell's learning rate (or other best axis).
#include "results/table/cells.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <unordered_map>

#include "results/table/dimensions.hpp"

namespace odrpo {
namespace {

const std::string& value_of(const Dimension& axis, const Candidate& candidate, const ChoiceRule& rule) {
  return axis.entries[axis.code[rule.choices.first[candidate.choice]]];
}

bool is_better(double a, double b, const Shown& value) { return value.word.more_is_better ? a > b : a < b; }

bool is_better(const Candidate& a, const Candidate& b, const Shown& value) {
  if (std::isnan(a.score.mean) || std::isnan(b.score.mean)) return !std::isnan(a.score.mean);
  if (a.lost != b.lost) return a.lost < b.lost;
  return is_better(a.score.mean, b.score.mean, value);
}

Candidates::Range range_of(const Dimension& axis, const std::vector<Candidate>& tried, const ChoiceRule& rule) {
  std::set<double> numbers;
  for (const Candidate& candidate : tried) {
    const auto number = number_of(value_of(axis, candidate, rule));
    if (!number) return {0, 0, false};
    numbers.insert(*number);
  }
  return numbers.empty() ? Candidates::Range{0, 0, false} : Candidates::Range{*numbers.begin(), *numbers.rbegin(), numbers.size() > 2};
}

}  // namespace

Candidates candidates_of(std::span<const std::uint32_t> runs, const ChoiceRule& rule) {
  Candidates of;
  std::unordered_map<std::uint32_t, std::size_t> place;  // of each choice in `tried`
  for (const std::uint32_t i : runs) {
    const auto [found, is_new] = place.try_emplace(rule.choices.of(i), of.tried.size());
    if (is_new) of.tried.push_back({rule.choices.of(i), {}, 0, {}});
    of.tried[found->second].runs.push_back(i);
  }
  std::vector<double> values;
  for (Candidate& candidate : of.tried) {
    values.clear();
    for (const std::uint32_t i : candidate.runs) {
      if (rule.spec.tune_seeds > 0 && rule.facts.seed_of(i) >= rule.spec.tune_seeds) continue;
      const double number = (*rule.value.numbers)[i];
      if (!rule.facts.failed[i] && !std::isnan(number)) values.push_back(number * rule.value.word.factor);
      else if (rule.spec.tune_seeds == 0) ++candidate.lost;
    }
    if (rule.spec.tune_seeds > 0) candidate.lost = rule.spec.tune_seeds - static_cast<int>(values.size());
    candidate.score = rule.value.word.share ? share_interval(values, rule.value.word.factor) : mean_interval(values);
  }
  for (std::size_t c = 1; c < of.tried.size(); ++c)
    if (is_better(of.tried[c], of.tried[of.best], rule.value)) of.best = c;
  for (const Dimension* axis : rule.axes) of.ranges.push_back(range_of(*axis, of.tried, rule));
  return of;
}

std::vector<ChosenValue> chosen_values(const Candidates& of, std::size_t at, const ChoiceRule& rule) {
  std::vector<ChosenValue> chosen;
  for (std::size_t i = 0; i < rule.axes.size(); ++i) {
    const std::string& value = value_of(*rule.axes[i], of.tried[at], rule);
    const Candidates::Range& range = of.ranges[i];
    const auto number = number_of(value);
    chosen.push_back({rule.axes[i]->name, value, range.has_edges && (number == range.least || number == range.largest)});
  }
  return chosen;
}

bool is_too_coarse(const Candidates& of, std::size_t axis, const ChoiceRule& rule, double half_width) {
  if (!is_learning_rate(rule.axes[axis]->name)) return false;
  const Candidate& best = of.tried[of.best];
  const auto middle = number_of(value_of(*rule.axes[axis], best, rule));
  if (!middle || *middle <= 0) return false;
  const Candidate *below = nullptr, *above = nullptr;  // the nearest on each side
  double nearest_below = 0, nearest_above = 0;
  for (const Candidate& candidate : of.tried) {
    bool same = true;
    for (std::size_t i = 0; i < rule.axes.size(); ++i)
      same = same && (i == axis || value_of(*rule.axes[i], candidate, rule) == value_of(*rule.axes[i], best, rule));
    const auto number = number_of(value_of(*rule.axes[axis], candidate, rule));
    if (!same || !number) continue;
    if (*number < *middle && (!below || *number > nearest_below)) below = &candidate, nearest_below = *number;
    if (*number > *middle && (!above || *number < nearest_above)) above = &candidate, nearest_above = *number;
  }
  if (!below || !above || *middle <= coarse_factor * nearest_below || nearest_above <= coarse_factor * *middle) return false;
  const auto loses = [&](const Candidate& other) { return other.lost > best.lost || std::abs(other.score.mean - best.score.mean) > half_width; };
  return loses(*below) && loses(*above);
}

}  // namespace odrpo
