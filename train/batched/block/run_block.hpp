// One bandit run as a block of threads trains it: plain data that host and device read alike. What is done with it is in
// train/batched/block/step.hpp.
#pragma once
#include <cstddef>
#include <cstdint>

#include "envs/rater/rater.hpp"
#include "estimators/group/block_groups.hpp"
#include "policies/optimizer.hpp"
#include "results/store/record.hpp"

namespace odrpo::device {

/// Sizes and places that all runs of a launch have in common.
struct Layout {
  bool linear = false, adam = true;
  int prompts = 0, actions = 0, width = 0, features = 0;
  int row_width = 0;  ///< parameters of a row: width; of the linear policy's one row the features, rounded up to 32
  int batch = 0, rollouts = 0, levels = 0;
  int blocks = 0;                         ///< blocks of 4 random words that hold one for every rollout of a prompt
  int per_epoch = 0;                      ///< batches
  int steps = 0, every = 0, updates = 0;  ///< training steps, recorded ones, updates on each batch
  int remember = 1;                       ///< updates a row may go unvisited (AdamScalars)
  bool overdue = false;                   ///< rows can go longer without a visit: they are brought up to date in time
  int threads = 0;                        ///< of a block
  int slots = 0;                          ///< rows of `probability`: one for each prompt of a batch and for each tile of the block
  int groups_at_once = 0;                 ///< columns
  bool resident = false;                  ///< the parameters live in the block's memory during a launch
  bool general = false;                   ///< of the general kind (General)
  int cells = 0;                          ///< general: doubles of a column
  int polls_at_once = 0;                  ///< general: responses whose votes are counted at a time
  // where things are in the block's memory, bytes; `bytes` in all. What is dead when another begins to live shares its place.
  std::size_t words, ratings, means, advantage, columns, coefficient, probability, prompt, action, score, old_probability, mask, gradient, theta,
      last, scalars, general_run, median, reward, bytes;
};
/// Rows of parameters, and rollouts of a batch.
ODRPO_HD int rows(const Layout& p) { return p.linear ? 1 : p.prompts; }
/// Floats of a run's parameters: theta [rows][row width], then, of Adam, both moments alike.
ODRPO_HD std::size_t parameters(const Layout& p) { return static_cast<std::size_t>(p.adam ? 3 : 1) * rows(p) * p.row_width; }
ODRPO_HD int draws(const Layout& p) { return p.batch * p.rollouts; }

/// What a batch counts, in whole numbers.
struct Counts {
  unsigned long long truth;  ///< sum of true quality, 1/16 levels; of recorded batches alone
  std::uint32_t reward;      ///< sum of scores
  std::uint32_t dead_groups, dead_levels;
  std::uint32_t dropped;  ///< rollouts that have no part in learning
  std::uint32_t missing;  ///< rollouts without a score
};

/// What a run keeps between launches besides its parameters; in the block's memory while it works.
struct Scalars {
  Counts counts{};
  double quality = 0, kl = 0, entropy = 0;      ///< of the policy
  double squares = 0, lowest = 0, highest = 0;  ///< of the batch's advantages
  double seen = 0;                              ///< sum of the batch's rewards
  double clipped = 0, updates = 0;              ///< shares of clipped rollouts, summed over the updates since the last record
  std::uint32_t over = 0, listed = 0;           ///< clipped rollouts of this update; rows on the list of those overdue
  float factor = 1;                             ///< of the gradient, when it is clipped
  Whitened whitening{};
  bool lost = false;                              ///< parameters are not finite: the run has ended
  long long ticks[stage_count] = {}, before = 0;  ///< of the clock, by stage since the last record
};

/// What is recorded of step t, for the host to make curves of.
struct Record {
  double quality, kl, entropy, squares, lowest, highest, seen;
  double clipped;      ///< NaN without updates since the last record
  double cosine, snr;  ///< of the gradient, where it is recorded
  Counts counts;
  long long ticks[stage_count];
};

/// The rewards of a batch that are there.
struct Seen {
  double sum, count;
};

/// A running median between batches; in the block's memory while the block works.
struct Median {
  double value = 0;                     ///< in force
  double terms_of = __builtin_nan("");  ///< what the terms are made for
  std::int32_t held = 0, next = 0;      ///< rewards in the ring, and where the next one goes
  std::uint32_t low = 0, high = 0;      ///< while it is looked for: it is among these keys
  std::uint32_t below = 0, added = 0;   ///< how many keys are not above the middle one; how many rewards the batch has
};

/// Redraws of recorded batches, and sums over their gradients.
struct GradientSums {
  int replicas = 0;
  double* sum = nullptr;      ///< [gradient]
  double* squares = nullptr;  ///< one number, over all of them
  float* exact = nullptr;     ///< [gradient]
};

/// What a run of the general kind is given besides: the kind of those whose rewards are real-valued or may be missing, whose estimator
/// follows a running median, whose votes are drawn one by one, or whose gradients' signal is recorded.
struct General {
  bool real = false, gaps = false;
  int missing = -1;  ///< the outcome that means no score; -1 = none
  int votes = 0;     ///< on each response, drawn one by one; 0 = by their distribution
  Aggregate aggregate = Aggregate::mode;
  TieRule tie = TieRule::first;
  const float* value = nullptr;  ///< [outcomes] real reward of each
  EstimatorView estimator{};     ///< of real rewards, and of the groups with gaps
  Seen* seen = nullptr;          ///< [steps]
  Median* median = nullptr;      ///< between launches; null = none is followed
  bool by_window = false;        ///< of the last `places` rewards, else an average `rho` old
  double rho = 0;
  int places = 0;
  std::uint32_t* ring = nullptr;  ///< [places] keys of rewards, which are ordered as they are
  float* term = nullptr;          ///< the run's own, as EstimatorView::term
  GradientSums gradient_sums{};
};

/// One run: what it is given, all in the memory of where it runs, and where it leaves what came of it.
struct Run {
  std::uint64_t key = 0;
  const float* quality = nullptr;           ///< [P][width]
  const float* feature = nullptr;           ///< [P][F][width], linear
  const std::uint32_t* distribution_row = nullptr;   ///< [P][width] where the distribution of a response starts
  const std::int32_t* threshold = nullptr;  ///< [distributions][stride]
  int stride = 0, lowest = 0;
  EstimatorView estimator{};
  Whitening whitening{};
  bool drop_dead = false, masked = false;  ///< masked: some rollouts may have no part in learning
  bool leaves_pivot = false;               ///< one of each group has none
  float kl = 0, reference = 0;             ///< weight of the penalty, probability under the initial policy
  float ratio_low = 0, ratio_high = 0;     ///< PPO's clip
  double clip = 0;                         ///< largest norm of the gradient, 0 = any
  float eps = 0, rest1 = 0, rest2 = 0;
  const float *power1 = nullptr, *power2 = nullptr;  ///< [remember + 2] beta^n
  const PendingStep* pending = nullptr;              ///< [updates of the launch + remember][remember + 1], from row first_pending on
  int first_pending = 0;
  const float* rate = nullptr;  ///< [updates of the launch] of plain ascent
  int first_rate = 0;
  const std::uint16_t* order = nullptr;  ///< [epochs of the launch][P]
  int first_epoch = 0;
  float* theta = nullptr;        ///< [parameters] between launches
  std::int32_t* last = nullptr;  ///< [rows] update of the last visit, -1 = never
  Scalars* scalars = nullptr;
  Record* record = nullptr;         ///< [records of the run]
  std::uint32_t* reward = nullptr;  ///< [steps] sums of the batches' scores; not of the general kind
  long long* time = nullptr;        ///< nanoseconds and ticks of all launches
  const General* general = nullptr;
};

/// Records of a run: every `every`-th step, the first and the last.
ODRPO_HD int records(const Layout& p) { return p.steps / p.every + 1 + (p.steps % p.every != 0); }

}  // namespace odrpo::device
