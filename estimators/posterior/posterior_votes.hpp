// Posterior scores from all votes of each response of a group, under a model of single calls (docs/posterior.md).
#pragma once
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "estimators/posterior/state_stages.hpp"
#include "estimators/posterior/state_weights.hpp"
#include "kernels/isa.hpp"
#include "kernels/shared/judge_model.hpp"

namespace odrpo {

/// What the votes of one response say, for each state c of its prompt; [states].
struct VoteRow {
  std::string votes;             ///< which votes: equal for equal counts
  std::vector<double> relative;  ///< P(votes | c) over that of the state that makes them likeliest
  std::vector<double> expected;  ///< E[quality | votes, c], levels
  std::vector<double> variance;  ///< Var(quality | votes, c)
  std::vector<double> square;    ///< E[(x - b)^2 | votes, c]; only with prior = "moments"
  /// With its name once more, and its place among those that are kept.
  std::size_t bytes() const {
    return 128 + sizeof(VoteRow) + 2 * votes.size() + (relative.size() + expected.size() + variance.size() + square.size()) * sizeof(double);
  }
};

/// The rows of a model. Safe from any thread: rows are kept, 64 MiB of them at most, since responses often have the same votes.
class PosteriorVotes {
 public:
  PosteriorVotes(CallModel model, Isa isa);
  /// The row of a response's votes: seen[v] = score of call v, or no_score; `judge` = who answers call 0 where judges are told apart and
  /// take turns. Null where there is no vote.
  std::shared_ptr<const VoteRow> row(std::span<const std::uint8_t> seen, int judge) const;
  const CallModel& model() const { return model_; }
  Isa isa() const { return isa_; }
  /// The model and the rows that may be kept.
  std::size_t bytes() const { return model_.bytes() + most_kept; }

  static constexpr std::size_t most_kept = std::size_t{64} << 20;

 private:
  struct Sums {
    std::vector<double> one, quality, variance, square;  ///< [states]
  };
  Sums sums_over(std::vector<double> weight) const;
  void divide(Sums& sums) const;
  std::shared_ptr<const VoteRow> make_row(std::string votes, std::span<const VoteCount> counts) const;
  CallModel model_;
  const VoteStages& stages_;
  Isa isa_;
  Sums unseen_;  ///< of the responses, before any vote is seen
  mutable std::mutex mutex_;
  mutable std::unordered_map<std::string, std::shared_ptr<const VoteRow>> kept_;
  mutable std::size_t kept_bytes_ = 0;
};

/// Posterior scores of one group at a time. Keeps its memory, so that batches do not allocate.
class PosteriorVoteGroup {
 public:
  explicit PosteriorVoteGroup(const PosteriorVotes& votes) : posterior_(votes.model().states(), votes.isa()) {}
  /// value[n] of the responses with the votes seen[n][votes]: E[quality | own votes, all votes of the group]; NaN where there is none.
  /// P(c | group) is proportional to P(c) prod over responses of P(votes | c). `judge`: of all responses, as in PosteriorVotes::row.
  /// Returns GroupPosterior::values_and_variance().
  double values(const PosteriorVotes& votes, const StatePrior& prior, std::span<const std::uint8_t> seen, int judge, std::span<double> value);
  /// P(c | group) of the last group.
  std::span<const double> weights() const { return posterior_.weights(); }
  /// Mean over its members that have votes of E[(x - b)^2 | votes, group]; NaN when there is none. Of a model with moments.
  double mean_square() const;

 private:
  std::vector<std::shared_ptr<const VoteRow>> row_;  ///< [n]
  std::vector<const VoteRow*> sorted_;
  std::vector<StateFactor> factor_;
  std::vector<StateRows> rows_;
  std::vector<double> value_;
  GroupPosterior posterior_;
};

}  // namespace odrpo
