// Schedules runs by shape, in batches that fit, so that every engine is kept busy.
#include "train/schedule/scheduler.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <utility>

#include "config/plan/run_grid.hpp"
#include "config/spec.hpp"
#include "kernels/system/text.hpp"
#include "train/schedule/cost.hpp"
#include "train/train.hpp"

namespace odrpo {
namespace {

// An engine may hand over its records only when a batch ends, so a stop or a lost device can cost a whole batch. Therefore a batch takes at
// most some minutes of one core, which are seconds on a device. But it has enough runs to fill a device, however long they are.
constexpr std::size_t most_runs = 4096, enough_runs = 256;
constexpr double most_core_seconds = 600;

// What the rules say of the runs of a combination. Either `group` or `reason` is set once they were asked.
struct Assignment {
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  std::uint32_t group = none;   // index of the group of these runs
  std::uint32_t reason = none;  // index of the reason why they cannot be batched
  double bytes = 0;             // device memory of one of these runs
};

// Runs that may be in one batch: they have one shape, and the same engines have memory for them.
struct Group {
  std::vector<std::size_t> runs;
  WorldKind world = WorldKind::bandit;
  double room = 0;     // memory of the smallest engine that can hold each of the runs
  double seconds = 0;  // of one run
  std::size_t at_once = 0;
};

// Returns the memory of the smallest engine that can hold so many bytes; negative when none can.
double room_for(double bytes, WorldKind world, const std::vector<BatchEngine>& engines) {
  double room = -1;
  for (const BatchEngine& e : engines)
    if (const double has = e.room(world); bytes <= has && (room < 0 || has < room)) room = has;
  return room;
}

// Returns the most runs in a batch of the group. The group is divided among the engines if there are fewer groups than engines, or enough
// runs to fill all engines. Runs that take turns on an engine are handed over one by one. Their batches only divide them among the engines,
// in some rounds.
std::size_t runs_a_batch(const Group& group, std::size_t groups, std::size_t engines) {
  if (group.at_once < most_runs) {
    constexpr std::size_t rounds = 4;
    const std::size_t share = (group.runs.size() + engines - 1) / engines;
    return engines == 1 ? share : std::max(std::min(group.at_once, share), (share + rounds - 1) / rounds);
  }
  const double allowed = group.seconds > 0 ? most_core_seconds / group.seconds : static_cast<double>(most_runs);
  const auto most = static_cast<std::size_t>(std::clamp(allowed, static_cast<double>(enough_runs), static_cast<double>(most_runs)));
  const std::size_t n = group.runs.size();
  const bool split = groups < engines || n >= engines * enough_runs;
  const std::size_t parts = std::max((n + most - 1) / most, split ? engines : 1);
  return (n + parts - 1) / parts;
}

template <class BytesOf>
void cut(const Group& group, std::size_t most, BytesOf bytes_of, std::deque<RunBatch>& batches) {
  const RunBatch none{{}, group.world, 0, 0};
  RunBatch batch = none;
  for (const std::size_t i : group.runs) {
    double bytes = bytes_of(i);
    if (batch.runs.size() == most || (!batch.runs.empty() && batch.runs.size() < group.at_once && batch.bytes + bytes > group.room))
      batches.push_back(std::exchange(batch, none));
    if (batch.runs.size() >= group.at_once) bytes = 0;  // it uses the memory of another run that has ended
    batch.runs.push_back(i);
    batch.bytes += bytes;
    batch.seconds += group.seconds;
  }
  batches.push_back(std::move(batch));
}

}  // namespace

double core_seconds(const RunSpec& spec) { return estimate_cost(spec).cpu_seconds; }

std::size_t Schedule::in_batches() const {
  std::size_t runs = 0;
  for (const RunBatch& b : batches) runs += b.runs.size();
  return runs;
}

Schedule make_schedule(const RunGrid& runs, std::vector<std::size_t> todo, const std::vector<BatchEngine>& engines,
                       const BatchRules& rules) {
  Schedule out;
  if (engines.empty()) {
    out.workers = std::move(todo);
    return out;
  }

  // finds which runs can be batched, and on which engines
  std::vector<Group> groups;
  std::map<std::pair<std::string, double>, std::uint32_t> group_of;  // by shape and memory of the smallest engine
  std::map<std::string, std::uint32_t> reason_of;
  std::vector<std::size_t> unbatched{0};  // number of runs by reason; reason 0: they are too large for every engine
  double smallest = std::numeric_limits<double>::infinity();  // bytes of the smallest run that is too large
  WorldKind smallest_world = WorldKind::bandit;
  const auto ask = [&](const RunSpec& spec, Assignment& assignment) {
    std::string why = rules.why_not_batched(spec);
    if (why.empty() && spec.env.kind == WorldKind::toy_lm && engines[0].no_transformers) why = engines[0].no_transformers();  // on this machine
    if (spec.env.kind == WorldKind::bandit)  // a batch may go to any engine
      for (const BatchEngine& e : engines)
        if (why.empty() && e.too_large) why = e.too_large(spec);
    if (!why.empty()) {
      const auto [at, fresh] = reason_of.try_emplace(why, static_cast<std::uint32_t>(unbatched.size()));
      if (fresh) unbatched.push_back(0);
      assignment.reason = at->second;
      return;
    }
    assignment.bytes = rules.batched_bytes(spec);
    const double room = room_for(assignment.bytes, spec.env.kind, engines);
    if (room < 0) {
      assignment.reason = 0;
      if (assignment.bytes < smallest) smallest = assignment.bytes, smallest_world = spec.env.kind;
      return;
    }
    const auto [at, fresh] = group_of.try_emplace({rules.batch_shape(spec), room}, static_cast<std::uint32_t>(groups.size()));
    if (fresh) {
      groups.emplace_back();
      groups.back().world = spec.env.kind;
      groups.back().room = room;
      groups.back().seconds = rules.seconds(spec);
      groups.back().at_once = rules.at_once(spec);
      if (groups.back().at_once < most_runs)
        groups.back().at_once = static_cast<std::size_t>(std::min(static_cast<double>(groups.back().at_once), room / assignment.bytes));
    }
    assignment.group = at->second;
  };
  std::vector<Assignment> assignments(runs.combinations());
  for (const std::size_t i : todo) {
    Assignment& assignment = assignments[runs.combination_of(i)];
    if (assignment.group == Assignment::none && assignment.reason == Assignment::none) ask(runs[i], assignment);
    if (assignment.group != Assignment::none) {
      groups[assignment.group].runs.push_back(i);
    } else {
      out.workers.push_back(i);
      ++unbatched[assignment.reason];
    }
  }

  // Batches that few engines can hold come first, and among these the longest. So no engine is left alone with them at the end.
  const auto bytes_of = [&](std::size_t i) { return assignments[runs.combination_of(i)].bytes; };
  std::stable_sort(groups.begin(), groups.end(), [](const Group& a, const Group& b) { return a.room > b.room; });
  for (auto begin = groups.begin(); begin != groups.end();) {
    const auto end = std::find_if(begin, groups.end(), [&](const Group& g) { return g.room != begin->room; });
    const auto hold = static_cast<std::size_t>(
        std::count_if(engines.begin(), engines.end(), [&](const BatchEngine& e) { return e.room(begin->world) >= begin->room; }));
    const auto first = static_cast<std::ptrdiff_t>(out.batches.size());
    for (auto g = begin; g != end; ++g) cut(*g, runs_a_batch(*g, static_cast<std::size_t>(end - begin), hold), bytes_of, out.batches);
    std::stable_sort(out.batches.begin() + first, out.batches.end(),
                     [](const RunBatch& a, const RunBatch& b) { return a.seconds > b.seconds; });
    begin = end;
  }

  for (const auto& [why, reason] : reason_of) out.why.push_back({why, unbatched[reason]});
  if (unbatched[0] > 0) {
    double largest = 0;
    for (const BatchEngine& e : engines) largest = std::max(largest, e.room(smallest_world));
    out.why.push_back({fmt::format("they take {} and more, a device has room for {} (or `memory_gib` allows no more)", bytes_text(smallest),
                                   bytes_text(largest)),
                       unbatched[0]});
  }
  std::stable_sort(out.why.begin(), out.why.end(), [](const Unbatched& a, const Unbatched& b) { return a.runs > b.runs; });
  return out;
}

Schedule without_done(Schedule schedule, const std::vector<bool>& done) {
  const auto is_done = [&](std::size_t i) { return done[i]; };
  std::erase_if(schedule.workers, is_done);
  for (RunBatch& b : schedule.batches) {
    const auto before = static_cast<double>(b.runs.size());
    std::erase_if(b.runs, is_done);
    b.seconds *= static_cast<double>(b.runs.size()) / before;  // bytes stay: what fitted still fits
  }
  std::erase_if(schedule.batches, [](const RunBatch& b) { return b.runs.empty(); });
  return schedule;
}

std::optional<RunBatch> next_batch(std::deque<RunBatch>& batches, const BatchEngine& engine) {
  const auto at = std::find_if(batches.begin(), batches.end(), [&](const RunBatch& b) { return b.bytes <= engine.room(b.world); });
  if (at == batches.end()) return std::nullopt;
  RunBatch batch = std::move(*at);
  batches.erase(at);
  return batch;
}

}  // namespace odrpo
