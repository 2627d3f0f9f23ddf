// What a judge's calls cost: final values against the model's definition, in both worlds and on an engine; digests that no clock changes.
#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "config/spec.hpp"
#include "config/write/canonical.hpp"
#include "results/store/digest.hpp"
#include "tests/catch.hpp"
#include "tests/config/loading.hpp"
#include "tests/rounds.hpp"
#include "tests/train/batched/host_backend.hpp"
#include "tests/train/tiny.hpp"
#include "tests/train/trained.hpp"
#include "train/batched/run_layout.hpp"
#include "train/schedule/cost.hpp"
#include "train/worlds/bandit.hpp"
#include "train/worlds/toy_lm.hpp"

using namespace odrpo;

namespace {

RunSpec paid_run(int votes, double failure = 0) {
  RunSpec spec = small_run(PolicyKind::linear, "grpo", votes);
  spec.learn.steps = 30;
  spec.rater.parse_failure = failure;
  spec.rater.cost = {.seconds_per_call = 0.25, .parallel = 48, .price_per_call = 0.5};
  return spec;
}

}  // namespace

TEST_CASE("a step's calls are asked `parallel` at a time, and the rest of the step is what was measured") {
  const struct {
    int votes;
    double failure, rounds;
  } cases[] = {{1, 0, 2}, {3, 0, 4}, {4, 0, 6}, {3, 0.25, 5}, {1, 0.5, 2}, {30, 0.1, 44}};  // 64 responses a step: ceil(64 N (1 + p) / 48)
  for (const auto& c : cases) {
    INFO(c.votes << " votes, " << c.failure << " unreadable");
    const RunSpec spec = paid_run(c.votes, c.failure);
    const RunRecord r = run(spec);
    CHECK(final_of(r, "judge_seconds") == Approx(c.rounds * 0.25).epsilon(1e-14));
    CHECK(final_of(r, "judge_cost") == final_of(r, "judge_calls") * 0.5);
    const double measured = final_of(r, modelled_seconds) - final_of(r, "judge_seconds");
    CHECK(measured >= 0);
    CHECK(measured <= r.step_time_median * (1 + 1e-6) + 1e-12);  // which has the simulated judge too
  }
}

TEST_CASE("the modelled time is the median of the measured stages without the simulated judge") {
  HostDevice host;
  host.nanoseconds_per_tick = 1000;
  const RunSpec spec = paid_run(1);
  RunCache shared;
  std::vector<RunRecord> batched;
  train_batched(host.device(), {&spec}, shared, never, [&](RunRecord r) { batched.push_back(std::move(r)); });
  REQUIRE(batched.size() == 1);
  const RunRecord &r = batched[0], cpu = run(spec);
  CHECK(r.step_time_median > 4e-6);
  std::vector<double> without;
  for (std::size_t i = 2; i < r.step.size(); ++i) {  // the first interval warms up
    double sum = 0;
    for (const int stage : {stage_prompts, stage_policy, stage_estimator, stage_update})
      sum += static_cast<double>(r.seconds[i * stage_count + static_cast<std::size_t>(stage)]);
    without.push_back(sum);
  }
  std::sort(without.begin(), without.end());
  CHECK(final_of(r, modelled_seconds) - 0.5 == Approx(without[without.size() / 2]));
  CHECK(final_of(r, modelled_seconds) - 0.5 == Approx(r.step_time_median - 1e-6));  // the judge's stage is one tick
  for (const char* name : {"judge_seconds", "judge_cost", "judge_calls"}) CHECK(final_of(r, name) == final_of(cpu, name));
  CHECK(result_digest(batched) == result_digest(std::vector{cpu}));
}

TEST_CASE("only what a rater models is a value of its runs, and the digest does not hold the modelled time") {
  RunSpec spec = paid_run(1);
  RunRecord r = run(spec);
  const std::string digest = result_digest(std::vector{r});
  for (Final& f : r.finals)
    if (f.name == modelled_seconds) f.value += 1;
  CHECK(result_digest(std::vector{r}) == digest);
  for (Final& f : r.finals)
    if (f.name == "judge_cost") f.value += 1;
  CHECK(result_digest(std::vector{r}) != digest);

  spec.rater.cost = {.seconds_per_call = {}, .parallel = 1, .price_per_call = 0};
  const RunRecord priced = run(spec);
  CHECK(final_of(priced, "judge_cost") == 0);
  CHECK_FALSE(has_final(priced, "judge_seconds"));
  spec.rater.cost = {};
  const RunRecord plain = run(spec);
  for (const char* name : {"judge_seconds", "judge_cost", modelled_seconds}) CHECK_FALSE(has_final(plain, name));
  CHECK(canonical_text(spec).find("per_call") == std::string::npos);
  CHECK(canonical_text(paid_run(1)).find("rater.seconds_per_call = 0.25\nrater.parallel = 48\nrater.price_per_call = 0.5\n") !=
        std::string::npos);
  // what calls cost changes nothing that is learned
  CHECK(final_of(plain, "final_quality") == final_of(run(paid_run(1)), "final_quality"));
}

TEST_CASE("the toy language model's judge is paid for the calls it is expected to make") {
  const Suite suite = loaded(R"toml([suite]
name = "lm"
[grid]
env = "toy-lm"
rater = "r"
policy = "p"
estimator = "grpo"
votes = 3
[rater.r]
base = "mixed"
parse_failure = 0.25
seconds_per_call = 2
parallel = 7
price_per_call = 0.125
[policy.p]
base = "transformer"
warm_steps = 5
[learn]
steps = 3
batch = 4
rollouts = 4
)toml");
  const RunRecord r = run(suite.runs[0]);
  REQUIRE(r.status == RunStatus::ok);
  CHECK(final_of(r, "judge_calls") == 3 * 16 * 3 * 1.25);
  CHECK(final_of(r, "judge_seconds") == 9 * 2);  // 60 calls a step
  CHECK(final_of(r, "judge_cost") == 180 * 0.125);
  CHECK(final_of(r, modelled_seconds) > 18);
  const JudgeBill bill = check_limits(suite).judge;
  CHECK(bill.calls == 180);
  CHECK(bill.seconds == 3 * 18.0);
  CHECK(bill.cost == 22.5);
}

TEST_CASE("a judge that stops early: rounds of a step are at least the most calls about one response") {
  RunSpec spec = paid_run(8);
  spec.rater.stop = 3;
  const double calls = final_of(run(spec), "judge_calls") / 30;  // of a step, with 64 responses
  CHECK(calls > 64 * 3);
  CHECK(calls < 64 * 8);
  for (const int parallel : {1, 20, 64, 1000}) {
    spec.rater.cost.parallel = parallel;
    const RunRecord r = run(spec);
    INFO(parallel << " at a time, " << calls << " calls a step");
    CHECK(final_of(r, "judge_seconds") == Approx(0.25 * std::max(8.0, std::ceil(calls / parallel))).epsilon(1e-14));
    CHECK(final_of(r, "judge_cost") == final_of(r, "judge_calls") * 0.5);
  }
  spec.votes = 40, spec.rater.stop = 2;  // the eleventh score has been given before
  CHECK(final_of(run(spec), "judge_seconds") == 0.25 * 11);
  CHECK(judge_bill(spec, 1e6).cost == 0.5e6);
}

TEST_CASE("judges of a panel with prices and times of their own: each call is billed as the judge's who answers it", "[slow]") {
  const std::vector<double> prices{1, 2, 4, 16}, seconds{0.5, 1, 0.25, 2};
  RunSpec spec = small_run(PolicyKind::tabular, "odrpo(grpo)", 1);
  for (const RaterPreset& preset : rater_presets())
    if (preset.word == "panel-essays") spec.rater = preset.config;
  REQUIRE(panel_size(spec.rater.noise) == 4);
  spec.env.bandit.levels = rater_levels(spec.rater);
  spec.learn.steps = 30;
  spec.rater.cost = {.seconds_per_call = {}, .parallel = 48, .price_per_call = {}, .seconds = seconds, .prices = prices};
  int uneven = 0;
  for (const int votes : rounds<std::vector<int>>({1, 6}, {1, 3, 4, 6, 8}))
    for (const int stop : {0, 2})
      for (const Aggregate aggregate : {Aggregate::mode, Aggregate::fraction, Aggregate::expected})
        for (const double failure : {0.0, 0.25}) {
          if (stop > 0 && aggregate != Aggregate::mode) continue;
          spec.votes = votes;
          spec.rater.stop = stop < votes ? stop : 0;
          spec.rater.aggregate = aggregate;
          spec.rater.parse_failure = aggregate == Aggregate::expected ? 0 : failure;
          spec.rater.sampling = sampling_of(spec.rater, votes);
          INFO(votes << " votes, stop " << spec.rater.stop << ", aggregate " << static_cast<int>(aggregate));
          const RunRecord r = run(spec);
          // the same words, with every vote kept; one vote is drawn from its distribution
          RunSpec kept = spec;
          kept.rater.aggregate = Aggregate::fraction, kept.rater.stop = 0;
          kept.rater.sampling = Sampling::draws;
          RunCache shared;
          const BanditProblem problem = *make_bandit_problem(spec, shared, best_isa(), never);
          const BanditProblem apart = *make_bandit_problem(kept, shared, best_isa(), never);
          BanditRun s(problem), votes_of(apart);
          double calls = 0, price = 0, time = 0;
          for (int t = 0; t < spec.learn.steps; ++t) {
            train_step(s, t, {.update = true}, never);
            votes_of.step.prompt = s.step.prompt;
            votes_of.action = s.action;
            votes_of.draw_scores(t, Draws::training());
            for (std::size_t i = 0; i < s.action.size(); ++i) {
              std::map<int, int> given;
              for (int v = 0; v < votes; ++v) {
                const int judge = judge_in_turn(spec.run_key, s.step.prompt[i / 8], v, 4);
                calls += 1, price += prices[static_cast<std::size_t>(judge)], time += seconds[static_cast<std::size_t>(judge)];
                const int score = votes_of.step.batch.score[i * static_cast<std::size_t>(votes) + static_cast<std::size_t>(v)];
                if (spec.rater.stop > 0 && ++given[score] == spec.rater.stop) break;
              }
            }
          }
          const double again = 1 + spec.rater.parse_failure;
          CHECK(final_of(r, "judge_calls") == Approx(calls * again).epsilon(1e-12));
          CHECK(final_of(r, "judge_cost") == Approx(price * again).epsilon(1e-12));
          double rounds = std::ceil(calls * again / 30 / 48 * (1 - 1e-12));
          if (spec.rater.stop > 0) rounds = std::max<double>(rounds, most_calls(spec.rater, spec.env.levels(), votes));
          CHECK(final_of(r, "judge_seconds") == Approx(rounds * time / calls).epsilon(1e-12));
          uneven += std::fabs(price / calls - 23.0 / 4) > 0.01;
          // before the run nobody knows which judge is first
          CHECK(judge_bill(spec, 100).cost == Approx(575));
          CHECK(bills_by_judge(spec) == (votes % 4 != 0 || spec.rater.stop > 0));
        }
  CHECK(uneven > rounds(3, 10));
  spec.rater.order = JudgeOrder::random;
  spec.rater.aggregate = Aggregate::mode, spec.rater.stop = 0, spec.votes = 3;
  spec.rater.sampling = sampling_of(spec.rater, 3);
  const RunRecord drawn = run(spec);
  CHECK(final_of(drawn, "judge_cost") == Approx(final_of(drawn, "judge_calls") * 23 / 4));
  spec.rater.order = JudgeOrder::turn, spec.votes = 1;
  spec.rater.sampling = Sampling::law;
  CHECK(why_not_batched(spec).find("each judge") != std::string::npos);
  CHECK(canonical_text(spec).find("rater.seconds = [0.5, 1, 0.25, 2]\nrater.prices = [1, 2, 4, 16]\n") != std::string::npos);
  spec.rater.cost = {};
  CHECK(canonical_text(spec).find("prices") == std::string::npos);
}

TEST_CASE("toy-lm: the calls of each judge of a panel are billed, those that stop early too") {
  const std::string lm = R"toml([suite]
name = "lm"
[grid]
env = "toy-lm"
rater = "r"
policy = "p"
estimator = "grpo"
votes = 6
[rater.r]
base = "panel-essays"
prices = [1, 2, 4, 16]
seconds = [0.5, 1, 0.25, 2]
parallel = 7
[policy.p]
base = "transformer"
warm_steps = 5
[learn]
steps = 3
batch = 4
rollouts = 4
)toml";
  for (const std::vector<std::string>& set :
       {std::vector<std::string>{}, {"rater.r.stop=2"}, {"rater.r.stop=2", "rater.r.parse_failure=0.3"}, {"rater.r.aggregate=expected"}}) {
    const Suite suite = loaded(lm, set);
    const RunSpec& spec = suite.runs[0];
    INFO(spec.id << (set.empty() ? "" : set.front()));
    RunCache shared;
    const auto problem = make_toy_lm_problem(spec, shared, best_isa(), never);
    ToyLmRun s(*problem);
    for (int t = 0; t < 3; ++t) train_step(s, t, {}, never);
    REQUIRE(s.by_judge.size() == 4);
    double calls = 0, price = 0;
    for (std::size_t j = 0; j < 4; ++j) calls += s.by_judge[j], price += s.by_judge[j] * std::vector<double>{1, 2, 4, 16}[j];
    const RunRecord r = run(spec);
    CHECK(calls == Approx(final_of(r, "judge_calls")).epsilon(1e-12));
    CHECK(final_of(r, "judge_cost") == Approx(price).epsilon(1e-12));
    if (spec.rater.stop > 0) continue;
    std::vector<double> want(4, 0.0);
    PromptOrder order(spec.env.prompts(), 4);
    std::vector<std::uint32_t> prompt(4);
    for (int t = 0; t < 3; ++t) {
      order.choose(random_stages(best_isa()), spec.run_key, t, prompt.data());
      for (const std::uint32_t p : prompt)
        for (int v = 0; v < 6; ++v) want[static_cast<std::size_t>(judge_in_turn(spec.run_key, problem->prompts[p].index, v, 4))] += 4;
    }
    for (std::size_t j = 0; j < 4; ++j) CHECK(s.by_judge[j] == Approx(want[j]));
    CHECK(suite.runs.size() == 1);
    CHECK(check_limits(suite).judge.cost == Approx(3 * 16 * 6 * 23.0 / 4));
    const Suite again = loaded(suite.resolved);
    CHECK(spec_key(again.runs[0]) == spec_key(spec));
  }
}

TEST_CASE("a suite's bill is the sum over its runs, of the raters that model one") {
  const std::vector<std::string> set{"grid.rater=[mixed, veto]", "rater.veto.seconds_per_call=[0.5, 1]", "rater.veto.parallel=16",
                                     "grid.votes=[1, 4]"};
  const Suite suite = tiny(set);
  double seconds = 0, calls = 0;
  RunCache shared;
  for (const RunSpec& spec : suite.runs) {
    const RunRecord r = train(spec, shared, never);
    CHECK(has_final(r, "judge_seconds") == (spec.rater_name == "veto"));
    CHECK_FALSE(has_final(r, "judge_cost"));
    if (spec.rater_name != "veto") continue;
    seconds += final_of(r, "judge_seconds") * spec.learn.steps;
    calls += final_of(r, "judge_calls");
  }
  const JudgeBill bill = check_limits(suite).judge;
  CHECK(bill.calls == calls);
  CHECK(bill.seconds == Approx(seconds));
  CHECK_FALSE(bill.cost.has_value());
  CHECK_FALSE(check_limits(tiny()).judge.seconds.has_value());
}

TEST_CASE("the values survive the store, in a file whose other runs lack them, whatever the jobs") {
  const Folder folder;
  const std::vector<std::string> set{"grid.rater=[mixed, veto]", "rater.veto.seconds_per_call=0.5", "rater.veto.price_per_call=2"};
  const RunReport one = run(tiny(set), folder.file("one.h5"), 1), two = run(tiny(set), folder.file("two.h5"), 2);
  CHECK_FALSE(one.digest.empty());
  CHECK(one.digest == two.digest);
}
