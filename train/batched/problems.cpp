// Problems by as many threads as runs may be trained by at a time.
#include "train/batched/problems.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <new>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "config/spec.hpp"
#include "kernels/isa.hpp"
#include "kernels/math.hpp"
#include "kernels/subnormals.hpp"
#include "train/run_record.hpp"
#include "train/worlds/bandit.hpp"

namespace odrpo {

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
        break;  // no more threads to be had: go on with those there are
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
