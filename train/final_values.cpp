// Computes final values (areas, gains, median step time), and watches the observed reward for a collapse.
#include "train/final_values.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>

#include "config/spec.hpp"
#include "kernels/shared/failure.hpp"
#include "train/curves.hpp"

namespace odrpo {
namespace {

// Returns the mean of a curve over the steps, by trapezoids between recorded steps.
double area(const std::vector<std::int32_t>& step, const std::vector<double>& y) {
  if (step.size() < 2) return y.empty() ? 0 : y.back();
  double sum = 0;
  for (std::size_t i = 1; i < step.size(); ++i) sum += 0.5 * (y[i] + y[i - 1]) * (step[i] - step[i - 1]);
  return sum / (step.back() - step.front());
}

// Returns the seconds that these stages take together in a step: the median over the intervals between records, 0 if there are none. The
// first interval warms up, and counts only if there is no other.
double median_step_seconds(const RunRecord& r, std::initializer_list<Stage> stages) {
  std::vector<double> steps;
  for (std::size_t i = r.step.size() > 2 ? 2 : 1; i < r.step.size(); ++i) {
    double sum = 0;
    for (const Stage stage : stages) sum += static_cast<double>(r.seconds[i * stage_count + static_cast<std::size_t>(stage)]);
    steps.push_back(sum);
  }
  if (steps.empty()) return 0;
  std::nth_element(steps.begin(), steps.begin() + static_cast<std::ptrdiff_t>(steps.size() / 2), steps.end());
  return steps[steps.size() / 2];
}

// Returns the mean of the values that are not NaN; NaN if all are.
double mean_number(const std::vector<double>& y) {
  double sum = 0, count = 0;
  for (const double x : y)
    if (!std::isnan(x)) sum += x, count += 1;
  return count > 0 ? sum / count : std::nan("");
}

}  // namespace

FinalReward::FinalReward(int steps) : first(steps - std::max(1, steps / 10)) {}

void FinalReward::add(int t, const SeenSum& seen) {
  if (t < first || seen.count == 0) return;
  sum += seen.mean();
  batches += 1;
}

const std::vector<double>& curve_of(const RunRecord& r, std::string_view name) {
  for (const Curve& c : r.curves)
    if (c.name == name) return c.values;
  throw Failure(Exit::internal, "a record without the curve " + std::string(name));
}

void close_record(RunRecord& r, const RunSpec& spec, const Headroom& between, double final_reward, const CollapseWatch& watch,
                  double judge_calls, const CallsByJudge& by_judge) {
  const std::vector<double>& quality = curve_of(r, "quality");
  const double headroom = between.best - between.start, last = quality.back(), auc = area(r.step, quality);
  r.finals = {
      {"uniform_quality", between.start},
      {"best_quality", between.best},
      {"final_quality", last},
      {"final_gain", headroom > 0 ? (last - between.start) / headroom : std::nan("")},
      {"regret", between.best - last},
      {"auc_quality", auc},
      {"auc_gain", headroom > 0 ? (auc - between.start) / headroom : std::nan("")},
      {"final_reward", final_reward},
      {"auc_reward", area(r.step, curve_of(r, "reward"))},
      {"final_kl", curve_of(r, "kl").back()},
      {"final_entropy", curve_of(r, "entropy").back()},
      {"judge_calls", judge_calls},
      {"collapsed", watch.could_tell() ? static_cast<double>(watch.collapsed()) : std::nan("")},
      {"collapse_step", watch.collapsed() ? watch.collapse_step : std::nan("")},
      {"recovered", watch.collapsed() ? static_cast<double>(watch.back()) : std::nan("")},
      {"largest_fall", watch.has_window() ? watch.largest_fall : std::nan("")},
      {"quality_fall", *std::max_element(quality.begin(), quality.end()) - last},
  };
  r.step_time_median = median_step_seconds(r, {stage_prompts, stage_policy, stage_rater, stage_estimator, stage_update});
  const JudgeBill bill = judge_bill(spec, judge_calls, by_judge);
  if (bill.seconds) {
    const double judged = *bill.seconds / spec.learn.steps;
    r.finals.push_back({"judge_seconds", judged});
    r.finals.push_back({modelled_seconds, median_step_seconds(r, {stage_prompts, stage_policy, stage_estimator, stage_update}) + judged});
  }
  if (bill.cost) r.finals.push_back({"judge_cost", *bill.cost});
  for (const CurveId id : {CurveId::gradient_cosine, CurveId::gradient_snr}) {
    if (!has_curve(spec, id)) continue;
    const std::string name = curve_name(id);
    const std::vector<double>& values = curve_of(r, name);
    r.finals.push_back({name, mean_number(values)});
    r.finals.push_back({"final_" + name, values.back()});
  }
  std::erase_if(r.curves, [](const Curve& c) { return c.values.empty(); });
  r.status = RunStatus::ok;
}

// Takes one batch after another: updates the ring buffer, the suspects, and the latest window's mean and its fall from the peak.

namespace {

std::size_t ring_length(const RecordConfig& config, int steps) {
  return static_cast<std::size_t>(std::max(1, std::min(config.collapse_steps, steps)));
}

}  // namespace

CollapseWatch::CollapseWatch(const RecordConfig& config, int steps)
    : fall(config.collapse_fall),
      window(static_cast<std::size_t>(config.collapse_steps)),
      mean(ring_length(config, steps)),
      peak_before(ring_length(config, steps)),
      step(ring_length(config, steps)) {}

void CollapseWatch::add(int t, double reward) {
  sum += reward - mean[place];  // minus the batch T batches before; 0 until the ring is full
  mean[place] = reward;
  peak_before[place] = peak;
  step[place] = t;

  // A suspect is a batch such that it and all later batches lie more than `fall` below the peak before it. That peak never falls from one
  // batch to the next. So a batch that clears one suspect clears all earlier ones, and suspects are always the latest `low` batches.
  if (!collapsed()) {
    const auto oldest = [&] { return place + 1 >= low ? place + 1 - low : place + 1 + mean.size() - low; };
    ++low;
    while (low > 0 && !(reward < peak_before[oldest()] - fall)) --low;
    if (low == window) collapse_step = step[oldest()];
  }

  ++batches;
  if (++place == mean.size()) {
    place = 0;
    sum = 0;
    for (const double m : mean) sum += m;
  }
  if (static_cast<std::size_t>(batches) < window) return;
  latest = sum / static_cast<double>(window);
  peak = std::max(peak, latest);
  largest_fall = std::max(largest_fall, peak - latest);
}

double watch_bytes(const RecordConfig& config, int steps) {
  return static_cast<double>(ring_length(config, steps)) * (2 * sizeof(double) + sizeof(std::int32_t));
}

}  // namespace odrpo
