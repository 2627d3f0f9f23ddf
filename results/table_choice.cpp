// The choice of a cell's learning rate (or other best axis), and of the one at which two cells are compared.
#include "results/table_choice.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

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

/// Can the seeds that choose not tell an arm's mean at `choice` from its best mean? False where the choice was not tried or lost more runs.
bool as_good(const Candidates& arm, std::uint32_t choice) {
  const auto found = arm.place.find(choice);
  if (found == arm.place.end()) return false;
  const Candidate &other = arm.tried[found->second], &best = arm.tried[arm.best];
  if (other.lost > best.lost || std::isnan(other.score.mean)) return false;
  return std::isnan(best.score.lo) || (other.score.mean >= best.score.lo && other.score.mean <= best.score.hi);
}

/// Is the first candidate the lower one, by the first axis whose values are different numbers?
bool is_lower(const Candidate& a, const Candidate& b, const ChoiceRule& rule) {
  for (const Dimension* axis : rule.axes) {
    const auto first = number_of(value_of(*axis, a, rule)), second = number_of(value_of(*axis, b, rule));
    if (first && second && *first != *second) return *first < *second;
  }
  return false;
}

}  // namespace

Candidates candidates_of(std::span<const std::uint32_t> runs, const ChoiceRule& rule) {
  Candidates of;
  for (const std::uint32_t i : runs) {
    const auto [found, is_new] = of.place.try_emplace(rule.choices.of(i), of.tried.size());
    if (is_new) of.tried.push_back({rule.choices.of(i), {}, 0, {}});
    of.tried[found->second].runs.push_back(i);
  }
  std::vector<double> values;
  for (Candidate& candidate : of.tried) {
    values.clear();
    for (const std::uint32_t i : candidate.runs) {
      if (rule.spec.tune_seeds > 0 && rule.facts.seed_of(i) >= rule.spec.tune_seeds) continue;
      const double number = (*rule.value.numbers)[i];
      if (rule.facts.failed[i] || std::isnan(number)) ++candidate.lost;
      else values.push_back(number * rule.value.word.factor);
    }
    candidate.score = rule.value.word.share ? share_interval(values, rule.value.word.factor) : mean_interval(values);
  }
  for (std::size_t c = 1; c < of.tried.size(); ++c)
    if (is_better(of.tried[c], of.tried[of.best], rule.value)) of.best = c;
  for (const Dimension* axis : rule.axes) of.ranges.push_back(range_of(*axis, of.tried, rule));
  return of;
}

ComparedAt compared_at(const Candidates& row, const Candidates& baseline, const ChoiceRule& rule) {
  const ComparedAt own{row.best, baseline.best};
  const Candidate &best_row = row.tried[row.best], &best_baseline = baseline.tried[baseline.best];
  if (!as_good(row, best_baseline.choice) || !as_good(baseline, best_row.choice)) return own;
  // Both best choices lose the fewest runs on either side; so does every choice considered here.
  std::optional<ComparedAt> shared;
  double best = 0;
  for (std::size_t r = 0; r < row.tried.size(); ++r) {
    const Candidate& a = row.tried[r];
    const auto found = baseline.place.find(a.choice);
    if (found == baseline.place.end()) continue;
    const Candidate& b = baseline.tried[found->second];
    const double average = (a.score.mean + b.score.mean) / 2;
    if (a.lost > best_row.lost || b.lost > best_baseline.lost || std::isnan(average)) continue;
    const bool lower_of_equals = shared && average == best && is_lower(a, row.tried[shared->row], rule);
    if (shared && !lower_of_equals && !is_better(average, best, rule.value)) continue;
    shared = {r, found->second};
    best = average;
  }
  return shared.value_or(own);
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

}  // namespace odrpo
