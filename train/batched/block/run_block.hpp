// Defines the data of one bandit run that a block of threads trains. They are plain data, which host and device read alike.
// train/batched/block/step.hpp trains the run.
#pragma once
#include <cstddef>
#include <cstdint>

#include "envs/rater/rater.hpp"
#include "estimators/group/block_groups.hpp"
#include "policies/optimizer.hpp"
#include "results/store/record.hpp"

namespace odrpo::device {

/// Sizes and memory offsets that all runs of a launch share.
struct Layout {
  bool linear = false, adam = true;
  int prompts = 0, actions = 0, width = 0, features = 0;
  int row_width = 0;  ///< parameters of a row: width; in the linear policy's one row the features, rounded up to 32
  int batch = 0, rollouts = 0, levels = 0;
  int blocks = 0;                         ///< counter blocks of the random generator for a prompt: 4 words each, one word a rollout
  int per_epoch = 0;                      ///< batches of an epoch
  int steps = 0, every = 0, updates = 0;  ///< training steps; steps between records; updates on each batch
  int remember = 1;                       ///< most updates between two uses of a row of parameters (AdamScalars in policies/optimizer.hpp)
  bool overdue = false;                   ///< rows could go unused for longer: visit_overdue() (rollout.hpp) uses them in time
  int threads = 0;                        ///< threads of a block
  int slots = 0;                          ///< rows of `probability`: enough for the prompts of a batch and for the tiles of the block
  int groups_at_once = 0;                 ///< groups estimated at a time, each in a column of memory
  bool resident = false;                  ///< the parameters lie in the block's memory during a launch
  bool general = false;                   ///< the run is of the general kind (General)
  int cells = 0;                          ///< general kind: doubles of a group's working memory (cells_of() in general.hpp)
  int polls_at_once = 0;                  ///< general kind: responses whose votes are counted at a time
  // Offsets in the block's memory, in bytes; `bytes` is its size. Arrays that are never needed at the same time share an offset.
  std::size_t words, ratings, means, advantage, columns, coefficient, probability, prompt, action, score, old_probability, mask, gradient, theta,
      last, scalars, general_run, median, reward, bytes;
};
/// Returns the number of rows of parameters: one in all for the linear policy, else one for each prompt.
ODRPO_HD int rows(const Layout& p) { return p.linear ? 1 : p.prompts; }
/// Returns the number of floats of a run's parameters: theta [rows][row_width], then, for Adam, its two moments of the same shape.
ODRPO_HD std::size_t parameters(const Layout& p) { return static_cast<std::size_t>(p.adam ? 3 : 1) * rows(p) * p.row_width; }
/// Returns the number of rollouts of a batch.
ODRPO_HD int draws(const Layout& p) { return p.batch * p.rollouts; }

/// Counts of a batch. They are integers, so that the order of additions does not matter.
struct Counts {
  unsigned long long truth;  ///< sum of true quality in 1/16 levels; recorded batches only
  std::uint32_t reward;      ///< sum of scores
  std::uint32_t dead_groups, dead_levels;
  std::uint32_t dropped;  ///< rollouts that take no part in learning
  std::uint32_t missing;  ///< rollouts without a score
};

/// What a run keeps between launches besides its parameters. It lies in the block's memory during a launch.
struct Scalars {
  Counts counts{};
  double quality = 0, kl = 0, entropy = 0;      ///< exact means of the policy
  double squares = 0, lowest = 0, highest = 0;  ///< of the batch's advantages: sum of squares, smallest, largest
  double seen = 0;                              ///< sum of the batch's rewards
  double clipped = 0, updates = 0;              ///< since the last record: sum over updates of the share of clipped rollouts; updates
  std::uint32_t over = 0, listed = 0;           ///< clipped rollouts of this update; rows on the list of overdue rows
  float factor = 1;                             ///< factor by which the norm clip multiplies the gradient
  Whitened whitening{};
  bool lost = false;                              ///< the parameters are not finite: the run has ended
  long long ticks[stage_count] = {}, before = 0;  ///< clock ticks by stage since the last record; clock at the last lap
};

/// The numbers recorded at step t, from which the host makes curves.
struct Record {
  double quality, kl, entropy, squares, lowest, highest, seen;
  double clipped;      ///< mean share of clipped rollouts; NaN without updates since the last record
  double cosine, snr;  ///< of the gradient, where the run records them
  Counts counts;
  long long ticks[stage_count];
};

/// Sum and number of a batch's rewards that are not missing.
struct Seen {
  double sum, count;
};

/// A running median between batches. It lies in the block's memory during a launch.
struct Median {
  double value = 0;                     ///< the current median
  double terms_of = __builtin_nan("");  ///< the median for which the estimator's terms (weight / divisor) were computed
  std::int32_t held = 0, next = 0;      ///< number of rewards in the ring buffer, and index of the next one
  std::uint32_t low = 0, high = 0;      ///< while the median is searched: key_of(median) (general.hpp) lies in low .. high
  std::uint32_t below = 0, added = 0;   ///< number of rewards whose key_of() is not above the middle of low .. high; rewards of the batch
};

/// Sums over the gradients of a recorded batch's redraws, and the exact gradient.
struct GradientSums {
  int replicas = 0;
  double* sum = nullptr;      ///< [gradient] sum of the redraws' gradients
  double* squares = nullptr;  ///< one number: sum of their squared norms
  float* exact = nullptr;     ///< [gradient] the exact gradient
};

/// Further inputs of a run of the general kind. Such a run has real-valued or missing rewards, a running median, or a form that leaves out
/// a pivot. Or its votes are drawn one by one, or its gradients are recorded.
struct General {
  bool real = false, gaps = false;
  int missing = -1;  ///< the outcome that means a missing score; -1 = none
  int votes = 0;     ///< on each response, drawn one by one; 0 = their aggregate is drawn from its distribution
  Aggregate aggregate = Aggregate::mode;
  TieRule tie = TieRule::first;
  const float* value = nullptr;  ///< [outcomes] real reward of each
  EstimatorView estimator{};     ///< for real rewards, and for groups with missing scores
  Seen* seen = nullptr;          ///< [steps] rewards of each batch
  Median* median = nullptr;      ///< memory of the running median between launches; null = the estimator reads none
  bool by_window = false;        ///< the median of the last `places` rewards; else a moving average with factor `rho`
  double rho = 0;
  int places = 0;
  std::uint32_t* ring = nullptr;  ///< [places] ring buffer of rewards, as integers with the order of rewards
  float* term = nullptr;          ///< the run's own terms (weight / divisor), laid out as EstimatorView::term
  GradientSums gradient_sums{};
};

/// One run: its inputs, all in the memory of the device that trains it, and where its results go. P: prompts; F: features.
struct Run {
  std::uint64_t key = 0;
  const float* quality = nullptr;           ///< [P][width]
  const float* feature = nullptr;           ///< [P][F][width], linear
  const std::uint32_t* distribution_row = nullptr;   ///< [P][width] index in `threshold` at which a response's distribution starts
  const std::int32_t* threshold = nullptr;  ///< [distributions][stride] ascending
  int stride = 0, lowest = 0;
  EstimatorView estimator{};
  Whitening whitening{};
  bool drop_dead = false, masked = false;  ///< masked: some rollouts may take no part in learning
  bool leaves_pivot = false;               ///< the pivot of each group takes no part in learning
  float kl = 0, reference = 0;             ///< weight of the KL penalty, probability of an action under the reference policy
  float ratio_low = 0, ratio_high = 0;     ///< PPO's clip: lower and upper bound of pi / pi_old
  double clip = 0;                         ///< largest norm of the gradient; 0 = no limit
  float eps = 0, rest1 = 0, rest2 = 0;
  const float *power1 = nullptr, *power2 = nullptr;  ///< [remember + 2] powers of Adam's beta1 and beta2
  const PendingStep* pending = nullptr;              ///< [updates of the launch + remember][remember + 1], from update first_pending on
  int first_pending = 0;
  const float* rate = nullptr;  ///< [updates of the launch] learning rates of plain gradient ascent
  int first_rate = 0;
  const std::uint16_t* order = nullptr;  ///< [epochs of the launch][P] shuffled prompts
  int first_epoch = 0;
  float* theta = nullptr;        ///< [parameters] stored here between launches
  std::int32_t* last = nullptr;  ///< [rows] update at which each row was last used, -1 = never
  Scalars* scalars = nullptr;
  Record* record = nullptr;         ///< [records of the run]
  std::uint32_t* reward = nullptr;  ///< [steps] sums of the batches' scores; null for the general kind
  long long* time = nullptr;        ///< nanoseconds and clock ticks of all launches
  const General* general = nullptr;
};

/// Returns the number of records of a run: every `every`-th step, the first and the last.
ODRPO_HD int records(const Layout& p) { return p.steps / p.every + 1 + (p.steps % p.every != 0); }

}  // namespace odrpo::device
