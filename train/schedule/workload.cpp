// Adds up the cost model's estimates over runs and worlds: work that is done and work that is left.
#include "train/schedule/workload.hpp"

#include <algorithm>
#include <utility>

#include "config/plan/run_grid.hpp"
#include "config/spec.hpp"
#include "train/batched/toy_lm_runs.hpp"
#include "train/schedule/run_order.hpp"
#include "train/schedule/scheduler.hpp"
#include "train/train.hpp"

namespace odrpo {

double seconds_to_go(const Work& work, double elapsed) {
  if (work.seconds_left <= 0) return 0;
  constexpr double too_early = 1e-4;  // share of the work from which nothing can be told: the first steps are slow
  return work.seconds_seen > too_early * (work.seconds_seen + work.seconds_left) && elapsed > 0 ? work.seconds_left / (work.seconds_seen / elapsed) : -1;
}

Workload::Workload(const RunGrid& runs, const std::vector<bool>& done, const Schedule& rest, const RunWorlds& worlds, std::size_t workers,
                   std::size_t engines, std::function<double()> clock)
    : clock_(std::move(clock)), start_(clock_()), engines_(engines), workers_(workers + engines * toy_lm_at_once) {
  for (std::size_t c = 0; c < runs.combinations(); ++c) {
    const Combination all = runs.combination(c);
    const RunSpec run = runs[all.first];
    const auto from = done.begin() + static_cast<std::ptrdiff_t>(all.first), to = from + static_cast<std::ptrdiff_t>(all.runs);
    const auto finished = static_cast<std::size_t>(std::count(from, to, true));
    const auto steps = static_cast<std::uint64_t>(run.learn.steps);
    finished_.steps_total += steps * all.runs;
    finished_.steps_done += steps * finished;
    finished_.seconds_left += core_seconds(run) * static_cast<double>(all.runs - finished);
  }
  std::vector<double> seconds;
  for (const std::size_t i : worlds.firsts()) seconds.push_back(world_seconds(runs[i]));
  const auto add_worlds_of = [&](const std::vector<std::size_t>& trained) {
    for (std::size_t k = 0; k < trained.size(); ++k)
      if (k == 0 || !worlds.same(trained[k - 1], trained[k])) finished_.seconds_left += seconds[worlds.world(trained[k])];
  };
  add_worlds_of(rest.workers);
  for (const RunBatch& batch : rest.batches)
    if (batch.world == WorldKind::toy_lm) add_worlds_of(batch.runs);
}

std::size_t Workload::places_of_engine(std::size_t engine) const { return workers_.size() - (engines_ - engine) * toy_lm_at_once; }

RunSteps& Workload::begin(std::size_t w, const RunSpec& spec, bool opens_world) {
  const double run = core_seconds(spec), world = opens_world ? world_seconds(spec) : 0;
  const std::lock_guard lock(mutex_);
  Worker& worker = workers_[w];
  worker.steps.clear();
  worker.run_steps = spec.learn.steps;
  worker.run_seconds = run, worker.world_seconds = world;
  worker.began = clock_();
  worker.used = worker.busy = true;
  return worker.steps;
}

// Adds the part of its current run that a worker has done.
void Workload::add_part(const Worker& worker, Work& to) {
  if (!worker.busy || worker.before_steps()) return;
  const int restored = worker.steps.restored.load(std::memory_order_relaxed);
  const int done = worker.steps.done.load(std::memory_order_relaxed);
  const double a_step = worker.run_seconds / worker.run_steps;
  to.steps_done += static_cast<std::uint64_t>(done);
  to.steps_trained += static_cast<std::uint64_t>(done - restored);
  to.evaluations += worker.steps.evaluating.load(std::memory_order_relaxed);
  const int stored =
      worker.counts_world() ? worker.steps.world_restored.load(std::memory_order_relaxed) : 0;  // stored steps say nothing about this call's speed
  to.seconds_seen += a_step * (done - restored) + worker.world_seconds - (stored > 0 ? worker.world_part(stored) : 0);
  to.seconds_left -= a_step * done + worker.world_seconds;
}

// Adds the finished share of the worlds that are being made. Where their steps are counted, these give the share. Otherwise a world is
// assumed to be made at the speed of the work so far; without that, the ETA would rise until the world is made.
void Workload::add_worlds(Work& to) const {
  constexpr double most = 0.95;  // largest share, for a world that takes longer than estimated
  const double at = clock_();
  double worked = 0;  // seconds that workers spent on the work in seconds_seen
  for (const Worker& worker : workers_) {
    const bool making = worker.before_steps(), counted = making && worker.counts_world();
    if (worker.used) worked += at - start_ - (making && !counted ? at - worker.began : 0);
    if (!counted || worker.world_seconds == 0) continue;
    const int done = worker.steps.world_done.load(std::memory_order_relaxed),
              restored = worker.steps.world_restored.load(std::memory_order_relaxed);
    ++to.worlds_in_making;
    to.world_steps_total += static_cast<std::uint64_t>(worker.steps.world_steps.load(std::memory_order_relaxed));
    to.world_steps_done += static_cast<std::uint64_t>(done);
    to.seconds_seen += worker.world_part(done - restored);
    to.seconds_left -= worker.world_part(done);
  }
  const double speed = worked > 0 ? to.seconds_seen / worked : 0;
  for (const Worker& worker : workers_) {
    if (!worker.before_steps() || worker.counts_world() || worker.world_seconds == 0) continue;
    ++to.worlds_in_making;
    const double made = std::min(most * worker.world_seconds, speed * (at - worker.began));
    to.seconds_seen += made;
    to.seconds_left -= made;
  }
}

void Workload::end(std::size_t w) {
  const std::lock_guard lock(mutex_);
  Worker& worker = workers_[w];
  Work part;
  add_part(worker, part);
  finished_.seconds_seen += part.seconds_seen;
  finished_.steps_trained += part.steps_trained;
  finished_.seconds_left -= worker.run_seconds + worker.world_seconds;
  finished_.steps_done += static_cast<std::uint64_t>(worker.run_steps);
  worker.busy = false;
}

void Workload::add_batched(const RunSpec& spec) {
  const double seconds = core_seconds(spec);
  const std::lock_guard lock(mutex_);
  finished_.seconds_seen += seconds;
  finished_.seconds_left -= seconds;
  finished_.steps_done += static_cast<std::uint64_t>(spec.learn.steps);
  finished_.steps_trained += static_cast<std::uint64_t>(spec.learn.steps);
}

Work Workload::now() const {
  const std::lock_guard lock(mutex_);
  Work work = finished_;
  for (const Worker& worker : workers_) add_part(worker, work);
  add_worlds(work);
  work.seconds_left = std::max(work.seconds_left, 0.0);  // it may be negative by rounding
  return work;
}

}  // namespace odrpo
