// Runs of the toy language model: complete records, the same bits again, learning, and what cannot be combined.
#include "train/worlds/toy_lm.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <numeric>
#include <set>
#include <string_view>

#include "config/catalogue/env_config.hpp"
#include "config/spec.hpp"
#include "config/write/canonical.hpp"
#include "results/table/table.hpp"
#include "results/table/table_spec.hpp"
#include "tests/catch.hpp"
#include "tests/config/loading.hpp"
#include "tests/envs/toy_lm/perfect.hpp"
#include "tests/train/trained.hpp"
#include "train/schedule/cost.hpp"
#include "train/worlds/toy_lm_start.hpp"

using namespace odrpo;

namespace {

const std::string lm = R"([suite]
name = "lm"
[grid]
env = "toy-lm"
rater = "mixed"
policy = "p"
estimator = ["grpo"]
[policy.p]
base = "transformer"
warm_steps = 30
warm_batch = 16
[learn]
steps = 4
batch = 4
rollouts = 4
optimizer = "adamw"
lr = 1e-3
[record]
every = 2
)";

}  // namespace

TEST_CASE("toy-lm: every estimator, judge and loss trains, and its record is complete") {
  const std::vector<std::vector<std::string>> settings{
      {},
      {"grid.estimator=[maxrl, rank-grpo, \"odrpo-gini-median(maxrl)\"]", "grid.votes=[1, 4]"},
      {"policy.p.lora_rank=4", "policy.p.head=untied"},
      {"policy.p.loss=[sequence-mean, sequence-sum]", "learn.epochs=2", "learn.ratio_clip=0.2", "policy.p.entropy=0.01"},
      {"rater.mixed.aggregate=mean", "grid.votes=4", "rater.mixed.length_bias=0.3", "rater.mixed.flattery=0.2"},
      {"rater.mixed.json_broken=0.4", "rater.mixed.parse_policy=drop", "rater.mixed.parse_failure=0.1", "learn.dead_groups=drop"},
      {"rater.mixed.json_broken=0.4", "rater.mixed.json_odd=0.3", "rater.mixed.parse_policy=zero", "rater.mixed.parse_failure=0.1"},
      {"policy.p.temperature=0.7", "policy.p.top_p=0.9", "learn.kl=0", "env.toy-lm.response_tokens=13", "learn.rollouts=3"},
      {"policy.p.warm_steps=0", "policy.p.warm_batch=64", "env.toy-lm.vocabulary=80", "env.toy-lm.prompts=5"},
  };
  for (const auto& set : settings) {
    const Suite suite = loaded(lm, set);
    for (const RunSpec& spec : suite.runs) {
      INFO(spec.id);
      const RunRecord r = run(spec);
      INFO(r.error);
      REQUIRE(r.status == RunStatus::ok);
      CHECK(r.step == std::vector<std::int32_t>{0, 2, 4});
      for (const Curve& c : r.curves) {
        INFO(c.name);
        REQUIRE(c.values.size() == 3);
        for (std::size_t i = 0; i < 2; ++i) CHECK(std::isfinite(c.values[i]));
      }
      CHECK(final_of(r, "uniform_quality") == recorded_curve(r, "quality").values.front());
      CHECK(final_of(r, "final_quality") == recorded_curve(r, "quality").values.back());
      for (const char* share : {"grounding", "win_rate", "win_rate_length_controlled", "instructions", "held_out"}) {
        INFO(share);
        CHECK((final_of(r, share) >= 0 && final_of(r, share) <= 1));
      }
      REQUIRE(r.evaluated.size() == 2);
      for (const Curve& c : r.evaluated) {  // the means over prompts are the last values of the curves
        INFO("evaluated " << c.name);
        CHECK(c.values.size() == static_cast<std::size_t>(spec.env.toy_lm.evaluated_prompts));
        CHECK(std::accumulate(c.values.begin(), c.values.end(), 0.0) / static_cast<double>(c.values.size()) ==
              Approx(recorded_curve(r, c.name).values.back()).epsilon(1e-12));
      }
      // in the first update the reference is the policy itself
      if (spec.learn.epochs == 1) CHECK(recorded_curve(r, "kl").values.front() == Approx(0).margin(1e-9));
      CHECK(r.seconds.size() == 3 * stage_count);
    }
    const Suite again = loaded(suite.resolved);
    REQUIRE(again.runs.size() == suite.runs.size());
    for (std::size_t i = 0; i < again.runs.size(); ++i) CHECK(spec_key(again.runs[i]) == spec_key(suite.runs[i]));
  }
}

TEST_CASE("toy-lm: a run is the same whatever was run before, and estimators of a seed start from the same policy") {
  const Suite suite = loaded(lm, {"grid.estimator=[grpo, maxrl]", "policy.p.warm_steps=10"});
  RunCache shared;
  const RunRecord first = train(suite.runs[1], shared, never), other = train(suite.runs[0], shared, never),
                  second = train(suite.runs[1], shared, never);
  const RunRecord alone = run(suite.runs[1]);
  for (std::size_t c = 0; c < first.curves.size(); ++c) {
    INFO(first.curves[c].name);
    CHECK(std::equal(first.curves[c].values.begin(), first.curves[c].values.end(), second.curves[c].values.begin(),
                     [](double a, double b) { return a == b || (a != a && b != b); }));
    CHECK(std::equal(first.curves[c].values.begin(), first.curves[c].values.end(), alone.curves[c].values.begin(),
                     [](double a, double b) { return a == b || (a != a && b != b); }));
  }
  CHECK(recorded_curve(first, "quality").values.front() == recorded_curve(other, "quality").values.front());
  CHECK(recorded_curve(first, "reward").values.front() == recorded_curve(other, "reward").values.front());
}

TEST_CASE("toy-lm: demonstrations teach, and rewards teach more", "[.slow]") {
  const Suite suite = loaded(lm, {"policy.p.warm_steps=[0, 300]", "policy.p.warm_batch=64", "learn.steps=30", "learn.batch=16",
                                  "learn.rollouts=8", "grid.votes=8", "record.every=30", "policy.p.eval_temperature=1"});
  const RunRecord raw = run(suite.runs[0]), warm = run(suite.runs[1]);
  CHECK(recorded_curve(raw, "quality").values.front() < 1.05);
  const double start = recorded_curve(warm, "quality").values.front();
  CHECK(start > 1.3);
  CHECK(recorded_curve(warm, "quality").values.back() > start + 0.5);
  CHECK(final_of(warm, "win_rate") > 0.55);
}

TEST_CASE("toy-lm: the KL is measured where it has no weight, and measuring it changes nothing") {
  const Suite often = loaded(lm, {"learn.kl=0", "record.every=1", "learn.lr=0.01"}),
              rarely = loaded(lm, {"learn.kl=0", "record.every=4", "learn.lr=0.01"});
  const RunRecord a = run(often.runs[0]), b = run(rarely.runs[0]);
  CHECK(recorded_curve(a, "kl").values.back() > 1e-6);
  CHECK(final_of(b, "final_kl") == final_of(a, "final_kl"));
  CHECK(final_of(b, "final_quality") == final_of(a, "final_quality"));
}

TEST_CASE("toy-lm: no evaluated prompt is trained on, however few there are") {
  const Suite suite =
      loaded(lm, {"env.toy-lm.vocabulary=40", "env.toy-lm.prompts=2500", "policy.p.warm_steps=0", "policy.p.warm_batch=64"});
  RunCache shared;
  const RunSpec spec = suite.runs[0];
  const ToyLmProblem problem = *make_toy_lm_problem(spec, shared, best_isa(), never);
  REQUIRE(problem.prompts.size() == 2500 + 256);
  std::set<std::array<Token, toy_prompt_tokens>> trained, evaluated;
  for (std::size_t i = 0; i < problem.prompts.size(); ++i) (i < 2500 ? trained : evaluated).insert(problem.prompts[i].words);
  CHECK(trained.size() < 2500);  // prompts repeat in so small a vocabulary
  CHECK(evaluated.size() == 256);
  for (const auto& words : evaluated) CHECK(trained.count(words) == 0);
  CHECK(count_prompts(suite.runs[0].env.toy_lm) == 10368);
}

TEST_CASE("toy-lm: supervised steps are shared by what they do not depend on") {
  const PolicyConfig base = loaded(lm).runs[0].policy;
  for (const char* set : {"policy.p.temperature=0.5", "policy.p.top_p=0.5", "policy.p.eval_temperature=1", "policy.p.loss=sequence-mean",
                          "policy.p.entropy=0.1", "policy.p.lora_rank=4"}) {
    INFO(set);
    CHECK(warm_policy(loaded(lm, {set}).runs[0].policy) == warm_policy(base));
  }
  for (const char* set : {"policy.p.size=large", "policy.p.head=untied", "policy.p.warm_steps=31", "policy.p.warm_lr=0.1"})
    CHECK_FALSE(warm_policy(loaded(lm, {set}).runs[0].policy) == warm_policy(base));
  const EnvConfig world = loaded(lm).runs[0].env;
  for (const char* set : {"env.toy-lm.difficulty=hard", "env.toy-lm.evaluated_prompts=100"}) {
    INFO(set);
    CHECK(warm_env(loaded(lm, {set}).runs[0].env) == warm_env(world));
  }
  for (const char* set : {"env.toy-lm.prompts=9", "env.toy-lm.flaw_share=0.2", "env.toy-lm.vocabulary=80"})
    CHECK_FALSE(warm_env(loaded(lm, {set}).runs[0].env) == warm_env(world));
}

TEST_CASE("toy-lm: the evaluation has as many prompts as it is asked for, and the hard world another quality of the same start", "[unsanitized]") {
  const Suite suite = loaded(lm, {"env.toy-lm.evaluated_prompts=[2, 300, 700]", "policy.p.warm_steps=40"});
  RunCache shared;
  std::vector<std::vector<Token>> written;
  for (const RunSpec& spec : suite.runs) {
    const ToyLmProblem problem = *make_toy_lm_problem(spec, shared, best_isa(), never);
    const int evaluated = spec.env.toy_lm.evaluated_prompts;
    CHECK(problem.prompts.size() == static_cast<std::size_t>(spec.env.prompts() + evaluated));
    written.push_back(ToyLmRun(problem).begin(never).empty() ? write_evaluated(problem, ToyLmRun(problem).policy.weights(), never).value()
                                                             : std::vector<Token>{});
    REQUIRE(written.back().size() == static_cast<std::size_t>(evaluated) * static_cast<std::size_t>(spec.env.toy_lm.response_tokens));
    CHECK(run(spec).status == RunStatus::ok);
  }
  CHECK(std::equal(written[1].begin(), written[1].end(), written[2].begin()));  // the first prompts are the same ones

  const RunRecord easy = run(loaded(lm, {"policy.p.warm_steps=150"}).runs[0]),
                  hard = run(loaded(lm, {"policy.p.warm_steps=150", "env.toy-lm.difficulty=hard"}).runs[0]);
  CHECK(recorded_curve(hard, "quality").values.front() < recorded_curve(easy, "quality").values.front());
  CHECK(recorded_curve(hard, "clean").values.front() == recorded_curve(easy, "clean").values.front());
  CHECK(easy.key != hard.key);
}

TEST_CASE("toy-lm: eval_temperature changes what is evaluated, not what is trained") {
  const Suite suite = loaded(lm, {"policy.p.warm_steps=60", "policy.p.eval_temperature=[0, 1, 20]"});
  RunCache shared;
  std::vector<RunRecord> runs;  // always the likeliest token, as trained, almost uniform
  for (std::size_t i = 0; i < 3; ++i) runs.push_back(train(suite.runs[i], shared, never));
  for (const char* trained : {"kl", "entropy", "gradient_norm", "reward"})
    for (std::size_t i = 1; i < 3; ++i) CHECK(recorded_curve(runs[i], trained).values == recorded_curve(runs[0], trained).values);
  CHECK(recorded_curve(runs[0], "quality").values != recorded_curve(runs[1], "quality").values);
  CHECK(recorded_curve(runs[1], "quality").values.front() > recorded_curve(runs[2], "quality").values.front());
}

TEST_CASE("toy-lm: a run that diverges in its last update says so") {
  const RunRecord last =
      run(loaded(lm, {"learn.steps=2", "learn.lr=1e6", "learn.weight_decay=1", "learn.schedule=constant", "learn.warmup=0"}).runs[0]);
  CHECK(last.status == RunStatus::failed);
  CHECK(last.error.find("diverged") == 0);
}

TEST_CASE("toy-lm: laws that take too long are refused before anything starts") {
  try {
    check_limits(loaded(lm, {"grid.votes=256", "rater.mixed.tie=nearest-mean"}), 1);
    FAIL("accepted");
  } catch (const Failure& f) {
    CHECK(f.code == Exit::limits);
    CHECK(std::string(f.what()).find("rater mixed: the law of 256 votes on 10 levels with tie = \"nearest-mean\" is a sum over ") !=
          std::string::npos);
  }
  check_limits(loaded(lm, {"grid.votes=256", "rater.mixed.tie=nearest-mean", "rater.mixed.sampling=draws"}), 1);
}

TEST_CASE("toy-lm: the bandit's world of a rater means nothing, and is no error where it is inherited") {
  const Suite inherited = loaded(lm, {"grid.rater=[wide, w]", "rater.w.base=wide"});
  CHECK(canonical_fields(inherited.runs[0].rater) == canonical_fields(inherited.runs[1].rater));
  CHECK(inherited.resolved.find("world_") == std::string::npos);
  const Suite again = loaded(inherited.resolved);
  CHECK(spec_key(again.runs[1]) == spec_key(inherited.runs[1]));
}

TEST_CASE("toy-lm: a stopped run says so, in the supervised steps too") {
  const Suite suite = loaded(lm);
  RunCache shared;
  const std::atomic<bool> stop{true};
  CHECK(train(suite.runs[0], shared, stop).error == "stopped");
}

TEST_CASE("a suite's table may show win rates over an estimator by any of its words") {
  const Suite suite = loaded(lm, {"grid.estimator=[reinforce, \"odrpo(grpo)\"]", "table.columns=value", "table.rows=estimator",
                                  "table.value=[win_rate_over_dr-grpo, \"win-rate-over-odrpo_uniform(grpo)\", win-rate]"});
  CHECK(suite.table.value == std::vector<std::string>{"win-rate-over-reinforce", "win-rate-over-odrpo(grpo)", "win-rate"});
  CHECK(loaded(suite.resolved).table.value == suite.table.value);
  CHECK(opponent_of("win_rate-over_odrpo(grpo)") == "odrpo(grpo)");
  CHECK(opponent_of("win-rate-over-").empty());
  CHECK(opponent_of("win-rate").empty());
}

TEST_CASE("the ceilings that tables print are those of the judges") {
  // results/ may not include envs/, so that the text and the constants are held together here
  const auto says = [](std::string_view word, const char* bound, int decimals, double ceiling) {
    const auto value = std::find_if(std::begin(value_words), std::end(value_words), [&](const ValueWord& v) { return word == v.word; });
    REQUIRE(value != std::end(value_words));
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), "%s %.*f %%", bound, decimals, 100 * ceiling);
    INFO(value->meaning << " wants: " << text.data());
    CHECK(std::string_view(value->meaning).find(text.data()) != std::string_view::npos);
  };
  constexpr GroundingConfig judges;
  says("grounding", "at most", 1, grounding_ceiling(judges));
  says("win-rate", "below", 0, 1);
  says("instructions", "at most", 0, 1);
  says("held-out", "below", 1, held_out_ceiling(judges));
}
