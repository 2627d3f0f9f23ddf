// [gate] of a suite: what is read, what is written out again, what is refused and where.
#include "tests/config/bad_case.hpp"

using namespace odrpo;

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

TEST_CASE("bad limits of [gate] are refused at their place") {
  check_refused({
      {"an unknown key", "[gate]\nstep_times = []\n", "6:1", {"did you mean `step_time`?"}},
      {"no list", "[gate]\nquality = 3\n", "6:11", {"must be a list of limits, not 3", "at_most = 1.1"}},
      {"a list of numbers", "[gate]\nquality = [3]\n", "6:12", {"must be a list of limits"}},
      {"a limit without a bound", "[gate]\nquality = [{ row = \"grpo\" }]\n", "6:12", {"without `at_most` or `at_least`"}},
      {"a limit without a row", "[gate]\nquality = [{ at_most = 3 }]\n", "6:12", {"without `row`"}},
      {"an unknown key of a limit",
       "[gate]\nquality = [{ row = \"grpo\", atmost = 3 }]\n",
       "6:28",
       {"unknown key `atmost`", "did you mean `at_most`?"}},
      {"a bound that is a word", "[gate]\nquality = [{ row = \"grpo\", at_most = \"3\" }]\n", "6:38", {"no number"}},
      {"a ratio of times that is negative", "[gate]\nstep_time = [{ row = \"grpo\", at_most = -1 }]\n", "6:40", {"a time is above 0"}},
      {"a gain in percent", "[gate]\ngain = [{ row = \"grpo\", at_least = 50 }]\n", "6:36", {"a share of the possible: 0.5 is 50 %"}},
      {"a condition on the row's axis",
       "[gate]\ngain = [{ row = \"grpo\", at_least = 0.5, where = \"estimator=grpo\" }]\n",
       "6:49",
       {"a condition on \"estimator\", whose value `row` names"}},
      {"two conditions on one axis",
       "[gate]\ngain = [{ row = \"grpo\", at_least = 0.5, where = [\"votes=1\", \"votes=1\"] }]\n",
       "6:61",
       {"two conditions on \"votes\""}},
      {"an infinite bound", "[gate]\nquality = [{ row = \"grpo\", at_most = inf }]\n", "6:38", {"no number"}},
      {"bounds that nothing meets",
       "[gate]\nquality = [{ row = \"grpo\", at_most = 1, at_least = 2 }]\n",
       "6:12",
       {"`at_most` is below its `at_least`"}},
      {"a row of none",
       "[gate]\nquality = [{ row = \"gpro\", at_most = 1 }]\n",
       "6:20",
       {"no run has estimator \"gpro\"", "did you mean `grpo`?"}},
      {"a row that is true", "[gate]\nquality = [{ row = true, at_most = 1 }]\n", "6:20", {"no value of an axis"}},
      {"a row over itself", "[gate]\nstep_time = [{ row = \"grpo\", over = \"grpo\", at_most = 1 }]\n", "6:14", {"a row over itself"}},
      {"a row over none", "[gate]\nstep_time = [{ row = \"grpo\", over = \"reinforc\", at_most = 1 }]\n", "6:37", {"no run has estimator"}},
      {"an axis of none",
       "[gate]\nstep_time = [{ axis = \"vote\", row = 1, at_most = 1 }]\n",
       "6:23",
       {"which the grid has not", "did you mean `votes`?"}},
      {"a condition on no axis",
       "[gate]\ngain = [{ row = \"grpo\", at_most = 1, where = \"vote=1\" }]\n",
       "6:46",
       {"did you mean `votes`?"}},
      {"a condition of no run",
       "[gate]\ngain = [{ row = \"grpo\", at_most = 1, where = [\"votes=1\", \"votes=3\"] }]\n",
       "6:58",
       {"no run has votes \"3\""}},
      {"a condition that is none", "[gate]\ngain = [{ row = \"grpo\", at_most = 1, where = \"votes\" }]\n", "6:46", {"no \"AXIS=VALUE\""}},
  });
}
