// Estimates the bytes of a run's record, and the bill of its judge.
#include "train/schedule/cost.hpp"

#include <algorithm>
#include <cmath>

#include "config/spec.hpp"
#include "envs/rater/noise.hpp"
#include "envs/rater/rater.hpp"
#include "results/store/record.hpp"
#include "train/curves.hpp"
#include "train/kept_rollouts.hpp"
#include "train/level_curves.hpp"

namespace odrpo {

namespace {

// Returns the mean time or price of a call. `each`: time or price of each judge's calls; if empty, `all` is that of every judge.
std::optional<double> of_a_call(const std::optional<double>& all, const std::vector<double>& each, const CallsByJudge& by_judge) {
  if (each.empty()) return all;
  double sum = 0, calls = 0;
  for (std::size_t j = 0; j < each.size(); ++j) {
    const double weight = by_judge.empty() ? 1 : by_judge[j];
    sum += weight * each[j], calls += weight;
  }
  return calls > 0 ? sum / calls : 0;
}

}  // namespace

bool bills_by_judge(const RunSpec& spec) {
  const RaterConfig& r = spec.rater;
  const int judges = panel_size(r.noise);
  return r.cost.by_judge() && judges > 1 && !draws_judges(r) && (spec.votes % judges != 0 || stops_early(r, spec.votes));
}

JudgeBill judge_bill(const RunSpec& spec, double calls, const CallsByJudge& by_judge) {
  const JudgeCost& judge = spec.rater.cost;
  JudgeBill bill;
  if (!judge.any()) return bill;
  bill.calls = calls;
  const double steps = spec.learn.steps;
  double rounds = std::ceil(calls / steps / judge.parallel * (1 - 1e-12));  // a rounding error does not make one more round
  if (stops_early(spec.rater, spec.votes)) rounds = std::max<double>(rounds, most_calls(spec.rater, spec.env.levels(), spec.votes));
  if (const auto seconds = of_a_call(judge.seconds_per_call, judge.seconds, by_judge)) bill.seconds = steps * (rounds * *seconds);
  if (const auto price = of_a_call(judge.price_per_call, judge.prices, by_judge)) bill.cost = calls * *price;
  return bill;
}

double record_count(const RunSpec& spec) { return spec.learn.steps / static_cast<double>(spec.record.every) + 2; }

double recorded_bytes(const RunSpec& spec) {
  return record_count(spec) * (8.0 * (curve_count(spec) + static_cast<double>(level_curves(spec).size())) + 4.0 * stage_count) +
         8.0 * rollout_column_count * static_cast<double>(kept_rollouts(spec, spec.learn.steps));
}

double stored_bytes(double recorded) {
  const double shard_and_output = 1500 + 0.8 * recorded, row = 2000 + recorded;
  return shard_and_output + row;
}

double stored_seconds(double recorded) { return 0.25e-3 + 1e-7 * recorded; }

}  // namespace odrpo
