// What a run in the bandit costs: times measured on one 2.6 GHz core with AVX2, bytes counted from the arrays.
#include <algorithm>

#include "config/spec.hpp"
#include "policies/softmax/policy.hpp"
#include "train/schedule/cost.hpp"
#include "train/worlds/bandit.hpp"

namespace odrpo {
namespace {

// What reading a byte of a table takes more than one of a small table: tables of about these sizes leave the caches.
constexpr double second_cache = 1 << 20, last_cache = 1 << 24;
double seconds_of_byte(double table_bytes, bool in_order) {
  if (table_bytes <= second_cache) return 0;
  if (table_bytes <= last_cache) return in_order ? 2e-12 : 20e-12;
  return in_order ? 40e-12 : 150e-12;
}

/// The arrays of a run, padded as they are.
struct Size {
  bool linear;
  double prompts, width, features, batch, rollouts;  // rollouts: of a batch
  double cells() const { return prompts * width; }
  double batch_cells() const { return batch * width; }
  // of the table that a step reads rows of: features, or parameters with their moments and roots
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

constexpr double seconds_of_pending = 0.13e-9;         ///< of an update that a parameter missed
constexpr double seconds_of_overdue_pending = 0.35e-9;  ///< the same where rows are brought up to date one by one

// Share of the prompts that have been in a batch, on average over the run: nothing is pending for the others.
double visited_share(const RunSpec& spec, const Size& n) {
  const double drawn = static_cast<double>(spec.learn.steps) * n.batch;
  return drawn < n.prompts ? drawn / n.prompts / 2 : 1 - n.prompts / drawn / 2;
}

// Forward and backward of a step's prompts, once for each epoch, with what Adam has left to do.
double policy_seconds(const RunSpec& spec, const Size& n) {
  const double far = seconds_of_byte(n.cells() * n.bytes_of_cell(), false) * n.bytes_of_cell();
  if (n.linear) return spec.learn.epochs * n.batch_cells() * (0.73e-9 + 0.118e-9 * n.features) + n.batch_cells() * far;
  const RowMemory memory = row_memory(PolicyKind::tabular, spec.env.bandit.prompts, spec.learn.batch, spec.learn.epochs);
  const double absence = std::min<double>(memory.updates, n.prompts / n.batch * spec.learn.epochs);
  const double overdue = memory.overdue ? std::max(0.0, n.prompts / (memory.updates + 1) - n.batch) * n.width * visited_share(spec, n) : 0;
  return n.batch_cells() * (1.1e-9 * spec.learn.epochs + seconds_of_pending * absence + 2 * far) +
         overdue * (seconds_of_overdue_pending * memory.updates + 2 * far);
}

// A look at all prompts.
double record_seconds_of(const RunSpec& spec, const Size& n) {
  const double far = seconds_of_byte(n.cells() * n.bytes_of_cell(), true) * n.bytes_of_cell();
  if (n.linear) return n.cells() * (0.5e-9 + 0.059e-9 * n.features + far);
  const RowMemory memory = row_memory(PolicyKind::tabular, spec.env.bandit.prompts, spec.learn.batch, spec.learn.epochs);
  const double pending = std::min<double>(memory.updates, n.prompts / n.batch * spec.learn.epochs) / 2 * visited_share(spec, n);
  return n.cells() * (1.1e-9 + seconds_of_pending * pending + far);
}

// Scores, advantages and coefficients of a rollout.
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
  // parameters, moments and roots; the batch, and the rows that a record looks at; words, actions and scores
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
  constexpr double seconds_of_fresh_byte = 0.8e-9;  // memory that the system hands out
  return responses * (57e-9 + (has_signal(spec) ? 40e-9 * spec.env.bandit.features : 0)) + seconds_of_fresh_byte * bandit_world_bytes(spec);
}

double rating_seconds(const RunSpec& spec) {
  return 35e-9 * judge_turns(spec.rater, spec.votes) * spec.env.bandit.prompts * spec.env.bandit.actions;
}

}  // namespace odrpo
