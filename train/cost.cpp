// Records in bytes.
#include "train/cost.hpp"

#include <algorithm>
#include <cmath>

#include "results/record.hpp"
#include "train/curves.hpp"

namespace odrpo {

JudgeBill judge_bill(const RunSpec& spec, double calls) {
  const JudgeCost& judge = spec.rater.cost;
  JudgeBill bill;
  if (!judge.any()) return bill;
  bill.calls = calls;
  const double steps = spec.learn.steps;
  double rounds = std::ceil(calls / steps / judge.parallel * (1 - 1e-12));  // a quotient that is whole but for its rounding stays so
  if (stops_early(spec.rater, spec.votes)) rounds = std::max<double>(rounds, most_calls(spec.rater, spec.env.levels(), spec.votes));
  if (judge.seconds_per_call) bill.seconds = steps * (rounds * *judge.seconds_per_call);
  if (judge.price_per_call) bill.cost = calls * *judge.price_per_call;
  return bill;
}

double record_count(const RunSpec& spec) { return spec.learn.steps / static_cast<double>(spec.record.every) + 2; }

double recorded_bytes(const RunSpec& spec) { return record_count(spec) * (8.0 * curve_count(spec) + 4.0 * stage_count); }

double stored_bytes(double recorded) {
  const double shard_and_output = 1500 + 0.8 * recorded, row = 2000 + recorded;
  return shard_and_output + row;
}

}  // namespace odrpo
