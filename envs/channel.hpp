// A rater put over a world: for every (prompt, response) the row of thresholds that one random word is held against.
#pragma once
#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "envs/bandit.hpp"
#include "envs/law_table.hpp"
#include "envs/rater.hpp"
#include "kernels/no_score.hpp"

namespace odrpo {

/// Laws of the seen score, made on demand and shared by all seeds and estimators of one (rater, levels, votes). Safe from any thread.
class LawCache {
 public:
  /// `votes` = 1 when the sampling draws literal votes: the row of a single call. Throws Failure(Exit::limits) when a row has more than
  /// max_outcomes outcomes.
  LawCache(const RaterConfig& rater, int levels, int votes);
  /// Appends the thresholds of one law row (stride() values) to `out`; computes the row when it is not there yet (outside the lock: two
  /// threads that ask at once both compute it, with the same result).
  void append_row(std::uint32_t row_code, std::vector<std::int32_t>& out);
  int stride() const { return stride_; }
  const Outcomes& outcomes() const { return outcomes_; }
  std::size_t rows_made() const;
  /// What the cache counts it as when it is new, since rows come later: 4 MiB, or what the rows of a world of the default size take.
  std::size_t bytes() const;

  /// A row's code: quality in 1/16 level (to 4095), spread class, veto class (-1 = none), hacking and offset class.
  static std::uint32_t code(int quality16, int spread_class, int veto_class, bool hack, int offset_class = 0);
  static Traits traits(std::uint32_t code);

 private:
  RaterConfig rater_;
  int levels_, votes_;
  Outcomes outcomes_;
  int stride_;  ///< outcomes - 1, rounded up to 8
  mutable std::mutex mutex_;
  std::map<std::uint32_t, std::vector<std::int32_t>> rows_;
};

/// Thresholds of a distribution over outcomes 1..K: a word x of 31 bits gives 1 + #{k : x > t_k}, k = 1..K-1. `out` has K-1 entries or
/// more; the rest is filled with the largest integer, which no x exceeds. Probabilities are rounded to 2^-31.
void make_thresholds(std::span<const double> pmf, std::span<std::int32_t> out);

/// The arrays of a RatedWorld as plain pointers, for stage files.
struct RatedView {
  const std::uint32_t* row;
  const std::int32_t* threshold;
  int levels, votes, stride;
  TieRule tie;
  Aggregate aggregate;
  int lowest;          ///< the first outcome's score
  int missing;         ///< the outcome that means no score; -1 = none
  const float* value;  ///< [outcomes] real reward of each outcome of the law, ascending, NaN = missing; null for whole scores
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
  std::vector<std::uint32_t> row;       ///< [P][width] where the row starts in `threshold`
  std::vector<std::int32_t> threshold;  ///< [rows][stride]
  std::size_t bytes() const {
    return row.size() * sizeof(row[0]) + threshold.size() * sizeof(threshold[0]) + value.size() * sizeof(value[0]);
  }
  RatedView view() const {
    return {row.data(), threshold.data(), levels, votes, stride, tie, aggregate, lowest, missing, value.empty() ? nullptr : value.data()};
  }
};

/// Draws the traits of prompts and responses (a hash of `key`) and looks up their rows. Rows of many votes take long (0.4 s each at 1024
/// votes and 10 levels): `stop` is looked at before each, and nothing is returned once it is set. `laws` is of this rater; for literal
/// votes the law of one call. Throws Failure(Exit::limits) when the rows together have 2^32 thresholds or more.
std::optional<RatedWorld> rate_world(const BanditWorld& world, const RaterConfig& rater, int votes, std::uint64_t key, LawCache& laws,
                                     const std::atomic<bool>& stop);

/// Upper bound of the number of rows that worlds of `env` can ask of a rater.
double most_rows(const BanditConfig& env, const RaterConfig& rater);
/// Rough seconds to make one row.
double row_seconds(const BanditConfig& env, const RaterConfig& rater, int votes);
/// Bytes of one row of a rated world. Law and rated world keep one copy each.
double row_bytes(const BanditConfig& env, const RaterConfig& rater, int votes);

}  // namespace odrpo
