// Good grids: defaults, order, ids, axes, seeds and the keys of runs; tables and limits.
#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "config/spec.hpp"
#include "envs/rater/noise.hpp"
#include "kernels/random.hpp"
#include "policies/policy.hpp"
#include "tests/catch.hpp"
#include "tests/config/loading.hpp"

using namespace odrpo;

TEST_CASE("a suite of two lines has defaults for everything else") {
  const auto suite = loaded(small_suite);
  CHECK(suite.name == "small");
  CHECK(suite.seed == 0);
  CHECK(suite.seeds == 1);
  CHECK(suite.text == small_suite);
  CHECK(ids(suite) == std::vector<std::string>{"bandit/mixed/linear/grpo/n1/s0", "bandit/mixed/linear/maxrl/n1/s0"});
  const auto& run = suite.runs[0];
  CHECK(run.learn.steps == LearnConfig{}.steps);
  CHECK(run.policy.kind == PolicyKind::linear);
  CHECK(run.rater.noise.size() > 1);
  CHECK(run.axes.empty());
}

TEST_CASE("runs come in grid order, the seed changes fastest") {
  const auto suite = loaded(R"toml([suite]
name = "order"
seeds = 2
[grid]
rater = ["veto", "mixed"]
estimator = ["maxrl", "grpo"]
votes = [8, 1]
[learn]
lr = [0.3, 0.1]
)toml");
  REQUIRE(suite.runs.size() == 32);
  CHECK(suite.runs[0].id == "bandit/veto/linear/maxrl/n8/lr=0.3/s0");
  CHECK(suite.runs[1].id == "bandit/veto/linear/maxrl/n8/lr=0.3/s1");
  CHECK(suite.runs[2].id == "bandit/veto/linear/maxrl/n8/lr=0.1/s0");
  CHECK(suite.runs[4].id == "bandit/veto/linear/maxrl/n1/lr=0.3/s0");
  CHECK(suite.runs[8].id == "bandit/veto/linear/grpo/n8/lr=0.3/s0");
  CHECK(suite.runs[31].id == "bandit/mixed/linear/grpo/n1/lr=0.1/s1");
  const auto all = ids(suite);
  CHECK(std::set<std::string>(all.begin(), all.end()).size() == 32);
  CHECK(suite.axis_names == std::vector<std::string>{"lr"});
  CHECK(suite.runs[2].learn.optimizer.lr == 0.1);
  CHECK(std::get<double>(suite.runs[2].axes[0].second) == 0.1);
}

TEST_CASE("the key of a run hangs on the suite's seed and the seed's index alone") {
  const auto a = loaded(small_suite, {"suite.seed=5", "suite.seeds=3"});
  const auto b = loaded(small_suite, {"suite.seed=5", "suite.seeds=2", "grid.votes=[1,32]", "learn.steps=3", "suite.name=other"});
  for (const auto& run : a.runs) CHECK(run.run_key == derive_key(5, static_cast<std::uint32_t>(run.seed)));
  for (const auto& run : b.runs) CHECK(run.run_key == a.runs[static_cast<std::size_t>(run.seed)].run_key);
  CHECK(a.runs[0].run_key != a.runs[1].run_key);
  CHECK(loaded(small_suite, {"suite.seed=6"}).runs[0].run_key != a.runs[0].run_key);
  CHECK(loaded(small_suite, {"suite.seed=9223372036854775807"}).seed == 9223372036854775807u);
}

TEST_CASE("axes stand in file order and carry short names where they are unambiguous") {
  const std::string text = small_suite + R"toml(env = ["one", "two", "bandit"]
rater = ["loud", "mixed"]
[learn]
schedule = ["cosine", "constant"]
lr = [0.1, 0.3]
[rater.loud]
base = "veto"
low.p = [0.1, 0.2]
[env.one]
base = "bandit"
prompts = [64, 128]
mean = [5, 6.5]
[env.two]
base = "bandit"
prompts = [96]
)toml";
  const auto suite = loaded(text);
  CHECK(suite.axis_names == std::vector<std::string>{"schedule", "lr", "low.p", "env.one.prompts", "mean", "env.two.prompts"});
  CHECK(suite.runs.size() == 2 * 4 * (2 + 1) * (4 + 1 + 1));
  CHECK(suite.runs[0].id == "one/loud/linear/grpo/n1/schedule=cosine/lr=0.1/low.p=0.1/env.one.prompts=64/mean=5/s0");
  const auto& run = *std::find_if(suite.runs.begin(), suite.runs.end(), [](const RunSpec& r) {
    return r.id == "one/loud/linear/maxrl/n1/schedule=constant/lr=0.3/low.p=0.2/env.one.prompts=128/mean=6.5/s0";
  });
  CHECK(run.env.bandit.prompts == 128);
  CHECK(run.env.bandit.overrides.mean == 6.5);
  CHECK(run.learn.optimizer.schedule == ScheduleKind::constant);
  CHECK(std::get<LowOutliers>(run.rater.noise.back()).p == 0.2);
  CHECK(std::get<std::string>(run.axes[0].second) == "constant");
  CHECK(std::get<std::int64_t>(run.axes[3].second) == 128);
  CHECK(suite.runs.back().id == "bandit/mixed/linear/maxrl/n1/schedule=constant/lr=0.3/s0");
  // --set keeps the turn of a key it replaces, and comes last where it adds one
  CHECK(loaded(text, {"learn.schedule=[linear]", "learn.kl=[0, 1]"}).axis_names ==
        std::vector<std::string>{"schedule", "lr", "low.p", "env.one.prompts", "mean", "env.two.prompts", "kl"});
}

TEST_CASE("an axis of a variant that the grid leaves out makes no runs") {
  const auto suite = loaded(small_suite + "[rater.loud]\nbase = \"veto\"\nlow.p = [0.1, 0.2]\n");
  CHECK(suite.runs.size() == 2);
  CHECK(suite.axis_names.empty());
}

TEST_CASE("words are brought to their written form") {
  const auto suite = loaded(R"toml([suite]
name = "words"
[grid]
estimator = ["dr-grpo", "odrpo_gini_median(maxrl)", "odrpo-uniform(grpo)"]
policy = "tabular"
[learn]
adam-eps = 1e-6
[table]
baseline = "odrpo_uniform(grpo)"
)toml");
  CHECK(suite.runs[0].estimator_name == "reinforce");
  CHECK(suite.runs[1].estimator_name == "odrpo-gini-median(maxrl)");
  CHECK(suite.runs[2].id == "bandit/mixed/tabular/odrpo(grpo)/n1/s0");
  CHECK(suite.table.baseline == "odrpo(grpo)");
  CHECK(suite.runs[0].learn.optimizer.eps == 1e-6);
}

TEST_CASE("a table may have a baseline for each group of rows") {
  const auto suite = loaded(small_suite + R"toml([table]
baseline = { "odrpo_uniform(grpo)" = ["grpo"], maxrl = "odrpo-gini(maxrl)" }
)toml",
                            {"grid.estimator=[grpo, maxrl, odrpo(grpo), odrpo-gini(maxrl)]"});
  const std::vector<BaselineGroup> groups{{"odrpo(grpo)", {"grpo"}}, {"maxrl", {"odrpo-gini(maxrl)"}}};
  CHECK(suite.table.groups == groups);
  CHECK(suite.table.baseline.empty());
  CHECK(loaded(suite.resolved).table.groups == groups);
  const auto of_votes = loaded(small_suite + "[table]\nrows = \"votes\"\ncolumns = \"estimator\"\nbaseline = { 1 = [8] }\n", {"grid.votes=[1, 8]"});
  CHECK(of_votes.table.groups == std::vector<BaselineGroup>{{"1", {"8"}}});
}

TEST_CASE("a table may name axes by short or full name") {
  const auto suite =
      loaded(small_suite + "[learn]\nlr = [1, 2]\nkl = [0, 1]\n[table]\ncolumns = \"learn.lr\"\nbest = [\"kl\"]\nbaseline = \"grpo\"\n");
  CHECK(suite.table.columns == "lr");
  CHECK(suite.table.best == std::vector<std::string>{"kl"});
  CHECK(loaded(small_suite + "[learn]\nlr = [1, 2]\n[table]\nrows = \"lr\"\ncolumns = \"estimator\"\nbaseline = \"2\"\n").table.baseline ==
        "2");
}

TEST_CASE("a table shows one value or a list") {
  const std::string columns = small_suite + "[table]\ncolumns = \"value\"\n";
  CHECK(loaded(small_suite).table.value == std::vector<std::string>{"gain"});
  CHECK(loaded(small_suite + "[table]\nvalue = [\"regret\"]\n").table.value == std::vector<std::string>{"regret"});
  CHECK(loaded(columns).table.value == std::vector<std::string>{"gain"});
  CHECK(loaded(columns + "value = [\"auc\", \"gain\"]\n").table.value == std::vector<std::string>{"auc", "gain"});
  CHECK(loaded(columns, {"table.value=[auc, seconds]", "table.baseline=grpo", "table.compare=percent"}).table.compare == Compare::percent);
}

TEST_CASE("too many runs are refused before any is made, whatever the size") {
  const std::string text = small_suite + "[learn]\nlr = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]\n";
  CHECK(refusal(text, {"suite.seeds=10000"}).code == Exit::ok);
  CHECK(refusal(text, {"suite.seeds=10001"}).code == Exit::limits);
  CHECK(refusal(text, {"suite.seeds=10001", "limits.runs=300000"}).code == Exit::ok);
  CHECK(refusal(text, {"limits.runs=19"}).has("20 runs, more than the limit of 19"));
  const auto huge = refusal(text, {"suite.seeds=100000", "limits.runs=1e9", "learn.kl=[0,1,2,3,4,5,6,7,8,9]", "limits.memory_gib=0.1"});
  CHECK(huge.code == Exit::limits);
  CHECK(huge.has("memory_gib"));
}

TEST_CASE("limits of [gate]: the table's rows are the axis, words and numbers are the grid's") {
  const Suite suite = loaded(small_suite + R"x([gate]
step_time = [{ row = "odrpo(grpo)", over = "grpo", at-most = 1.1 }, { axis = "votes", row = 8, over = 1, at_most = 2, at_least = 0.5 }]
quality = { row = "grpo", at_least = 7.5, where = "votes=8" }
gain = [{ row = "grpo", over = "maxrl", at_least = 0, where = ["votes = 8", "rater=mixed"] }]
)x",
                             {"grid.estimator=[\"grpo\", \"maxrl\", \"odrpo-uniform(grpo)\"]", "grid.votes=[1, 8]"});
  REQUIRE(suite.gate.step_time.size() == 2);
  const GateLimit& first = suite.gate.step_time[0];
  CHECK(first == GateLimit{LimitedValue::step_time, "estimator", "odrpo(grpo)", "grpo", {}, 1.1, {}});
  CHECK(suite.gate.step_time[1] == GateLimit{LimitedValue::step_time, "votes", "8", "1", {}, 2.0, 0.5});
  REQUIRE(suite.gate.quality.size() == 1);
  CHECK(suite.gate.quality[0] == GateLimit{LimitedValue::quality, "estimator", "grpo", "", {"votes=8"}, {}, 7.5});
  REQUIRE(suite.gate.gain.size() == 1);
  CHECK(suite.gate.gain[0].where == std::vector<std::string>{"votes=8", "rater=mixed"});

  const Suite again = loaded(suite.resolved);
  CHECK(again.gate.step_time == suite.gate.step_time);
  CHECK(again.gate.quality == suite.gate.quality);
  CHECK(again.gate.gain == suite.gate.gain);
  CHECK(again.resolved == suite.resolved);
  CHECK(loaded(small_suite).resolved.find("gate.") == std::string::npos);
}
