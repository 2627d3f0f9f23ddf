// --set and --only: what they change, and how their errors are placed.
#include <string>
#include <vector>

#include "config/spec.hpp"
#include "policies/policy.hpp"
#include "tests/catch.hpp"
#include "tests/config/loading.hpp"

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

TEST_CASE("override --set replaces lists of tables, but no section, whose other keys would be lost") {
  const std::string rater = small_suite + "[rater.mixed]\nlow.p = 0.3\nworld_spread = 2\n";
  CHECK(loaded(rater, {"rater.mixed.noise=[{model=\"gaussian\"}]"}).runs[0].rater.noise.size() == 2);
  CHECK(refusal(rater, {"rater.mixed.low={target=\"mid\"}"})
            .has("`low` is a section; name a key inside it: --set rater.mixed.low.KEY=VALUE"));
  CHECK(refusal(rater, {"rater={mixed={}}"}).code == Exit::suite);
  CHECK(refusal(small_suite, {"learn.steps=20", "learn={batch=32}"}).has("--set 2: error: `learn` is a section"));
}

TEST_CASE("override --set takes characters beyond ASCII in quoted keys and strings") {
  const auto r = refusal(small_suite, {"learn={a = 1, b.\"\u02d2\" = [[\"\u02d2\", '\u02d2'], {\"\u02d2\" = \"\"\"\u02d2\"\"\"}]}"});
  CHECK(r.has("unknown"));
  CHECK_FALSE(r.has("quote"));
  CHECK(refusal("# \u02d2\n[suite]\nname = \"a\" # \u02d2\n[rater.\"\u02d2\"]\n").has("cannot be a name"));
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

TEST_CASE("errors in the content of --set say which one") {
  struct Case {
    const char *argument, *fragment;
  };
  const Case cases[] = {
      {"learn.stpes=3", "unknown key `stpes` in [learn]"},
      {"learn.steps=2.5", "must be a whole number, not 2.5"},
      {"learn.steps=[1", "error:"},
      {"learn.steps=1\nkl=2", "one value is wanted"},
      {"learn.steps=1 2", "error:"},
      {"learn.schedule=\u00e9", "'\u00e9' (U+00E9) is allowed only in quotes and comments; text with such signs stands in quotes"},
      {"learn.steps=3\u03d1", "(U+03D1) is allowed only in quotes"},
      {"learn.steps=0\"\u02d2\"", "a quote stands inside of a value"},
      {"learn.steps=[1, 0.'\u02d2']", "a quote stands inside of a value"},
      {"learn.steps={a = 1, b.\"\u02d2\" = 0[\"\u02d2\"]}", "a quote stands inside of a value"},
      {"learn.schedule=cos\xff", "error:"},
      {"learn.steps=99999999999999999999", "error:"},
      {"learn.schedule=cosin", "did you mean `cosine`?"},
      {"learn=3", "`learn` is a section"},
      {"learn={steps=3}", "`learn` is a section; name a key inside it: --set learn.KEY=VALUE"},
      {"learn={}", "`learn` is a section"},
      {"suite.name.x=3", "nothing can be set inside it"},
      {"lern.steps=3", "unknown section [lern]"},
      {"steps=3", "`steps` stands outside of any section\n      | --set steps=3\n      = did you mean `learn.steps`?"},
      {"seeds=3", "did you mean `suite.seeds`?"},
      {"seed=3", "did you mean `suite.seed`?"},
      {"sedes=3", "did you mean `suite.seeds`?"},
      {"votes=3", "did you mean `grid.votes`?"},
      {"lr=0.1", "did you mean `learn.lr`?"},
      {"weight_decay=0.1", "did you mean `learn.weight_decay`?"},
      {"weight-decay=0.1", "did you mean `learn.weight_decay`?"},
      {"frobnicate=3", "= allowed: suite, grid, env, rater, policy, estimator, learn, record, table, gate or limits"},
      {"learn..steps=3", "not a dotted key"},
      {"learn.\"steps=3", "not a dotted key"},
      {"learn.lr=nan", "finite"},
      {"learn.lr=\xff", "not UTF-8"},
      {"suite.name=-", "error:"},
  };
  for (const auto& c : cases) {
    INFO(c.argument);
    const auto r = refusal(small_suite + "[learn]\nkl = 0\n", {"suite.seed=1", c.argument});
    INFO(r.message);
    CHECK(r.code == Exit::suite);
    CHECK(r.has("--set 2: error: "));
    CHECK(r.has(c.fragment));
  }
  std::string deep = "a";
  for (int i = 0; i < 100000; ++i) deep += ".a";
  CHECK(refusal(small_suite, {deep + "=1"}).code == Exit::suite);
  const auto both = refusal(small_suite + "[learn]\nkl = -1\n", {"learn.steps=0"});
  CHECK(both.message.find("bad.toml:6:6") < both.message.find("--set 1"));
}

TEST_CASE("override --set that is not TOML is told as it should have been written") {
  struct Case {
    const char *argument, *fragment;
  };
  const Case cases[] = {
      {"table.value=gain,seconds", "several values stand in brackets: --set 'table.value=[\"gain\", \"seconds\"]'"},
      {"learn.lr=0.1,0.2", "several values stand in brackets: --set 'learn.lr=[0.1, 0.2]'"},
      {"learn.lr=0.1, 2e-3", "--set 'learn.lr=[0.1, 0.002]'"},
      {"estimator.\"odrpo(grpo)\".ddof=0,1", "--set 'estimator.\"odrpo(grpo)\".ddof=[0, 1]'"},
      {"learn.lr=0.1,,", "error: "},
      {"rater.mixed.noise=[{model=gaussian}]", "text inside a table stands in quotes: { model = \"gaussian\", sigma = 0.5 }"},
      {"suite.name=\xF0\x9F\x99\x82", "--set 'suite.name=\"...\"'"},
      {"rater.judge.scores=\"C:\\x.csv\"", "escape sequence"},
  };
  for (const auto& c : cases) {
    INFO(c.argument);
    const auto r = refusal(small_suite, {c.argument});
    INFO(r.message);
    CHECK(r.code == Exit::suite);
    CHECK(r.has("--set 1: error: "));
    CHECK(r.has(c.fragment));
  }
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
