// Estimates what a run of each world costs. In the bandit, times are measured on one 2.6 GHz core with AVX2; bytes are counted from the
// arrays.
#include <algorithm>

#include "config/catalogue/catalogue.hpp"
#include "config/spec.hpp"
#include "envs/bandit/believed.hpp"
#include "kernels/math.hpp"
#include "policies/softmax/policy.hpp"
#include "policies/transformer/pass.hpp"
#include "train/schedule/cost.hpp"
#include "train/worlds/bandit.hpp"
#include "train/worlds/posterior_model.hpp"
#include "train/worlds/toy_lm.hpp"
#include "train/worlds/toy_lm_start.hpp"

namespace odrpo {
namespace {

// Returns the extra seconds to read a byte of a large table, compared with a small one. Tables above these sizes do not fit into the caches.
constexpr double second_cache = 1 << 20, last_cache = 1 << 24;
double seconds_of_byte(double table_bytes, bool in_order) {
  if (table_bytes <= second_cache) return 0;
  if (table_bytes <= last_cache) return in_order ? 2e-12 : 20e-12;
  return in_order ? 40e-12 : 150e-12;
}

/// Sizes of a run's arrays, padding included. A cell is one action of one prompt.
struct Size {
  bool linear;
  double prompts, width, features, batch, rollouts;  // rollouts: of a batch
  double cells() const { return prompts * width; }
  double batch_cells() const { return batch * width; }
  // bytes per cell of the table whose rows a step reads: features, or parameters with their moments and roots
  double bytes_of_cell() const { return linear ? 4 * features : 16; }
};
Size size_of(const RunSpec& spec) {
  const BanditConfig& world = spec.env.bandit;
  return {spec.policy.kind == PolicyKind::linear,
          static_cast<double>(world.prompts),
          static_cast<double>((world.actions + 31) / 32 * 32),
          static_cast<double>(world.features),
          static_cast<double>(spec.learn.batch),
          static_cast<double>(spec.learn.batch) * spec.learn.rollouts};
}

bool has_signal(const RunSpec& spec) { return spec.policy.kind == PolicyKind::linear || spec.env.bandit.feature_share > 0; }

constexpr double seconds_of_pending = 0.13e-9;         ///< to apply one pending Adam step to one parameter
constexpr double seconds_of_overdue_pending = 0.35e-9;  ///< the same for rows that visit_overdue() visits one by one

// Returns the share of prompts that have been in a batch, on average over the run. Other prompts have no pending steps.
double visited_share(const RunSpec& spec, const Size& n) {
  const double drawn = static_cast<double>(spec.learn.steps) * n.batch;
  return drawn < n.prompts ? drawn / n.prompts / 2 : 1 - n.prompts / drawn / 2;
}

// Returns the policy's seconds per step: forward and backward pass for the step's prompts, once per epoch, with Adam's pending steps.
double policy_seconds(const RunSpec& spec, const Size& n) {
  const double far = seconds_of_byte(n.cells() * n.bytes_of_cell(), false) * n.bytes_of_cell();
  if (n.linear) return spec.learn.epochs * n.batch_cells() * (0.73e-9 + 0.118e-9 * n.features) + n.batch_cells() * far;
  const RowMemory memory = row_memory(PolicyKind::tabular, spec.env.bandit.prompts, spec.learn.batch, spec.learn.epochs);
  const double absence = std::min<double>(memory.updates, n.prompts / n.batch * spec.learn.epochs);
  const double overdue = memory.overdue ? std::max(0.0, n.prompts / (memory.updates + 1) - n.batch) * n.width * visited_share(spec, n) : 0;
  return n.batch_cells() * (1.1e-9 * spec.learn.epochs + seconds_of_pending * absence + 2 * far) +
         overdue * (seconds_of_overdue_pending * memory.updates + 2 * far);
}

// Returns the seconds per record of the exact means over all prompts.
double record_seconds_of(const RunSpec& spec, const Size& n) {
  const double far = seconds_of_byte(n.cells() * n.bytes_of_cell(), true) * n.bytes_of_cell();
  if (n.linear) return n.cells() * (0.5e-9 + 0.059e-9 * n.features + far);
  const RowMemory memory = row_memory(PolicyKind::tabular, spec.env.bandit.prompts, spec.learn.batch, spec.learn.epochs);
  const double pending = std::min<double>(memory.updates, n.prompts / n.batch * spec.learn.epochs) / 2 * visited_share(spec, n);
  return n.cells() * (1.1e-9 + seconds_of_pending * pending + far);
}

// Returns the CPU seconds of what is done once per rollout: its score, its advantage and its coefficient in the gradient.
double rollout_seconds(const RunSpec& spec) {
  const bool draws = spec.rater.sampling == Sampling::draws;
  return 8.1e-9 + (draws ? 21e-9 + 3.14e-9 * spec.votes : 0) + (real_valued(spec.rater, spec.votes) ? 22e-9 : 0) + 2.5e-9 * (spec.learn.epochs - 1);
}

}  // namespace

double bandit_judge_calls(const RunSpec& spec) {
  return static_cast<double>(spec.learn.steps) * spec.learn.batch * spec.learn.rollouts * spec.votes * calls_per_vote(spec.rater);
}

Cost bandit_cost(const RunSpec& spec) {
  const Size n = size_of(spec);
  const double records = record_count(spec), recorded = recorded_bytes(spec), rollouts = n.rollouts * rollout_seconds(spec);
  const double step = policy_seconds(spec, n) + rollouts + posterior_seconds(spec) / spec.learn.steps + 0.6e-6;
  const double redraws = spec.record.gradient * (n.batch_cells() * 2e-9 + rollouts + posterior_seconds(spec) / spec.learn.steps);
  Cost c;
  c.cpu_seconds = spec.learn.steps * step + records * (record_seconds_of(spec, n) + n.rollouts * 4e-9 + redraws) + stored_seconds(recorded);
  // bytes: parameters, moments and roots; the batch, and the rows that a record reads at a time; random words, actions and scores
  const double votes = scores_of_response(spec.rater, spec.votes);
  const double policy = (n.linear ? 0 : 16 * n.cells()) + 16 * n.batch_cells() + 4 * 256 * n.width,
               batch = n.rollouts * (40 + (votes > 1 ? 6 * votes : 0)), redrawn = spec.record.gradient > 0 ? 16 * n.batch_cells() : 0;
  c.memory_bytes = policy + batch + redrawn + recorded + watch_bytes(spec.record, spec.learn.steps);
  c.making_bytes = has_signal(spec) ? 8.0 * n.prompts * spec.env.bandit.actions : 0;
  c.recorded_bytes = recorded;
  c.disk_bytes = stored_bytes(recorded);
  c.judge_calls = bandit_judge_calls(spec);
  return c;
}

double bandit_world_bytes(const RunSpec& spec) {
  const Size n = size_of(spec);
  const bool file = scored_responses(spec.rater.noise) != nullptr;
  return n.cells() * (7 + (file ? 4 : 0) + (n.linear ? 4 * n.features : 0));
}

double bandit_world_seconds(const RunSpec& spec) {
  const double responses = static_cast<double>(spec.env.bandit.prompts) * spec.env.bandit.actions;
  constexpr double seconds_of_fresh_byte = 0.8e-9;  // memory that the system hands out for the first time
  return responses * (57e-9 + (has_signal(spec) ? 40e-9 * spec.env.bandit.features : 0)) + seconds_of_fresh_byte * bandit_world_bytes(spec);
}

double rating_seconds(const RunSpec& spec) {
  return 35e-9 * judge_turns(spec.rater, spec.votes) * spec.env.bandit.prompts * spec.env.bandit.actions;
}

// Estimates what models of a judge and posterior scores cost. Times are measured on one 2.6 GHz core.

namespace {

constexpr double seconds_of_distribution = 8e-7;       ///< to make the distribution of one call, per level
constexpr double seconds_of_product = 1e-9;   ///< to take in a response's votes, per combination of a kind of traits and a quality
constexpr double seconds_of_share = 1.2e-10;  ///< for the same, per pair of a quality and a state of a prompt
constexpr double seconds_of_state = 0.2e-9, seconds_of_spread = 0.11e-9;  ///< posterior scores in float: per state of a prompt and group; for the floor
constexpr double seconds_of_group = 0.2e-6;    ///< the same, per group
constexpr double seconds_of_prior = 3e-9, seconds_of_moments = 18e-9;  ///< per state and step, to move the prior; by moments
constexpr double seconds_in_double = 2.7e-9, scores_in_float = 32;  ///< per state and group; floats are often too coarse for larger groups
constexpr double seconds_of_votes_state = 1e-9;  ///< posterior scores: per state of a prompt and response, if all votes are read
constexpr double seconds_of_known_floor = 0.7e-6;  ///< for the floor: per group if the prior is fixed
constexpr double seconds_of_response = 0.7e-6, seconds_of_vote = 15e-9;  ///< per response and per vote, to find the row of its votes
constexpr double logarithms = 100;            ///< factor of time, where products are too small for doubles and need logarithms …
constexpr double votes_in_doubles = 400;      ///< … as from about so many votes

double states_of(const Belief& belief) { return static_cast<double>(count_states(belief.world, belief.rater, belief.grid)); }

/// Sizes of a model that reads all votes.
struct ModelSize {
  double states, responses, cells;  ///< cells: combinations of judge, lasting traits and response
};
ModelSize model_size(const Belief& belief, int levels) {
  return {states_of(belief), believed_responses(belief.rater, levels), call_cells(belief.rater, levels)};
}

/// Returns about how many different sets of N votes so many responses have. It never stops growing, since rare sets keep appearing (fitted
/// at 8 and 32 votes).
double different_sets(double votes, int levels, double responses) {
  double all = 1;
  for (int k = 1; k < levels; ++k) all *= (votes + k) / k;
  return std::min({all, std::max(responses, 1.0), 1 + 0.04 * votes * math::sqrt(votes) * math::exp(0.8 * math::log(responses))});
}

}  // namespace

double posterior_bytes(const RunSpec& spec, double responses) {
  if (!spec.estimator.posterior) return 0;
  const Belief belief = belief_of(spec);
  const int levels = spec.env.levels();
  if (!belief.all_votes) {
    const double scores = levels * (reward_kind(spec).real ? per_level_of_reals : 1);
    const double in_float = spec.estimator.prior == PriorRule::fixed ? 0 : belief.grid.moments ? 9 : 8;  // tables in FloatScores
    const double rows = (belief.grid.moments ? 9 : 7) + in_float / 2;  // in ScoreModel and PosteriorScores
    return rows * sizeof(double) * scores * states_of(belief);
  }
  const ModelSize size = model_size(belief, levels);
  const double row = 256 + (belief.grid.moments ? 4 : 3) * sizeof(double) * size.states;
  return std::min(static_cast<double>(PosteriorVotes::most_kept), row * different_sets(spec.votes, levels, responses)) +
         call_model_bytes(belief.rater, levels) + sizeof(double) * size.responses * size.states;
}

double posterior_seconds(const RunSpec& spec) {
  if (!spec.estimator.posterior) return 0;
  const Belief belief = belief_of(spec);
  const double groups = static_cast<double>(spec.learn.steps) * spec.learn.batch;
  const double rollouts = spec.learn.rollouts;
  if (belief.all_votes)
    return groups * rollouts * (seconds_of_votes_state * states_of(belief) + seconds_of_response + seconds_of_vote * spec.votes);
  const bool floor = divides_by_deviation(spec.estimator.form) && !spec.estimator.floor;
  if (spec.estimator.prior == PriorRule::fixed) return floor ? groups * seconds_of_known_floor : 0;
  const bool in_double = rollouts > scores_in_float || !least_ratio(spec.estimator);
  const double of_state = in_double ? seconds_in_double : seconds_of_state + (floor ? seconds_of_spread : 0);
  const double of_prior = seconds_of_prior + (belief.grid.moments ? seconds_of_moments : 0);
  return groups * (seconds_of_group + of_state * states_of(belief)) + spec.learn.steps * of_prior * states_of(belief);
}

double posterior_model_seconds(const RunSpec& spec, double responses) {
  if (!spec.estimator.posterior) return 0;
  const Belief belief = belief_of(spec);
  if (!belief.all_votes) return 0;
  const int levels = spec.env.levels();
  const ModelSize size = model_size(belief, levels);
  const double of_row =
      size.cells * seconds_of_product * (spec.votes > votes_in_doubles ? logarithms : 1) + size.states * size.responses * seconds_of_share;
  return size.cells * seconds_of_distribution * levels + different_sets(spec.votes, levels, responses) * of_row;
}

bool posterior_too_large(const RunSpec& spec) {
  if (!spec.estimator.posterior) return false;
  const Belief belief = belief_of(spec);
  return belief.all_votes && call_model_bytes(belief.rater, spec.env.levels()) > most_call_model_bytes;
}

// Estimates what a run of the toy language model costs.

namespace {

// Returns rough seconds of one token of a batch on one 2.6 GHz core: forward and backward pass; with `reference` also its forward pass.
double token_seconds(const RunSpec& spec, bool reference) {
  const double wide = spec.policy.transformer.size == TransformerSize::large ? 3.5 : 1.0;
  return wide * (reference ? 12.8e-6 : 9.6e-6);
}
constexpr double demonstrated_share = 0.6;  // share of the longest response that demonstrations have, and a policy that has learned to end
// Returns the share of the longest response that a policy uses after supervised steps: demonstrated_share after 400 steps of 64 demonstrations.
double used_share(const RunSpec& spec) {
  const TransformerLearning& learning = spec.policy.learning;
  return 1 - (1 - demonstrated_share) * std::min(1.0, static_cast<double>(learning.warm_steps) * learning.warm_batch / (400 * 64));
}

}  // namespace

double evaluation_seconds(const RunSpec& spec) {
  const ToyLmConfig& world = spec.env.toy_lm;
  return world.evaluated_prompts * double{1} * world.response_tokens * used_share(spec) * token_seconds(spec, false) / 2;  // forward only
}

Cost toy_lm_cost(const RunSpec& spec) {
  const LearnConfig& learn = spec.learn;
  const double rollouts = static_cast<double>(learn.batch) * learn.rollouts, cap = spec.env.toy_lm.response_tokens;
  const double records = record_count(spec);
  const double recorded = recorded_bytes(spec) + 2 * sizeof(double) * spec.env.toy_lm.evaluated_prompts;  // quality and length of each one
  Cost c;
  c.cpu_seconds = learn.steps * rollouts * cap * used_share(spec) * token_seconds(spec, learn.kl > 0) * learn.epochs +
                  records * evaluation_seconds(spec);
  const TextDistributionCost distributions = text_distribution_cost(spec.rater, spec.votes);
  c.cpu_seconds += std::min(distributions.rows, learn.steps * rollouts) * distributions.seconds + learn.steps * rollouts * distributions.calls_seconds;
  c.cpu_seconds += posterior_seconds(spec) + stored_seconds(recorded);
  // The memory of the supervised steps is free before training begins. Added are words and verdicts of a batch, and the prompts.
  const TransformerShape shape = transformer_of(spec);
  const PolicyConfig& policy = spec.policy;
  TransformerConfig whole = policy.transformer;
  whole.lora_rank = 0;
  const int evaluated = spec.env.toy_lm.evaluated_prompts;
  const double trained = policy_bytes(policy.transformer, shape, learn.batch, learn.rollouts) +
                         pass_bytes(shape, std::min(evaluated, evaluation_block), 1, false) + rollouts * (4 * cap + sizeof(Verdict) + 32),
               started = policy.learning.warm_steps > 0 ? policy_bytes(whole, shape, policy.learning.warm_batch, 1) : 0;
  c.memory_bytes = std::max(trained, started) +
                   (double{1} * spec.env.prompts() + evaluated) * (sizeof(ToyPrompt) + 2.0 * toy_prompt_tokens) + 2 * cap * evaluated * 3 +
                   distributions.bytes + 4.0 * 3 * weight_table(shape).count + 3 * recorded +
                   watch_bytes(spec.record, learn.steps);  // copies for a checkpoint too
  c.recorded_bytes = recorded;
  c.disk_bytes = 1000 + stored_bytes(recorded);
  const bool again = spec.rater.parse_policy == ParsePolicy::resample;
  c.judge_calls = learn.steps * rollouts * spec.votes * (again ? 1 + failure_probability(spec.rater) : 1);
  return c;
}

double warm_start_bytes(const RunSpec& spec) { return 4.0 * static_cast<double>(weight_table(transformer_of(spec)).count); }

double warm_start_seconds(const RunSpec& spec) {
  const TransformerLearning& learning = spec.policy.learning;
  return static_cast<double>(learning.warm_steps) * learning.warm_batch * spec.env.toy_lm.response_tokens * demonstrated_share *
         token_seconds(spec, false);
}

}  // namespace odrpo
