// Records which levels a policy reaches, and which levels its updates come from.
#include "train/level_curves.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <string>

#include "config/spec.hpp"
#include "estimators/formula_text.hpp"
#include "estimators/level_values.hpp"
#include "train/curves.hpp"
#include "train/prompt_batch.hpp"

namespace odrpo {
namespace {

constexpr double no_value = std::numeric_limits<double>::quiet_NaN();

std::size_t level_steps(const RunSpec& spec) { return static_cast<std::size_t>(reward_kind(spec).levels) - 1; }

/// Appends values to the curves of kind number `kind`.
void append(RunRecord& record, const RunSpec& spec, std::size_t kind, std::span<const double> values) {
  for (std::size_t k = 0; k < values.size(); ++k) record.curves[all_curves + kind * level_steps(spec) + k].values.push_back(values[k]);
}

}  // namespace

bool records_levels(const RunSpec& spec) { return spec.record.levels > 0; }

std::vector<Curve> level_curves(const RunSpec& spec) {
  std::vector<Curve> curves;
  if (!records_levels(spec)) return curves;
  for (const LevelCurveKind& kind : level_curve_kinds)
    for (std::size_t k = 0; k < level_steps(spec); ++k) curves.push_back({std::string(kind.name) + std::to_string(k + 2), {}});
  return curves;
}

bool have_length(const RunRecord& record, const RunSpec& spec, std::size_t policy, std::size_t batch) {
  if (!records_levels(spec)) return true;
  for (std::size_t kind = 0; kind < std::size(level_curve_kinds); ++kind)
    for (std::size_t k = 0; k < level_steps(spec); ++k)
      if (record.curves[all_curves + kind * level_steps(spec) + k].values.size() != (level_curve_kinds[kind].of_policy ? policy : batch)) return false;
  return true;
}

void add_quality_levels(RunRecord& record, const RunSpec& spec, std::span<const double> reached) { append(record, spec, 0, reached); }

bool add_level_sums(const EstimatorConfig& config, std::span<const double> scores, std::span<const double> advantages, std::span<double> sums) {
  const FormRow& row = row_of(config.form);
  const bool linear = row.basis == Basis::reward && is_mean(row.centre) && !config.posterior;
  if (config.outside != Outside::none || config.posterior || !(linear || row.basis == Basis::level)) return false;
  const double members = static_cast<double>(scores.size());
  if (row.basis == Basis::level) {
    for (const LevelPart& part : break_down(config, static_cast<int>(sums.size()) + 1, scores, no_value).levels)
      if (const int k = static_cast<int>(part.high); k >= 2 && k <= static_cast<int>(sums.size()) + 1)
        sums[static_cast<std::size_t>(k - 2)] += part.count * std::abs(part.reached) + (members - part.count) * std::abs(part.missed);
    return true;
  }
  const auto worth = [&](double score) { return config.values.empty() ? score : value_of_score(config.values, score); };
  double mean = 0;
  for (const double score : scores) mean += worth(score) / members;
  double distance = 0, scale = 0;  // A / (R - mean R), from the member where rounding matters least
  for (std::size_t i = 0; i < scores.size(); ++i)
    if (const double d = std::abs(worth(scores[i]) - mean); d > distance) distance = d, scale = std::abs(advantages[i]) / d;
  for (std::size_t k = 0; k < sums.size(); ++k) {
    const auto above = static_cast<double>(std::count_if(scores.begin(), scores.end(), [&](double s) { return s >= static_cast<double>(k + 2); }));
    sums[k] += scale * level_gap(config.values, static_cast<int>(k) + 2) * 2 * above * (members - above) / members;
  }
  return true;
}

void add_batch_levels(RunRecord& record, const RunSpec& spec, const RewardBatch& batch) {
  const std::size_t levels = level_steps(spec), members = static_cast<std::size_t>(spec.learn.rollouts);
  std::vector<double> reached(levels, 0.0), sums(levels, 0.0), scores, advantages;
  double seen = 0, total = 0;
  bool sums_levels = !batch.kind.real && batch.kind.votes == 1 && !batch.median;  // a running median has moved on since
  for (std::size_t first = 0; first < batch.raw.size(); first += members) {
    scores.clear(), advantages.clear();
    for (std::size_t i = first; i < first + members; ++i) {
      const double reward = reward_of(batch, i);
      if (reward != reward) continue;
      scores.push_back(reward), advantages.push_back(static_cast<double>(batch.raw[i]));
      for (std::size_t k = 0; k < levels; ++k) reached[k] += reward >= static_cast<double>(k + 2);
    }
    seen += static_cast<double>(scores.size());
    sums_levels = sums_levels && (scores.size() < 2 || add_level_sums(spec.estimator, scores, advantages, sums));
  }
  for (const double sum : sums) total += sum;
  for (std::size_t k = 0; k < levels; ++k) {
    reached[k] = seen > 0 ? reached[k] / seen : no_value;
    sums[k] = sums_levels && total > 0 ? sums[k] / total : no_value;
  }
  append(record, spec, 1, reached);
  append(record, spec, 2, sums);
}

}  // namespace odrpo
