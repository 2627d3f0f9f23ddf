// Combines a rater with a world: each (prompt, response) gets a row of thresholds. A random word draws its score by comparison with them.
#pragma once
#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "envs/bandit/world.hpp"
#include "envs/rater/distribution_table.hpp"
#include "envs/rater/rater.hpp"
#include "kernels/shared/judge_model.hpp"

namespace odrpo {

/// Cache of distributions of the observed score, as rows of thresholds. All runs with the same rater, levels and votes share it.
/// Thread-safe.
class DistributionCache {
 public:
  /// Pass `votes` = 1 where votes are drawn one by one: the distributions are then of a single call's score. Throws Failure(Exit::limits) for
  /// more than max_outcomes outcomes.
  DistributionCache(const RaterConfig& rater, int levels, int votes);
  /// Appends the thresholds of the distribution with row code `code` (row_code()) to `out`: stride() values. Computes new ones outside the
  /// lock: two threads that ask at once both compute them, with equal results.
  void append_row(std::uint64_t code, std::vector<std::int32_t>& out);
  /// Expected number of calls about a response, at most `votes` (aggregate_calls()); repeated requests do not count.
  double calls(std::uint64_t code, int votes);
  /// Returns the mean score of one call, for the traits of a row code.
  double expected_score(std::uint64_t code);
  int stride() const { return stride_; }
  const Outcomes& outcomes() const { return outcomes_; }
  std::size_t rows_made() const;
  /// Bytes that the cache is expected to take once it has the rows of one world of the default size; at least 4 MiB.
  std::size_t bytes() const;

 private:
  RaterConfig rater_;
  Channel channel_;
  int levels_, votes_;
  Outcomes outcomes_;
  int stride_;  ///< outcomes - 1, rounded up to 8
  mutable std::mutex mutex_;
  std::map<std::uint64_t, std::vector<std::int32_t>> rows_;
  std::map<std::uint64_t, double> expected_;
  std::map<std::pair<std::uint64_t, int>, double> calls_;
};

/// The arrays and numbers of a RatedWorld without containers, for code that is compiled once per instruction set.
struct RatedView {
  const std::uint32_t* row;       ///< [turns][P][width] index in `threshold` where the response's row begins
  const std::int32_t* threshold;  ///< [rows][stride]
  int turns;              ///< number of judges that have rows of their own, because calls to a panel are drawn one by one; else 1
  bool any_judge;         ///< each call goes to a random judge, instead of the next one in turn
  std::size_t turn_rows;  ///< size of RatedWorld::row for one turn: P width
  int levels, votes, stride;
  TieRule tie;
  Aggregate aggregate;
  int lowest;             ///< the first outcome's score
  int missing;            ///< index of the outcome "no score"; -1 = there is none
  const float* expected;  ///< [P][width] the reward itself, where it is not random (expected scores); else null
  const float* value;     ///< [outcomes] real reward of each outcome of the distribution, ascending, NaN = missing; null for integer scores
  int stop;               ///< calls about a response end when any score was given `stop` times; 0 = always all calls
};

/// The distributions of all observed scores of one rater in one world, as rows of thresholds. Immutable.
struct RatedWorld {
  int levels = 0, votes = 1, stride = 0;
  Sampling sampling = Sampling::law;
  TieRule tie = TieRule::first;
  Aggregate aggregate = Aggregate::mode;
  int lowest = 1;                       ///< lowest_score() of the rater
  bool gaps = false;                    ///< has_gaps() of the rater: rewards may be no_score or NaN
  bool real = false;                    ///< rewards are real-valued
  int missing = -1;                     ///< index of the outcome "no score"; -1 = there is none
  std::vector<float> value;             ///< [outcomes] real-valued reward of each outcome; empty for integer scores
  std::vector<float> expected;          ///< [P][width] rewards that are not random; if not empty, `row` and `threshold` are empty
  int turns = 1;                        ///< number of judges that have rows of their own (RatedView)
  bool any_judge = false;               ///< each call goes to a random judge
  std::vector<std::uint32_t> row;       ///< [turns][P][width] index in `threshold` where the response's row begins
  std::vector<std::int32_t> threshold;  ///< [rows][stride] different rows; see make_thresholds()
  int stop = 0;                         ///< calls about a response end when any score was given `stop` times; 0 = always all calls
  std::vector<double> calls;            ///< [rows] expected calls about a response; empty unless calls to a single judge may stop early
  std::size_t bytes() const {
    return row.size() * sizeof(row[0]) + threshold.size() * sizeof(threshold[0]) + (value.size() + expected.size()) * sizeof(value[0]) +
           calls.size() * sizeof(calls[0]);
  }
  /// Expected number of calls about response a of prompt p, cell = p width + a. `calls` must not be empty.
  double calls_of(std::size_t cell) const { return calls[row[cell] / static_cast<std::uint32_t>(stride)]; }
  RatedView view() const {
    return {row.data(),
            threshold.data(),
            turns,
            any_judge,
            row.size() / static_cast<std::size_t>(turns),
            levels,
            votes,
            stride,
            tie,
            aggregate,
            lowest,
            missing,
            expected.empty() ? nullptr : expected.data(),
            value.empty() ? nullptr : value.data(),
            stop};
  }
};

/// Draws the traits of prompts and responses (a hash of `key`) and gets their rows of thresholds from `distributions`. That cache must be
/// of this rater, and of one call where votes are drawn one by one. Rows of many votes take long (2 to 10 ms each at 1024 votes, 10 levels):
/// `stop` is read before each new row; returns nullopt if it is set. Throws Failure(Exit::limits) when all rows together have 2^32
/// thresholds or more.
std::optional<RatedWorld> rate_world(const BanditWorld& world, const RaterConfig& rater, int votes, std::uint64_t key, DistributionCache& distributions,
                                     const std::atomic<bool>& stop);

/// Converts the row of thresholds that begins at index `row` of rated.threshold back to probabilities, distribution[outcomes].
void distribution_of_row(const RatedWorld& rated, std::uint32_t row, std::span<double> distribution);

/// Returns an upper bound for the number of different rows of thresholds that a rater can have in worlds of `env`.
double most_rows(const BanditConfig& env, const RaterConfig& rater);
/// Estimates the number of different rows in `worlds` worlds of `env`. Below most_rows(), since few responses have a veto and some share a row.
double expected_rows(const BanditConfig& env, const RaterConfig& rater, int votes, int worlds);
/// Returns the number of judges that have rows of their own in a RatedWorld (RatedWorld::turns).
int judge_turns(const RaterConfig& rater, int votes);
/// Estimates the seconds to compute one row of thresholds.
double row_seconds(const BanditConfig& env, const RaterConfig& rater, int votes);
/// Returns the bytes of one row of thresholds. DistributionCache and RatedWorld have a copy each.
double row_bytes(const BanditConfig& env, const RaterConfig& rater, int votes);
/// Estimate the bytes of a RatedWorld, and of a DistributionCache with `rows` rows.
double rated_bytes(const BanditConfig& env, const RaterConfig& rater, int votes);
double distribution_bytes(const BanditConfig& env, const RaterConfig& rater, int votes, double rows);

}  // namespace odrpo
