// Declares estimates of the cost of a run, from its spec alone, and of the cost of a suite (preflight).
#pragma once
#include <optional>
#include <vector>

namespace odrpo {

struct RunSpec;

/// Seconds and price of the calls of a real judge, by the rater's numbers; unset where the rater has none. For one run see judge_bill().
/// The bill of a suite is the sum over its runs.
struct JudgeBill {
  double calls = 0;                     ///< calls of the runs whose rater has a time or a price
  std::optional<double> seconds, cost;  ///< of all training steps, one after the other; price, in the unit of price_per_call
};
/// Number of a run's calls that each judge of a panel answers; empty = equally many.
using CallsByJudge = std::vector<double>;
/// Returns the bill of a run that makes `calls` calls. If judges have their own times or prices, a call counts with the mean over all
/// calls. A step makes its calls `parallel` at a time and waits for all answers. So seconds = steps ceil(calls of a step / parallel)
/// seconds_per_call, with the run's mean number of calls per step. Calls that may end early are made one after the other about each
/// response. A step then has at least as many rounds as the most calls about one response.
JudgeBill judge_bill(const RunSpec& spec, double calls, const CallsByJudge& by_judge = {});
/// Returns whether the bill depends on which judge answers: judges have their own times or prices, and may answer unequal numbers of calls.
bool bills_by_judge(const RunSpec& spec);

/// Estimated cost of a run or a suite. cpu_seconds: of one core. memory_bytes: while it runs; of a run without what it shares with others.
/// disk_bytes: until the work folder is removed. judge_calls: expected; of a judge that may stop early, as if it never did.
struct Cost {
  double cpu_seconds = 0, memory_bytes = 0, disk_bytes = 0, judge_calls = 0;
  double making_bytes = 0;    ///< of a run: temporary memory to make its world, besides the world
  double recorded_bytes = 0;  ///< of a run: memory of its record, until it is committed
  JudgeBill judge{};          ///< set by total_cost
};

/// Returns the number of recorded steps of a run, or slightly more.
double record_count(const RunSpec& spec);
/// Returns the bytes of the curves, of the training stages' seconds and of the kept rollouts in a run's record.
double recorded_bytes(const RunSpec& spec);
/// Returns the bytes on disk that a run takes while the output is made, if its record has `recorded` bytes. The record lies in a shard and
/// in the output, both compressed, and uncompressed in a temporary file of the work folder (the row file).
double stored_bytes(double recorded);
/// Returns the seconds to commit a run whose record has `recorded` bytes, to write it to the output, and to read the output back.
double stored_seconds(double recorded);

// What posterior scores cost in memory and time, and which models of a judge are too large.

/// Returns the bytes of the run's model of the judge, and of what it keeps about the votes of `responses` responses; 0 without a model.
/// Runs with equal Belief::key (worlds/posterior_model.hpp) share the model.
double posterior_bytes(const RunSpec& spec, double responses);
/// Returns rough seconds to make the run's model of the judge, and to evaluate it for the votes of `responses` responses.
double posterior_model_seconds(const RunSpec& spec, double responses);
/// Returns rough seconds of computing the posterior scores of a run, without making the model.
double posterior_seconds(const RunSpec& spec);
/// Returns whether the model of the run's judge is larger than make_call_model() allows.
bool posterior_too_large(const RunSpec& spec);

// Preflight: estimates what a suite will cost, and checks that against the suite's limits.

struct Suite;

/// Returns the cost of a suite: sums over all runs, but memory_bytes is what `jobs` runs at a time and the plan itself need.
Cost total_cost(const Suite& suite, int jobs = 1);

/// Returns total_cost(). Failure `limits` if the suite exceeds a limit: its message names each exceeded limit with the estimate, and the
/// key of [limits] that raises it.
Cost check_limits(const Suite& suite, int jobs = 1);

}  // namespace odrpo
