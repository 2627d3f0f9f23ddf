// The canonical text of a run is stable, complete, and survives being written out as TOML.
#include "config/write/canonical.hpp"

#include <set>
#include <string>
#include <vector>

#include "config/spec.hpp"
#include "envs/bandit/config.hpp"
#include "envs/rater/rater.hpp"
#include "envs/rater/scored_responses.hpp"
#include "tests/catch.hpp"
#include "tests/config/loading.hpp"
#include "tests/page.hpp"

using namespace odrpo;

TEST_CASE("the canonical text is golden: changing it changes every key", "[pages]") {
  const auto suite = loaded(small_suite + "rater = \"r\"\nvotes = 8\n[rater.r]\nbase = \"gauss\"\nlow.p = 0.1\n[env.bandit]\nmean = 5.5\n",
                            {"suite.seeds=2"});
  check_page("config/pages/canonical.txt", canonical_text(suite.runs[1]));
  CHECK(spec_key(suite.runs[1]) == "05ebc8ff3e9fc5b9");
}

TEST_CASE("names do not matter for the key, decisions do") {
  const auto base = loaded(small_suite).runs[0];
  const auto renamed =
      loaded(small_suite + "[estimator.other]\nbase = \"grpo\"\n", {"grid.estimator=other", "suite.name=x", "suite.seeds=2"}).runs[0];
  CHECK(renamed.id != base.id);
  CHECK(spec_key(renamed) == spec_key(base));
  std::set<std::string> keys{spec_key(base)};
  const char* const changes[] = {
      "suite.seed=1", "grid.votes=2", "grid.estimator=rloo", "grid.policy=tabular", "policy.linear.tilt=2", "grid.rater=veto",
      "learn.steps=9", "learn.lr=0.06", "learn.schedule=linear", "learn.kl=0", "learn.whiten=none", "learn.adam_eps=1e-7",
      "record.every=11", "env.bandit.prompts=128", "env.bandit.mean=7.2", "rater.mixed.low.p=0.02", "rater.mixed.tie=lowest",
      "rater.mixed.sampling=draws", "rater.mixed.aggregate=mean", "rater.mixed.parse_failure=0.01", "rater.mixed.world_mean=7",
      "rater.mixed.offset.sd=0.2", "env.bandit.levels=9", "learn.whiten_ddof=1", "learn.whiten_eps=1e-4", "learn.whiten=compat",
      "learn.dead_groups=drop", "learn.epochs=2", "estimator.grpo.compat=verl", "rater.mixed.uniform.p=0", "estimator.grpo.eps=1e-6"};
  for (const auto& change : changes) {
    INFO(change);
    CHECK(keys.insert(spec_key(loaded(small_suite, {change}).runs[0])).second);
  }
  CHECK(spec_key(loaded(small_suite, {"learn.lr=[0.05]"}).runs[0]) == spec_key(base));
  CHECK(spec_key(loaded(small_suite, {"policy.linear.tilt=0"}).runs[0]) == spec_key(base));
  CHECK(spec_key(loaded(small_suite, {"table.value=regret", "limits.cpu_hours=1"}).runs[0]) == spec_key(base));
}

TEST_CASE("the resolved suite loads to the same runs") {
  const std::string text = small_suite + R"(env = ["a.b", "bandit"]
rater = ["loud", "hack", "odd"]
policy = ["tabular", "linear"]
votes = [8, 1]
[learn]
schedule = ["cosine", "constant"]
lr = [0.1]
[rater.loud]
base = "veto"
low.p = [0.1, 0.2]
gaussian.form = "lattice"
[rater.odd]
noise = [{ model = "gaussian" }, { model = "low", p = 0.1 }, { model = "low", p = 0.2, target = "hack" }]
world_hack_share = 0.1
[env."a.b"]
base = "bandit"
mean = [5, 6]
[table]
columns = "value"
value = ["gain", "quality_fall"]
compare = "percent"
best = ["lr", "mean"]
baseline = "grpo"
)";
  const auto suite = loaded(text, {"suite.seeds=2", "suite.seed=77", "learn.kl=[0, 0.1]"});
  const auto again = loaded(suite.resolved);
  CHECK(again.resolved == suite.resolved);
  CHECK(again.axis_names == suite.axis_names);
  CHECK(again.table.best == suite.table.best);
  CHECK(again.table.value == std::vector<std::string>{"gain", "quality-fall"});
  CHECK(again.table.compare == Compare::percent);
  CHECK(suite.resolved.find("table.value = [\"gain\", \"quality-fall\"]\n") != std::string::npos);
  REQUIRE(again.runs.size() == suite.runs.size());
  for (std::size_t i = 0; i < suite.runs.size(); ++i) {
    REQUIRE(again.runs[i].id == suite.runs[i].id);
    REQUIRE(canonical_text(again.runs[i]) == canonical_text(suite.runs[i]));
  }
}

TEST_CASE("what has no effect in a run is not in its text: one computation has one key") {
  const auto keys = [](const std::vector<std::string>& set) {
    std::vector<std::string> all;
    for (const auto& run : loaded(small_suite, set).runs) all.push_back(spec_key(run));
    return all;
  };
  const auto apart = [](const std::vector<std::string>& list) { return std::set<std::string>(list.begin(), list.end()).size(); };
  const std::string one = "grid.estimator=grpo";
  const std::string plain = keys({one})[0];
  // a tie rule without ties, also a base's; unreadable answers that there are none of; the ratio of one epoch; the std of no whitening
  CHECK(apart(keys({one, "rater.mixed.aggregate=[mode, mean, median]", "rater.mixed.tie=[first, lowest]"})) == 4);
  CHECK(apart(keys({one, "rater.mixed.parse_failure=[0, 0.1]", "rater.mixed.parse_policy=[resample, drop, zero]"})) == 4);
  CHECK(keys({one, "learn.epochs=[1, 2]", "learn.ratio_clip=[0, 0.2]"})[1] == plain);
  CHECK(apart(keys({one, "learn.epochs=[1, 2]", "learn.ratio_clip=[0, 0.2]"})) == 3);
  CHECK(apart(keys({one, "learn.optimizer=[adam, sgd]", "learn.beta1=[0.9, 0.5]", "learn.adam_eps=[1e-8, 1e-6]"})) == 5);
  CHECK(apart(keys({one, "learn.whiten=[none, response]", "learn.whiten_ddof=[0, 1]", "learn.whiten_eps=[0, 0.1]"})) == 5);
  CHECK(apart(keys({"grid.estimator=maxrl", "learn.whiten=[compat, response]", "learn.whiten_eps=[0, 0.1]"})) == 3);
}

TEST_CASE("a base's tie rule does not stand in the way of a mean, here or written out") {
  const auto suite = loaded(small_suite, {"grid.rater=yardstick", "rater.yardstick.aggregate=mean"});
  CHECK(suite.runs[0].rater.tie == TieRule::first);
  CHECK(spec_key(loaded(suite.resolved).runs[0]) == spec_key(suite.runs[0]));
  const auto some = loaded(small_suite, {"grid.rater=yardstick", "rater.yardstick.aggregate=[mean, mode]"});
  CHECK(some.runs[0].rater.tie == TieRule::first);
  CHECK(some.runs[1].rater.tie == TieRule::lowest);
  const auto again = loaded(some.resolved);
  for (std::size_t i = 0; i < some.runs.size(); ++i) CHECK(spec_key(again.runs[i]) == spec_key(some.runs[i]));
}

TEST_CASE("the resolved suite says how many levels a world has, unless a rater of the grid decides") {
  CHECK(loaded(small_suite).resolved.find("\nenv.bandit.levels = 10\n") != std::string::npos);
  const std::string five = small_suite + "[rater.r]\nnoise = [{ model = \"confusion\", matrix = [[1, 0], [0, 1]] }]\n";
  CHECK(loaded(five).resolved.find("env.bandit.levels = 10\n") != std::string::npos);  // r is not in the grid
  const auto mixed = loaded(five, {"grid.rater=[mixed, r]"});
  CHECK(mixed.resolved.find("env.bandit.levels") == std::string::npos);
  CHECK(loaded(mixed.resolved).runs.back().env.bandit.levels == 2);
}

TEST_CASE("fields of single configs are told apart") {
  CHECK(canonical_fields(BanditConfig{}) == canonical_fields(BanditConfig{}));
  BanditConfig changed;
  changed.overrides.mean = 7.2;
  CHECK(canonical_fields(changed) != canonical_fields(BanditConfig{}));
  CHECK(canonical_fields(WorldProfile{}).find("spread_sd = 0.4\n") != std::string::npos);
}
