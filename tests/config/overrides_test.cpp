// --set and --only: what they change, and how their errors are placed.
#include <string>
#include <vector>

#include "config/spec.hpp"
#include "policies/policy.hpp"
#include "tests/catch.hpp"
#include "tests/config/refusals.hpp"

using namespace odrpo;

TEST_CASE("override --set changes, adds and replaces values") {
  const auto suite =
      loaded(small_suite + "[learn]\nsteps = 7\n", {"learn.steps=9", "suite.seeds = 3", "grid.votes=[1,8]", "learn.schedule=constant",
                                                    "learn.whiten=\"none\"", "learn.kl=0.5", "learn.kl=0"});
  CHECK(suite.runs.size() == 12);
  const auto& learn = suite.runs[0].learn;
  CHECK(learn.steps == 9);
  CHECK(learn.kl == 0);
  CHECK(learn.whiten == Whiten::none);
  CHECK(learn.optimizer.schedule == ScheduleKind::constant);
  CHECK(suite.overrides.size() == 7);
  CHECK(loaded(small_suite, {"rater.mixed.gaussian.sigma=0.9"}).runs[0].rater.noise.size() == 4);
  CHECK(loaded(small_suite, {"estimator.\"odrpo-gini(grpo)\".eps=1e-6", "grid.estimator=odrpo-gini(grpo)"}).runs[0].estimator.eps == 1e-6);
  CHECK(loaded(small_suite, {"learn={steps=3, lr=[1,2]}"}).runs.size() == 4);
  CHECK(loaded(small_suite, {"grid.estimator=[rloo, odrpo-gini(maxrl)]", "learn.schedule = [ linear ]"}).runs[1].estimator_name ==
        "odrpo-gini(maxrl)");
  CHECK(loaded(small_suite, {"grid.votes=[ 1,8 ]", "table.baseline=''"}).runs.size() == 4);
}

TEST_CASE("override --set key+=value goes on with a list, and makes one of a single value") {
  const auto runs = [](std::vector<std::string> set) { return loaded(small_suite, set).runs; };
  const std::size_t all = runs({}).size();
  CHECK(runs({"grid.votes=[1]", "grid.votes+=[8, 16]"}).size() == 3 * runs({"grid.votes=[1]"}).size());
  CHECK(runs({"grid.votes=1", "grid.votes += 8"}).size() == 2 * runs({"grid.votes=1"}).size());
  CHECK(runs({"record.every+=5"}).size() == all);  // there was none: one value
  CHECK(runs({"learn.lr=0.1", "learn.lr+=[0.2]"}).size() == 2 * runs({"learn.lr=0.1"}).size());
  const Refusal twice = refusal(small_suite, {"grid.votes=[1]", "grid.votes+=[1]"});
  CHECK(twice.has("1 twice"));
  CHECK(refusal(small_suite, {"suite.name+=x"}).has("--set 1: error: "));
}

TEST_CASE("override --set replaces lists of tables") {
  const std::string rater = small_suite + "[rater.mixed]\nlow.p = 0.3\nworld_spread = 2\n";
  CHECK(loaded(rater, {"rater.mixed.noise=[{model=\"gaussian\"}]"}).runs[0].rater.noise.size() == 2);
}

TEST_CASE("override --set without a key or value is a mistake of the command line") {
  for (const auto* argument : {"learn.steps", "", "=", "=3", "learn.steps=", "learn.steps= ", " =3"}) {
    INFO(argument);
    CHECK(refusal(small_suite, {argument}).code == Exit::usage);
  }
  try {
    load_suite("/nowhere/none.toml", {"x"}, {});
    FAIL("accepted");
  } catch (const Failure& f) {
    CHECK(f.code == Exit::usage);
  }
}

TEST_CASE("errors in the content of --set say which one, and how it should have been written", "[pages]") {
  const std::string suite = small_suite + "[learn]\nkl = 0\n";
  check_cases("config/pages/set.txt", [&](const std::string& input) {
    return refusal_text(refusal(suite, {"suite.seed=1", input.substr(0, input.size() - 1)}));
  });
  for (const char* bytes : {"learn.schedule=cos\xff", "learn.lr=\xff"}) CHECK(refusal(suite, {bytes}).has("--set 1: error: not UTF-8"));
  std::string deep = "a";
  for (int i = 0; i < 100000; ++i) deep += ".a";
  CHECK(refusal(small_suite, {deep + "=1"}).code == Exit::suite);
  const auto both = refusal(small_suite + "[learn]\nkl = -1\n", {"learn.steps=0"});
  CHECK(both.message.find("bad.toml:6:6") < both.message.find("--set 1"));
}

TEST_CASE("subset --only keeps the runs that match any glob") {
  const std::string text = small_suite + "votes = [1, 8]\n";
  CHECK(loaded(text, {"suite.seeds=3"}, {"*/n8/*"}).runs.size() == 6);
  CHECK(loaded(text, {"suite.seeds=3"}, {"*/n8/*", "*/s0"}).runs.size() == 8);
  const auto one = loaded(text, {}, {"bandit/mixed/linear/grpo/n8/s0"});
  REQUIRE(one.runs.size() == 1);
  CHECK(one.runs[0].run_key == loaded(text).runs[0].run_key);
  const auto none = refusal(text, {}, {"*/n8/*", "*/n9/*"});
  CHECK(none.code == Exit::suite);
  CHECK(none.has("--only 2: error: no run matches `*/n9/*`"));
  CHECK(none.has("bandit/mixed/linear/grpo/n1/s0"));
  CHECK(refusal(text, {}, {"[a"}).has("no run matches `[a`: its bracket is not closed"));
}

TEST_CASE("override --set that cannot be read is the first thing told, with how to write it, and not what would follow from it") {
  const auto r = refusal("[suite]\nseed = 1\n[grid]\nestimator = 'grpo'\n", {"suite.name=two words"});
  CHECK(r.message.find("--set 1: error: ") == 0);
  CHECK(r.has("--set 'suite.name=\"...\"'"));
  CHECK_FALSE(r.has("needs `name"));
  CHECK_FALSE(refusal(small_suite, {"learn.steps=1 2"}).has("in quotes"));
}
