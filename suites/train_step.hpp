// One training step, in the order of docs/house.md: prompts, responses, scores, advantages, update.
#pragma once
#include <cstdint>
#include <vector>

#include "suites/batch.hpp"
#include "suites/draws.hpp"
#include "suites/shared.hpp"

namespace odrpo {

/// Everything of a run that changes.
struct TrainState {
  SoftmaxPolicy policy;
  PromptOrder order;
  RewardBatch batch;
  std::vector<std::uint32_t> prompt{};     ///< [B] the batch
  std::vector<std::uint32_t> word{};       ///< [B][blocks][4] random words
  std::vector<std::uint32_t> vote_word{};  ///< scratch of literal votes
  std::vector<std::uint16_t> action{};     ///< [B][G]
  double clipped = 0, updates = 0;         ///< shares of clipped rollouts, summed over the updates since the last record
  double seconds[stage_count] = {};        ///< sums since the last record
};

TrainState make_state(const Problem& problem);

/// Step t = 0, 1, …: meet_batch, then learn_from_batch.
void train_step(const Problem& problem, TrainState& s, int t);
/// The stages up to the advantages.
void meet_batch(const Problem& problem, TrainState& s, int t);
/// The update.
void learn_from_batch(const Problem& problem, TrainState& s, int t);

// The stages, in order.
void choose_prompts(const Problem& problem, TrainState& s, int t);  // and what earlier batches decide: the running median
void sample_responses(const Problem& problem, TrainState& s, int t, const Draws& draws);
void rate_responses(const Problem& problem, TrainState& s, int t, const Draws& draws);
void estimate_advantages(const Problem& problem, TrainState& s);
void update_policy(const Problem& problem, TrainState& s, int t);
/// How the batch's rollouts enter the gradient of epoch e.
RolloutTerms rollout_terms(const Problem& problem, const TrainState& s, int epoch);
/// The policy's update that step t begins with.
inline int first_update(const Problem& problem, int t) { return t * problem.spec->learn.epochs; }

}  // namespace odrpo
