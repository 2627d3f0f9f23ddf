// Trains one run of the toy language model: steps, records, final values.
#include "suites/lm_train.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "kernels/clock.hpp"
#include "policies/transformer_bytes.hpp"
#include "suites/curves.hpp"
#include "suites/finish.hpp"
#include "suites/lm_keep.hpp"

namespace odrpo {
namespace {

// Curves of what the policy writes, recorded before a step; the others tell of its batch, after it.
bool of_policy(CurveId id) { return id == CurveId::quality || id == CurveId::clean || id == CurveId::length || id == CurveId::repeats; }

/// A mean over responses of what their texts say.
struct TextMeans {
  double quality = 0, clean = 0, length = 0, repeats = 0, count = 0;
  void add(const Text& text, const Verdict& verdict) {
    const TextFeatures f = text_features(text);
    quality += verdict.quality();
    clean += verdict.clean();
    length += f.length;
    repeats += f.repeats;
    count += 1;
  }
};

ResponseBatch evaluated_batch(const LmProblem& p, std::span<const Token> tokens) {
  return {&p.world, std::span<const ToyPrompt>(p.prompts).last(evaluated_prompts), tokens, p.world.config.response_tokens};
}

struct Recorder {
  RunRecord& record;
  const LmProblem& problem;

  void value(CurveId id, double x) { add_value(record, *problem.spec, id, x); }

  // what the policy of step t writes on prompts that it does not learn from
  void policy(const std::vector<Token>& tokens, int t) {
    const ResponseBatch batch = evaluated_batch(problem, tokens);
    TextMeans means;
    for (int i = 0; i < batch.count(); ++i) {
      const Text text = batch.text(i);
      means.add(text, judge_text(text));
    }
    record.step.push_back(t);
    value(CurveId::quality, means.quality / means.count);
    value(CurveId::clean, means.clean / means.count);
    value(CurveId::length, means.length / means.count);
    value(CurveId::repeats, means.repeats / means.count);
  }

  void batch(LmState& s) {
    double truth = 0;
    for (const Verdict& verdict : s.verdict) truth += verdict.quality();
    add_batch(record, *problem.spec, summarise(*problem.spec, s.batch), truth / static_cast<double>(s.batch.raw.size()));
    value(CurveId::kl, s.report.kl);
    value(CurveId::entropy, s.report.entropy);
    value(CurveId::gradient_norm, s.report.gradient_norm);
    value(CurveId::clipped, s.updates > 0 ? s.clipped / s.updates : std::nan(""));
    s.clipped = s.updates = 0;
  }
};

// The three evaluations of what the trained policy writes, against what it wrote before training.
void add_held_out(RunRecord& r, const LmProblem& p, std::span<const Token> first, std::span<const Token> last) {
  const ResponseBatch before = evaluated_batch(p, first), after = evaluated_batch(p, last);
  const std::uint64_t key = p.spec->run_key;
  const std::uint32_t step = static_cast<std::uint32_t>(p.spec->learn.steps);
  const double grounded = grounding(after, {}, key, step).mean, ungrounded = grounding(before, {}, key, 0).mean;
  const WinRate wins = win_rate(after, before, {}, key, step);
  const double instructed = instruction_following(after).average();
  r.finals.push_back({"grounding", grounded});
  r.finals.push_back({"start_grounding", ungrounded});
  r.finals.push_back({"win_rate", wins.raw.mean});
  r.finals.push_back({"win_rate_length_controlled", wins.control.rate});
  r.finals.push_back({"instructions", instructed});
  r.finals.push_back({"start_instructions", instruction_following(before).average()});
  r.finals.push_back({"held_out", held_out_mean(grounded, wins.control.rate, instructed)});
}

}  // namespace

LmRun begin_lm_run(const LmProblem& problem) {
  LmRun run{make_lm_state(problem), begin_record(*problem.spec), FinalReward(problem.spec->learn.steps),
            CollapseWatch(problem.spec->record, problem.spec->learn.steps)};
  return run;
}

bool fits(const LmProblem& problem, const LmRun& run) {
  const int every = problem.spec->record.every;
  const std::size_t before = static_cast<std::size_t>((run.t - 1) / every + 1), now = run.record.step.size();
  if (now != before && !(now == before + 1 && run.t % every == 0)) return false;
  for (std::size_t i = 0; i < now; ++i)
    if (run.record.step[i] != static_cast<int>(i) * every) return false;
  if (run.last_record != run.record.step.back() || run.record.seconds.size() != now * stage_count) return false;
  for (std::size_t c = 0; c < run.record.curves.size(); ++c) {
    const CurveId id = static_cast<CurveId>(c);
    const std::size_t wanted = !has_curve(*problem.spec, id) ? 0 : of_policy(id) ? now : before;
    if (run.record.curves[c].values.size() != wanted) return false;
  }
  return true;
}

RunRecord train_lm(const RunSpec& spec, Shared& shared, const std::atomic<bool>& stop, const Keeper& keeper) {
  const std::optional<LmProblem> made = make_lm_problem(spec, shared, best_isa(), stop, keeper);
  if (!made) return failed_record(spec, "stopped");
  const LmProblem& problem = *made;
  std::optional<LmRun> run(begin_lm_run(problem));
  const std::vector<Token> first = write_evaluated(problem, run->state.policy.weights());
  if (first.empty()) return failed_record(spec, "diverged: the supervised steps before training; a lower warm_lr may help");
  LmCheckpoints checkpoints(keeper, problem);
  checkpoints.resume(run);
  LmState& state = run->state;
  RunRecord& r = run->record;
  std::vector<Token> last = first;  // of the latest record
  Recorder recorder{r, problem};
  const int steps = spec.learn.steps;
  for (int& t = run->t; t <= steps; ++t) {
    if (t < steps) {  // the end takes a moment only
      const bool stopping = stop.load(std::memory_order_relaxed);
      checkpoints.look(*run, stopping);
      if (stopping) return failed_record(spec, "stopped");
    }
    const bool recorded = t % spec.record.every == 0 || t == steps;
    if (recorded && (r.step.empty() || r.step.back() != t)) {
      LapClock clock(state.seconds);
      if (t > 0) last = write_evaluated(problem, state.policy.weights());
      if (last.empty()) return failed_record(spec, "diverged: probabilities are not finite at step " + std::to_string(t));
      recorder.policy(last, t);
      clock.lap(stage_record);
      record_seconds(r, state.seconds, t, run->last_record);
    }
    // what the last record's batch saw is that of the last step
    if (t < steps) {
      if (!lm_step(problem, state, t, recorded || t + 1 == steps, stop)) {
        checkpoints.look(*run, true);
        return failed_record(spec, "stopped");
      }
      const SeenSum seen = sum_seen(state.batch);
      run->final_reward.add(t, seen);
      if (seen.count > 0) run->watch.add(t, seen.mean());
      if (!std::isfinite(state.report.gradient_norm))
        return failed_record(spec, "diverged: the gradient is not finite at step " + std::to_string(t));
    }
    if (recorded) recorder.batch(state);
  }
  finish_record(r, {curve_of(r, CurveId::quality).front(), static_cast<double>(toy_levels)}, run->final_reward.mean(), run->watch,
                state.judge_calls);
  add_held_out(r, problem, first, last);
  end_record(r);
  return std::move(r);
}

namespace {

// Rough seconds that one token of a batch costs on one 2.6 GHz core: forward and backward, and the forward pass of the reference.
double token_seconds(const RunSpec& spec, bool reference) {
  const double wide = spec.policy.transformer.size == TransformerSize::large ? 3.5 : 1.0;
  return wide * (reference ? 12e-6 : 9e-6);
}
constexpr double used_share = 0.6;  // of the cap on a response, by a policy that has learned to end it

TransformerShape estimated_shape(const RunSpec& spec) {
  return transformer_shape(spec.policy.transformer, spec.env.toy_lm.vocabulary, toy_prompt_tokens, spec.env.toy_lm.response_tokens, 0);
}

}  // namespace

Cost estimate_lm_cost(const RunSpec& spec) {
  const LearnConfig& learn = spec.learn;
  const double rollouts = static_cast<double>(learn.batch) * learn.rollouts, cap = spec.env.toy_lm.response_tokens;
  const double records = learn.steps / static_cast<double>(spec.record.every) + 2,
               recorded = records * (8.0 * curve_count(spec) + 4.0 * stage_count);
  Cost c;
  c.cpu_seconds = learn.steps * rollouts * cap * used_share * token_seconds(spec, learn.kl > 0) * learn.epochs +
                  records * evaluated_prompts * cap * 4e-6;
  const TextLawCost laws = text_law_cost(spec.rater, spec.votes);
  c.cpu_seconds += std::min(laws.rows, learn.steps * rollouts) * laws.seconds + learn.steps * rollouts * laws.calls_seconds;
  // what the supervised steps leave before the training's weighs nothing any more; words and verdicts of a batch; prompts
  const TransformerShape shape = estimated_shape(spec);
  const PolicyConfig& policy = spec.policy;
  TransformerConfig whole = policy.transformer;
  whole.lora_rank = 0;
  const double trained = policy_bytes(policy.transformer, shape, learn.batch, learn.rollouts) +
                         pass_bytes(shape, evaluated_prompts, 1, false) + rollouts * (4 * cap + sizeof(Verdict) + 32),
               started = policy.learning.warm_steps > 0 ? policy_bytes(whole, shape, policy.learning.warm_batch, 1) : 0;
  c.memory_bytes = std::max(trained, started) + spec.env.prompts() * (sizeof(ToyPrompt) + 2.0 * toy_prompt_tokens) + laws.bytes +
                   4.0 * 3 * weight_table(shape).count + 3 * recorded + watch_bytes(spec.record, learn.steps);  // a checkpoint's copies too
  c.disk_bytes = 1000 + stored_bytes(recorded);
  const bool again = spec.rater.parse_policy == ParsePolicy::resample;
  c.judge_calls = learn.steps * rollouts * spec.votes * (again ? 1 + failure_chance(spec.rater) : 1);
  return c;
}

double warm_start_bytes(const RunSpec& spec) { return 4.0 * static_cast<double>(weight_table(estimated_shape(spec)).count); }

double warm_start_seconds(const RunSpec& spec) {
  const TransformerLearning& learning = spec.policy.learning;
  return static_cast<double>(learning.warm_steps) * learning.warm_batch * spec.env.toy_lm.response_tokens * used_share *
         token_seconds(spec, false);
}

}  // namespace odrpo
