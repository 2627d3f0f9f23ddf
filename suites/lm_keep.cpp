// What is kept of a run between two steps. Not kept, as it is made again bit by bit: the world, the start and its first responses, the
// order of prompts, Adam's scalars, the judge's laws; and all that a step begins with overwriting.
#include "suites/lm_keep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <new>

#include "kernels/clock.hpp"
#include "kernels/matmul.hpp"
#include "suites/archive.hpp"
#include "suites/canonical.hpp"

namespace odrpo {
namespace {

constexpr int checkpoint_format = 1, start_format = 1;
constexpr double worth_keeping = 1;  // seconds that a start takes

// Between two steps; with the record of the step to come, if it is already made.
template <class Archive>
void keep(Archive& a, LmRun& run) {
  LmState& s = run.state;
  TransformerState policy = s.policy.state();
  a(run.t, run.last_record);
  a(policy.trained, policy.m, policy.v);
  if (s.batch.median) a(*s.batch.median);
  a(s.judge_calls, s.clipped, s.updates, std::span<double>(s.seconds));
  a(run.final_reward.sum, run.final_reward.batches, run.watch);
  a(run.record.step, run.record.seconds);
  for (Curve& curve : run.record.curves) a(curve.values);
}

// Says whether it is kept. No memory for a copy is no reason to give a run up.
template <class Write>
bool saved(const Keeper& keeper, Kept kind, const std::string& name, Write&& write) try {
  Saving to;
  write(to);
  return keeper.save(kind, name, to.bytes);
} catch (const std::bad_alloc&) {
  return false;
}

// What the bits of a run depend on, besides its configuration.
std::string made_by(const Keeper& keeper, Isa isa) {
  return fmt::format("{}, {}, {}", keeper.build, isa_name(isa), engine_name(best_engine(isa)));
}

}  // namespace

LmCheckpoints::LmCheckpoints(const Keeper& keeper, const LmProblem& problem) : keeper_(keeper), problem_(problem), last_(now_seconds()) {}

std::string LmCheckpoints::belongs() const {
  return fmt::format("toy-lm checkpoint {}: run {}, by {}", checkpoint_format, spec_key(*problem_.spec), made_by(keeper_, problem_.isa));
}

void LmCheckpoints::resume(std::optional<LmRun>& run) {
  if (!keeper_) return;
  const RunSpec& spec = *problem_.spec;
  const std::string bytes = keeper_.load(Kept::checkpoint, spec.id);
  if (bytes.empty()) return;
  Loading from(bytes);
  std::string whose;
  from(whose);
  if (whose != belongs()) {
    keeper_.tell("ignored the checkpoint of " + spec.id + ": another program or kind of processor left it");
    return;
  }
  keep(from, *run);
  if (!from.finished() || run->t < 1 || run->t >= spec.learn.steps || !fits(problem_, *run)) {
    run.reset();  // it may be half read
    run.emplace(begin_lm_run(problem_));
    keeper_.tell("ignored the checkpoint of " + spec.id + ": it does not fit the run");
    return;
  }
  run->state.policy.restored(run->t * spec.learn.epochs);
  step_ = run->t;
  keeper_.tell(fmt::format("continued {} at step {} of {}", spec.id, step_, spec.learn.steps));
}

void LmCheckpoints::look(LmRun& run, bool stopping) {
  if (!keeper_ || run.t == step_ || !(stopping || now_seconds() - last_ >= keeper_.seconds)) return;
  const bool kept = saved(keeper_, Kept::checkpoint, problem_.spec->id, [&](Saving& to) {
    to(belongs());
    keep(to, run);
  });
  last_ = now_seconds();
  if (kept) step_ = run.t;
}

std::shared_ptr<const WarmStart> kept_warm_start(const Keeper& keeper, const std::string& key, Isa isa, std::size_t count,
                                                 const std::function<std::shared_ptr<const WarmStart>()>& make) {
  if (!keeper) return make();
  const std::string name = fmt::format("toy-lm start {}: {}, by {}", start_format, key, made_by(keeper, isa));
  const std::string bytes = keeper.load(Kept::start, name);
  if (!bytes.empty()) {
    auto start = std::make_shared<WarmStart>();
    Loading from(bytes);
    std::string whose;
    from(whose, start->weights);
    if (from.finished() && whose == name && start->weights.size() == count) return start;
  }
  const double began = now_seconds();
  const std::shared_ptr<const WarmStart> start = make();
  if (start && now_seconds() - began >= std::min(worth_keeping, keeper.seconds)) {
    saved(keeper, Kept::start, name, [&](Saving& to) { to(name, start->weights); });
  }
  return start;
}

}  // namespace odrpo
