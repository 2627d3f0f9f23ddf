// [grid] zip: its runs are those of one suite per entry, every mistake is told at its place, and the plan survives being written out.
#include <map>
#include <set>
#include <string>
#include <vector>

#include "config/plan/plan.hpp"
#include "config/spec.hpp"
#include "config/write/canonical.hpp"
#include "results/store/record.hpp"
#include "tests/catch.hpp"
#include "tests/config/loading.hpp"

using namespace odrpo;

namespace {

const std::string head = "[suite]\nname = \"z\"\nseeds = 2\n[grid]\n";
const std::string rest = "[learn]\nlr = [0.1, 0.3]\n[env.small]\nbase = \"bandit\"\nprompts = [64, 128]\n";
const std::string equal_cost = head + R"toml(estimator = ["grpo", "maxrl"]
zip = [
  { votes = 1, "learn.steps" = 80 },
  { votes = 8, learn.steps = 10 },
]
)toml" + rest;

// the canonical settings of a run without those of other parts than `part`
std::string settings_of(const RunSpec& run, GridPart part) {
  switch (part) {
    case GridPart::env: return run.env_name + canonical_fields(run.env);
    case GridPart::rater: return run.rater_name + canonical_fields(run.rater);
    case GridPart::policy: return run.policy_name + canonical_fields(run.policy);
    case GridPart::estimator: return run.estimator_name + canonical_fields(run.estimator);
    case GridPart::votes: return std::to_string(run.votes);
    case GridPart::learn: return canonical_fields(run.learn);
  }
  return "";
}

// runs with one number for some parts have one setting of them; numbers are below choices(), and first_of_each() names each that occurs
void check_choices(const Suite& suite) {
  using enum GridPart;
  const std::vector<GridPart> parts{env, rater, policy, estimator, votes, learn};
  for (const GridPart part : parts) {
    std::map<std::size_t, std::string> settings;
    for (std::size_t i = 0; i < suite.runs.size(); ++i) {
      const std::size_t n = suite.runs.choice(i, {part});
      REQUIRE(n < suite.runs.choices({part}));
      const std::string text = settings_of(suite.runs[i], part);
      CHECK(settings.emplace(n, text).first->second == text);
    }
    CHECK(suite.runs.first_of_each({part}).size() == settings.size());
  }
  std::map<std::size_t, std::string> worlds;
  for (std::size_t i = 0; i < suite.runs.size(); ++i) {
    const RunSpec run = suite.runs[i];
    const std::string text = settings_of(run, env) + settings_of(run, learn);
    CHECK(worlds.emplace(suite.runs.choice(i, {env, learn}), text).first->second == text);
  }
}

}  // namespace

TEST_CASE("zipped keys are one axis: entry by entry, crossed with the others, in ids and columns like any axis") {
  const Suite suite = loaded(equal_cost);
  REQUIRE(suite.runs.size() == 2 * 2 * 2 * 2);
  const auto all = ids(suite);
  CHECK(all[0] == "bandit/mixed/linear/grpo/n1/steps=80/lr=0.1/s0");
  CHECK(all[1] == "bandit/mixed/linear/grpo/n1/steps=80/lr=0.1/s1");
  CHECK(all[2] == "bandit/mixed/linear/grpo/n1/steps=80/lr=0.3/s0");
  CHECK(all[4] == "bandit/mixed/linear/maxrl/n1/steps=80/lr=0.1/s0");
  CHECK(all[8] == "bandit/mixed/linear/grpo/n8/steps=10/lr=0.1/s0");
  CHECK(std::set<std::string>(all.begin(), all.end()).size() == all.size());
  CHECK(suite.axis_names == std::vector<std::string>{"steps", "lr"});
  CHECK(suite.runs[8].votes == 8);
  CHECK(suite.runs[8].learn.steps == 10);
  CHECK(suite.runs[8].axes[0] == Axis{"steps", std::int64_t{10}});
  CHECK(suite.runs[8].run_key == suite.runs[0].run_key);  // one seed, one world
  check_choices(suite);
}

TEST_CASE("each entry has the runs of a suite that says the same without zip") {
  const std::string zip = R"toml(rater = ["mixed", "r"]
zip = [
  { env = "small", policy = "tabular", votes = 3, "learn.batch" = 64, "estimator.e.compat" = "verl", estimator = "e" },
  { env = "bandit", policy = "linear", votes = 1, "learn.batch" = 128, "estimator.e.compat" = "paper", estimator = "e" },
  { env = "small", policy = "linear", votes = 1, "learn.batch" = 16, "estimator.e.compat" = "verl", estimator = "e" },
]
)toml";
  const std::string sections = rest + "[estimator.e]\nbase = \"grpo\"\n[rater.r]\nbase = \"veto\"\nlow.p = [0.1, 0.2]\n";
  const Suite suite = loaded(head + zip + sections);
  const char* const words[][5] = {
      {"small", "tabular", "3", "64", "verl"}, {"bandit", "linear", "1", "128", "paper"}, {"small", "linear", "1", "16", "verl"}};
  std::vector<std::string> keys, wanted;
  for (const RunSpec& run : suite.runs) keys.push_back(spec_key(run));
  for (const auto& [env, policy, votes, batch, compat] : words) {
    const Suite one = loaded(head + "rater = [\"mixed\", \"r\"]\nestimator = \"e\"\n" + sections,
                             {std::string("grid.env=") + env, std::string("grid.policy=") + policy, std::string("grid.votes=") + votes,
                              std::string("learn.batch=") + batch, std::string("estimator.e.compat=") + compat});
    for (const RunSpec& run : one.runs) wanted.push_back(spec_key(run));
  }
  CHECK(suite.runs.size() == (2 + 1 + 2) * 3 * 2 * 2);  // worlds of the entries, raters, rates, seeds
  CHECK(keys == wanted);
  check_choices(suite);
  const auto all = ids(suite);
  CHECK(std::set<std::string>(all.begin(), all.end()).size() == all.size());
}

TEST_CASE("a zipped suite written out gives the same runs, and --set and --only reach them") {
  for (const std::vector<std::string>& set :
       {std::vector<std::string>{},
        {"grid.zip=[{ \"learn.steps\" = 3, votes = 2, \"learn.kl\" = 0 }, { votes = 2, \"learn.steps\" = 4, \"learn.kl\" = 0.1 }]"}}) {
    const Suite suite = loaded(equal_cost, set), again = loaded(suite.resolved);
    CHECK(ids(again) == ids(suite));
    CHECK(again.resolved == suite.resolved);
    CHECK(again.axis_names == suite.axis_names);
    for (std::size_t i = 0; i < suite.runs.size(); ++i) CHECK(spec_key(again.runs[i]) == spec_key(suite.runs[i]));
  }
  const Suite words = loaded(head + "zip = [{ estimator = \"grpo\" }, { estimator = \"maxrl\" }]\n");
  CHECK(ids(loaded(words.resolved)) == ids(words));
  const Suite some = loaded(equal_cost, {}, {"*/n8/*/s1"});
  CHECK(ids(some) ==
        std::vector<std::string>{"bandit/mixed/linear/grpo/n8/steps=10/lr=0.1/s1", "bandit/mixed/linear/grpo/n8/steps=10/lr=0.3/s1",
                                 "bandit/mixed/linear/maxrl/n8/steps=10/lr=0.1/s1", "bandit/mixed/linear/maxrl/n8/steps=10/lr=0.3/s1"});
  check_choices(some);
}

TEST_CASE("mistakes of many entries, of --set in zip and beside it") {
  std::string many;
  for (std::size_t n = 0; n <= most_entries; ++n) many += "{ \"learn.lr\" = " + std::to_string(n + 1) + "e-4 },\n";
  CHECK(refusal(small_suite + "zip = [" + many + "]\n").has("bad.toml:1005:1: error: `grid.zip` has 1001 entries"));
  CHECK(refusal(equal_cost, {"learn.steps=3"})
            .has("--set 1: error: `learn.steps` is a key of the entries of `grid.zip`: give it there alone"));
  CHECK(refusal(equal_cost, {"grid.zip=[{ votes = 0 }]"}).has("--set 1: error: `grid.votes` is 0, out of range"));
}

TEST_CASE("the limit of runs counts entries, not their crossing") {
  CHECK(loaded(equal_cost, {"limits.runs=16"}).runs.size() == 16);
  CHECK(refusal(equal_cost, {"limits.runs=15"}).has("the grid has 16 runs, more than the limit of 15"));
}
