// A rater put over a world: for every (prompt, response) the row of thresholds that one random word is held against.
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

/// Distributions of the seen score, made on demand and shared by all seeds and estimators of one (rater, levels, votes). Safe from any thread.
class DistributionCache {
 public:
  /// `votes` = 1 when the sampling draws literal votes: the row of a single call. Throws Failure(Exit::limits) when a row has more than
  /// max_outcomes outcomes.
  DistributionCache(const RaterConfig& rater, int levels, int votes);
  /// Appends the thresholds of one distribution row (stride() values) to `out`; computes the row when it is not there yet (outside the lock: two
  /// threads that ask at once both compute it, with the same result).
  void append_row(std::uint64_t code, std::vector<std::int32_t>& out);
  /// Expected calls about a response where up to `votes` calls are made, repeated answers apart (aggregate_calls).
  double calls(std::uint64_t code, int votes);
  /// The mean score of one call.
  double expected_score(std::uint64_t code);
  int stride() const { return stride_; }
  const Outcomes& outcomes() const { return outcomes_; }
  std::size_t rows_made() const;
  /// What the cache counts it as when it is new, since rows come later: 4 MiB, or what the rows of a world of the default size take.
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

/// The arrays of a RatedWorld as plain pointers, for stage files.
struct RatedView {
  const std::uint32_t* row;
  const std::int32_t* threshold;
  int turns;              ///< judges of a panel whose calls are drawn one by one; 1 otherwise
  bool any_judge;         ///< each call goes to a judge that is drawn, not to the next one
  std::size_t turn_rows;  ///< rows of one turn
  int levels, votes, stride;
  TieRule tie;
  Aggregate aggregate;
  int lowest;             ///< the first outcome's score
  int missing;            ///< the outcome that means no score; -1 = none
  const float* expected;  ///< [P][width] the reward where it is not drawn; null where it is
  const float* value;     ///< [outcomes] real reward of each outcome of the distribution, ascending, NaN = missing; null for integer scores
  int stop;               ///< literal calls end with the score that was given so often; 0 = after all of them
};

/// What a rater does in one world. Immutable.
struct RatedWorld {
  int levels = 0, votes = 1, stride = 0;
  Sampling sampling = Sampling::law;
  TieRule tie = TieRule::first;
  Aggregate aggregate = Aggregate::mode;
  int lowest = 1;                       ///< lowest_score() of the rater
  bool gaps = false;                    ///< has_gaps() of the rater: rewards may be no_score or NaN
  bool real = false;                    ///< rewards are real-valued
  int missing = -1;                     ///< see RatedView
  std::vector<float> value;             ///< see RatedView
  std::vector<float> expected;          ///< see RatedView; `row` and `threshold` are then empty
  int turns = 1;                        ///< see RatedView
  bool any_judge = false;               ///< see RatedView
  std::vector<std::uint32_t> row;       ///< [turns][P][width] where the row starts in `threshold`
  std::vector<std::int32_t> threshold;  ///< [rows][stride]
  int stop = 0;                         ///< see RatedView
  std::vector<double> calls;            ///< [rows] expected calls about a response; empty unless one judge may stop early
  std::size_t bytes() const {
    return row.size() * sizeof(row[0]) + threshold.size() * sizeof(threshold[0]) + (value.size() + expected.size()) * sizeof(value[0]) +
           calls.size() * sizeof(calls[0]);
  }
  /// Expected calls about the response of a cell. Only where `calls` has them.
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

/// Draws the traits of prompts and responses (a hash of `key`; a panel of judges answers in turn from the prompt's first) and looks up
/// their rows. Rows of many votes take long (0.4 s each at 1024 votes and 10 levels): `stop` is looked at before each, and nothing is
/// returned once it is set. `distributions` is of this rater; for literal votes the distribution of one call. Throws Failure(Exit::limits) when the rows
/// together have 2^32 thresholds or more.
std::optional<RatedWorld> rate_world(const BanditWorld& world, const RaterConfig& rater, int votes, std::uint64_t key, DistributionCache& distributions,
                                     const std::atomic<bool>& stop);

/// distribution[outcomes]: the probabilities of the row of thresholds that begins there.
void distribution_of_row(const RatedWorld& rated, std::uint32_t row, std::span<double> distribution);

/// Upper bound of the number of rows that worlds of `env` can ask of a rater.
double most_rows(const BanditConfig& env, const RaterConfig& rater);
/// Rows that so many worlds of `env` ask of a rater, roughly: fewer than most_rows, since few responses are met by a veto and some share a row.
double expected_rows(const BanditConfig& env, const RaterConfig& rater, int votes, int worlds);
/// Judges of a panel whose rows a rated world has one by one; 1 otherwise.
int judge_turns(const RaterConfig& rater, int votes);
/// Rough seconds to make one row.
double row_seconds(const BanditConfig& env, const RaterConfig& rater, int votes);
/// Bytes of one row of a rated world. Distribution and rated world keep one copy each.
double row_bytes(const BanditConfig& env, const RaterConfig& rater, int votes);
/// Bytes of a RatedWorld, and of a DistributionCache that has so many rows.
double rated_bytes(const BanditConfig& env, const RaterConfig& rater, int votes);
double distribution_bytes(const BanditConfig& env, const RaterConfig& rater, int votes, double rows);

}  // namespace odrpo
