// What a run costs, estimated from its spec alone, and what a suite costs: preflight.
#pragma once
#include <optional>
#include <vector>

namespace odrpo {

struct RunSpec;

/// What the calls of a real judge take and cost, as the rater models them; unset where it does not. One run: see judge_bill; of a suite the
/// sums.
struct JudgeBill {
  double calls = 0;                     ///< of the runs whose rater models something
  std::optional<double> seconds, cost;  ///< of all training steps, one after the other; in the unit of price_per_call
};
/// How many of a run's calls each judge of a panel answered; empty = all equally many.
using CallsByJudge = std::vector<double>;
/// The bill of a run of so many calls. Where judges have numbers of their own, a call takes and costs the mean over the calls.
/// A step's calls are asked `parallel` at a time and answered before the next step:
/// seconds = steps ceil(calls of a step / parallel) seconds_per_call, where a step has the run's mean number of calls. Calls that may end
/// early are made one after the other: a step then has as many rounds as the most calls about one response, at least.
JudgeBill judge_bill(const RunSpec& spec, double calls, const CallsByJudge& by_judge = {});
/// Does the bill of a run need to know which judge answered: numbers of each, and not all asked equally often?
bool bills_by_judge(const RunSpec& spec);

/// Rough seconds of one core, bytes of memory while running (of a run: without what it shares with others), bytes on disk until the work
/// folder is gone, expected calls of the judge (of one that may stop early: as if it did not).
struct Cost {
  double cpu_seconds = 0, memory_bytes = 0, disk_bytes = 0, judge_calls = 0;
  double making_bytes = 0;    ///< of a run: what is needed to make its world, besides the world
  double recorded_bytes = 0;  ///< of a run: its record, until it is committed
  JudgeBill judge{};          ///< set by total_cost
};

/// Records of a run.
double record_count(const RunSpec& spec);
/// Bytes of the curves and seconds of a run.
double recorded_bytes(const RunSpec& spec);
/// Bytes on disk of a run with so many recorded bytes while its output is made: in a shard and in the output, both compressed, and in the
/// row file of the work folder, which is not.
double stored_bytes(double recorded);
/// Seconds to commit a run with so many recorded bytes, to write them to the output and to read that back.
double stored_seconds(double recorded);

// What posterior scores take: memory, time, and models that are too large.

/// Bytes of the run's model, which others may share (Belief::key), and of what is kept beside it when it is asked about so many responses; 0 of
/// an estimator without one.
double posterior_bytes(const RunSpec& spec, double responses);
/// Rough seconds to make the run's model, and what the votes of so many responses ask of it.
double posterior_model_seconds(const RunSpec& spec, double responses);
/// Rough seconds of the posterior scores of a run, once there is its model.
double posterior_seconds(const RunSpec& spec);
/// Is the model of the run's judge larger than make_call_model() makes it?
bool posterior_too_large(const RunSpec& spec);

// Preflight: what a suite will cost, and whether its limits allow that.

struct Suite;

/// The sum over all runs; memory_bytes is what `jobs` runs at a time and the plan itself need.
Cost total_cost(const Suite& suite, int jobs = 1);

/// The same, or Failure `limits` that names every limit the suite exceeds: the estimate, the limit, and the key of [limits] that raises it.
Cost check_limits(const Suite& suite, int jobs = 1);

}  // namespace odrpo
