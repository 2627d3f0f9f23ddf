// Computes the sizes and the memory layout of batched runs, refuses runs that cannot be batched, and makes problems and records.
#include "train/batched/run_layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>
#include <new>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "config/spec.hpp"
#include "envs/bandit/channel.hpp"
#include "envs/toy_lm/rate_texts.hpp"
#include "estimators/level_formulas.hpp"
#include "estimators/level_values.hpp"
#include "kernels/isa.hpp"
#include "kernels/math.hpp"
#include "kernels/subnormals.hpp"
#include "policies/softmax/policy.hpp"
#include "train/batched/block/step.hpp"
#include "train/batched/engine.hpp"
#include "train/batched/toy_lm_runs.hpp"
#include "train/prompt_batch.hpp"
#include "train/run_cache.hpp"
#include "train/run_record.hpp"
#include "train/schedule/cost.hpp"
#include "train/worlds/bandit.hpp"

namespace odrpo {
namespace {

constexpr int least_threads = 128, column_budget = 8 << 10, cell_budget = 16 << 10;

// Assigns offsets one after another, each a multiple of 16.
struct Layout {
  std::size_t end = 0;
  std::size_t place(std::size_t bytes) {
    const std::size_t at = end;
    end += (bytes + 15) / 16 * 16;
    return at;
  }
};

device::Layout sizes_of(const RunSpec& spec) {
  const BanditConfig& world = spec.env.bandit;
  const LearnConfig& learn = spec.learn;
  device::Layout p;
  p.linear = spec.policy.kind == PolicyKind::linear;
  p.adam = learn.optimizer.kind != OptimizerKind::sgd;
  p.prompts = world.prompts;
  p.actions = world.actions;
  p.width = (world.actions + 31) / 32 * 32;
  p.features = p.linear ? world.features : 0;
  p.row_width = p.linear ? (world.features + 31) / 32 * 32 : p.width;
  p.batch = learn.batch;
  p.rollouts = learn.rollouts;
  p.levels = world.levels;
  p.blocks = (learn.rollouts + 3) / 4;
  p.per_epoch = world.prompts / learn.batch;
  p.steps = learn.steps;
  p.every = spec.record.every;
  p.updates = learn.epochs;
  const RowMemory memory = row_memory(spec.policy.kind, world.prompts, learn.batch, learn.epochs);
  p.remember = memory.updates;
  p.overdue = p.adam && !p.linear && memory.overdue;
  const RewardKind kind = reward_kind(spec);
  p.general = kind.real || kind.gaps || reads_running_median(spec.estimator) || leaves_pivot(spec.estimator.form) ||
              spec.rater.sampling == Sampling::draws || spec.record.gradient > 0;
  p.cells = p.general ? device::cells_of(p) : 0;
  return p;
}

void lay_out(device::Layout& p, bool resident) {
  const int prompts = (p.batch + 3) / 4 * 4;  // rounded up to full warps (8 threads a prompt)
  p.resident = resident;
  p.threads = std::clamp((8 * prompts + 31) / 32 * 32, least_threads, most_threads(resident, p.general));
  p.slots = std::max(prompts, p.threads / 8);
  const int column = p.general ? 8 * p.cells : 4 * device::column_rows(p.levels);
  p.groups_at_once = std::min(p.batch, std::clamp((p.general ? cell_budget : column_budget) / column, p.general ? 4 : 16, p.threads));
  const std::size_t padded = static_cast<std::size_t>(prompts) * p.rollouts, word_bytes = std::size_t{16} * p.batch * p.blocks;
  const std::size_t means = static_cast<std::size_t>(std::min(p.prompts, device::rows_together)) * sizeof(device::RowMeans);
  const int counts = 4 * (p.levels + 1);  // bytes of the counts of one response's votes
  p.polls_at_once = p.general ? std::min({device::draws(p), p.threads, cell_budget / counts}) : 0;
  const std::size_t columns = std::max(static_cast<std::size_t>(column) * p.groups_at_once, std::size_t(counts) * p.polls_at_once);
  Layout to;
  to.place(sizeof(device::Run));
  p.scalars = to.place(sizeof(device::Scalars));
  // random words of the actions, then the batch's advantages; at another time the policy's exact means
  p.words = p.advantage = p.means = to.place(std::max({word_bytes, 4 * padded, means}));
  // random words of the ratings, then the columns of groups, then the coefficients of rollouts
  p.ratings = p.columns = p.coefficient = to.place(std::max({word_bytes, columns, 4 * padded}));
  p.probability = to.place(std::size_t{4} * p.slots * p.width);
  p.prompt = to.place(std::size_t{2} * (p.batch + 3));
  p.action = to.place(2 * padded);
  p.score = p.reward = to.place(p.general ? 4 * padded : padded);  // a run has one or the other
  p.mask = to.place(padded);
  p.old_probability = to.place(p.updates > 1 ? 4 * padded : 0);
  p.gradient = to.place(p.linear ? std::size_t{4} * p.row_width : 0);
  p.last = to.place(std::size_t{4} * device::rows(p));
  p.general_run = to.place(p.general ? sizeof(device::General) : 0);
  p.median = to.place(p.general ? sizeof(device::Median) : 0);
  p.theta = to.place(resident ? sizeof(float) * device::parameters(p) : 0);
  p.bytes = to.end;
}

}  // namespace

device::Layout make_layout(const RunSpec& spec, std::size_t block_bytes) {
  device::Layout p = sizes_of(spec);
  lay_out(p, true);
  if (p.bytes > block_bytes && !p.linear) lay_out(p, false);
  return p;
}

std::string why_too_large(const RunSpec& spec, std::size_t block_bytes, const std::string& whose) {
  const device::Layout p = make_layout(spec, block_bytes);
  if (p.bytes <= block_bytes) return "";
  return fmt::format("batches of {} prompts x {} rollouts on {} prompts need {} KiB of shared memory for a block of threads, and {} has {} KiB", p.batch,
                     p.rollouts, p.prompts, (p.bytes + 1023) / 1024, whose, block_bytes / 1024);
}

std::string why_not_batched(const RunSpec& spec) {
  if (spec.estimator.outside != Outside::none) return fmt::format("estimator {} is another program or library", spec.estimator_name);
  if (spec.learn.dead_groups == DeadGroups::resample) return "prompts in the place of dead groups are drawn on the CPU";
  if (spec.env.kind == WorldKind::toy_lm) return why_not_batched_toy_lm(spec);
  if (spec.record.levels > 0) return "`levels` of [record] are recorded on the CPU";
  if (spec.record.logits > 0) return "`logits` of [record] are compared on the CPU";
  if (spec.record.rollouts > 0) return "`rollouts` of [record] are kept on the CPU";
  if (spec.rater.sampling == Sampling::draws && panel_size(spec.rater.noise) > 1) return "the judges of a panel answer one by one";
  if (bills_by_judge(spec)) return "the calls of each judge are counted, and the device does not know who answers";
  if (stops_early(spec.rater, spec.votes)) return "a judge that stops early is asked one call after the other";
  if (spec.rater.aggregate == Aggregate::expected) return "expected scores are not drawn";
  if (scores_of_response(spec.rater, spec.votes) > 1) return "the votes of a response stay apart, and the device keeps their aggregate";
  if (spec.policy.tilt > 0) return "a policy with a `tilt` starts on the CPU";
  if (const std::string_view more = beside_group(spec.estimator.form); !more.empty())
    return fmt::format("estimator {} reads {}, which is worked out on the CPU", spec.estimator_name, more);
  if (spec.estimator.posterior) return "posterior scores are worked out on the CPU";
  if (only_on_host(spec.estimator.form)) return fmt::format("estimator {} is worked out on the CPU", spec.estimator_name);
  if (spec.estimator.corrected || is_spaced(spec.estimator.values)) {
    if (row_of(spec.estimator.form).basis == Basis::reward) return "scores become the `values` of their levels on the CPU";
    if (reads_running_median(spec.estimator)) return "a running median with `values` of levels is followed on the CPU";
  }
  const device::Layout p = make_layout(spec);
  if (p.general && row_of(spec.estimator.form).basis == Basis::bit)
    return "bits beside missing scores, literal votes or recorded gradients are worked out on the CPU";
  if (p.general && by_formula(spec.estimator))
    return "formulas of levels beside missing scores, real rewards, running medians, literal votes or recorded gradients are worked out on the CPU";
  return why_too_large(spec);
}

Chunk longest_chunk(const device::Layout& p) {
  constexpr double table_bytes = 4 << 20;                                                  // for pending steps, and as many for prompt orders
  const double ring = p.remember + 1.0, updates = p.updates * ring * sizeof(PendingStep);  // bytes per step
  const double order = 2.0 * p.prompts / p.per_epoch;
  const double most = std::min({table_bytes / updates, table_bytes / order, 32768.0, p.steps + 1.0});
  Chunk s;
  s.steps = std::max(1, static_cast<int>(most));
  s.epochs = (s.steps - 1) / p.per_epoch + 2;
  s.pending = (static_cast<std::size_t>(s.steps) * p.updates + p.remember) * (p.remember + 1);
  return s;
}

int median_ring(const RunSpec& spec) {
  const double batch = static_cast<double>(spec.learn.batch) * spec.learn.rollouts, all = batch * (spec.learn.steps + 1.0);
  if (spec.estimator.running == RunningKind::ema) return static_cast<int>(batch);
  return static_cast<int>(std::min(all, static_cast<double>(spec.estimator.window)));
}

std::string batch_shape(const RunSpec& spec) {
  if (spec.env.kind == WorldKind::toy_lm) return toy_lm_shape(spec);
  const device::Layout p = make_layout(spec);
  return fmt::format("{} {}{} {}x{} features {} batch {}x{} levels {} steps {} every {} updates {}", p.linear ? "linear" : "tabular",
                     p.adam ? "adam" : "sgd", p.general ? " general" : "", p.prompts, p.actions, p.features, p.batch, p.rollouts, p.levels,
                     p.steps, p.every, p.updates);
}

std::size_t batched_at_once(const RunSpec& spec) {
  return spec.env.kind == WorldKind::toy_lm ? toy_lm_at_once : std::numeric_limits<std::size_t>::max();
}

double batched_bytes(const RunSpec& spec) {
  if (spec.env.kind == WorldKind::toy_lm) return toy_lm_device_bytes(spec);
  const device::Layout p = make_layout(spec);
  const BanditConfig& world = spec.env.bandit;
  const double cells = static_cast<double>(p.prompts) * p.width;
  const Chunk chunk = longest_chunk(p);
  const double row = row_bytes(world, spec.rater, spec.votes), distributions = std::min(cells, most_rows(world, spec.rater)) * row;
  const double of_run = cells * 8 + cells * 4 * p.features + distributions + 4.0 * static_cast<double>(device::parameters(p)) +
                        device::rows(p) * 4.0 + p.steps * (p.general ? sizeof(device::Seen) : 4.0) +
                        static_cast<double>(device::records(p)) * sizeof(device::Record) + estimator_bytes(spec, 0) + 4096 +
                        2.0 * chunk.epochs * p.prompts + static_cast<double>(chunk.pending * sizeof(PendingStep));
  if (!p.general) return of_run;
  const double tables = 32.0 * (p.levels + 2) + sizeof(LevelCount) * (p.rollouts + 1.0);
  const double followed =
      reads_running_median(spec.estimator) ? 4.0 * median_ring(spec) + estimator_bytes(spec, 0) + sizeof(device::Median) : 0;
  const double redrawn = spec.record.gradient > 0 ? 12.0 * device::gradient_size(p) + 8 : 0;
  return of_run + row + tables + followed + redrawn + sizeof(device::General);  // row: room for the real reward of each outcome
}

// Makes the problems on RunCache::threads threads.

std::vector<BanditProblem> make_problems(const std::vector<const RunSpec*>& runs, RunCache& cache, const std::atomic<bool>& stop,
                                   const BatchEngine::Done& done) {
  std::vector<std::optional<BanditProblem>> made(runs.size());
  std::vector<std::string> why(runs.size());
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    const FlushSubnormals flush;
    for (std::size_t i = next++; i < runs.size(); i = next++) try {
        made[i] = make_bandit_problem(*runs[i], cache, best_isa(), stop, false);
      } catch (const std::bad_alloc&) {
        why[i] = "out of memory";
      } catch (const std::exception& e) {
        why[i] = e.what();
      }
  };
  {
    std::vector<std::jthread> helpers;
    const std::size_t threads = std::min(static_cast<std::size_t>(std::max(1, cache.threads)), runs.size());
    for (std::size_t t = 1; t < threads; ++t) try {
        helpers.emplace_back(work);
      } catch (const std::system_error&) {
        break;  // the system allows no more threads: go on with fewer
      }
    work();
  }
  std::vector<BanditProblem> problems;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (!why[i].empty()) done(failed_record(*runs[i], why[i]));
    else if (made[i]) problems.push_back(std::move(*made[i]));
  }
  return problems;
}

RunRecord batched_record(const RunSpec& spec, const BanditWorld& world, const device::Layout& layout,
                         std::span<const device::Record> records, const std::function<device::Seen(int t)>& seen, double seconds_per_tick) {
  RunRecord r = begin_record(spec);
  const double n = device::draws(layout);
  const double levels = static_cast<double>(layout.batch) * (layout.levels - lowest_score(spec.rater));
  int last_record = 0;
  for (std::size_t i = 0; i < records.size(); ++i) {
    const device::Record& from = records[i];
    const int t = i + 1 == records.size() ? layout.steps : static_cast<int>(i) * layout.every;
    if (!std::isfinite(from.quality)) return diverged_record(spec, "parameters are", t);
    r.step.push_back(t);
    add_value(r, spec, CurveId::quality, from.quality);
    add_value(r, spec, CurveId::kl, from.kl);
    add_value(r, spec, CurveId::entropy, from.entropy);
    const SeenSum rewards{from.seen, n - from.counts.missing};
    BatchSummary batch{rewards.mean(), 1 - rewards.count / n, math::sqrt(from.squares / n), from.lowest, from.highest};
    batch.dead = {static_cast<double>(from.counts.dead_groups) / layout.batch, static_cast<double>(from.counts.dead_levels) / levels};
    add_batch(r, spec, batch, static_cast<double>(from.counts.truth) / 16 / n);
    add_value(r, spec, CurveId::clipped, from.clipped);
    add_value(r, spec, CurveId::gradient_cosine, from.cosine);
    add_value(r, spec, CurveId::gradient_snr, from.snr);
    double seconds[stage_count];
    for (int stage = 0; stage < stage_count; ++stage) seconds[stage] = static_cast<double>(from.ticks[stage]) * seconds_per_tick;
    record_seconds(r, seconds, t, last_record);
  }
  FinalReward final_reward(layout.steps);
  CollapseWatch watch(spec.record, layout.steps);
  for (int t = 0; t < layout.steps; ++t) {
    const device::Seen at = seen(t);
    const SeenSum rewards{at.sum, at.count};
    final_reward.add(t, rewards);
    if (rewards.count > 0) watch.add(t, rewards.mean());
  }
  close_record(r, spec, {world.uniform, world.best}, final_reward.mean(), watch, bandit_judge_calls(spec));
  return r;
}

}  // namespace odrpo
