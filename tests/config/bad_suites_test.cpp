// Bad suites as a table: exit code, line and column, and what the message says.
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/config/bad_case.hpp"

using namespace odrpo;

namespace {

const std::vector<BadCase>& cases() {
  static const std::vector<BadCase> all = {
      // text
      {"a key twice", "[learn]\nsteps = 3\nsteps = 4\n", "7:1", {"`steps` is given twice"}},
      {"a section twice", "[learn]\nsteps = 3\n[learn]\nkl = 0\n", "7:1", {"[learn]", "given twice"}},
      {"a key twice, '-' for '_'", "[learn]\nweight_decay = 0\nweight-decay = 0\n", "7:1", {"`weight-decay` is given twice"}},
      {"no value", "[learn]\nsteps =\n", "6:8", {"expected value"}},
      {"an open string", "[learn]\nschedule = \"cosine\nsteps = 3\n", "6:19", {}},
      {"int over 64 bits", "[learn]\nsteps = 99999999999999999999\n", "6:9", {"99999999999999999999 does not fit in 64 bits"}},
      {"int below 64 bits",
       "[suite]\nname = \"a\"\nseed = -9223372036854775809\n[grid]\nestimator = \"grpo\"\n",
       "3:9",
       {"does not fit in 64 bits"}},
      // outside of strings toml++ 3.3 has undefined behaviour for them (found by tests/fuzz/suite.cpp)
      {"a key beyond ASCII",
       "[learn]\n\u03d1 = 1\nsteps = 0\n",
       "6:1",
       {"'\u03d1' (U+03D1) is allowed only in quotes and comments", ":7:9: error:"}},
      {"a key that goes on beyond ASCII", "[learn]\nst\u00e9ps = 3\n", "6:3", {"'\u00e9' (U+00E9) is allowed only in quotes"}},
      {"a value beyond ASCII", "[learn]\nschedule = \u03d1\n", "6:12", {"(U+03D1) is allowed only in quotes"}},
      {"a space that is none in TOML", "[learn]\nsteps =\u00a03\n", "6:8", {"(U+00A0) is allowed only in quotes"}},
      {"a header beyond ASCII", "[l\u00e9arn]\n", "5:3", {"(U+00E9) is allowed only in quotes"}},
      {"number beyond double", "[learn]\nlr = 1e999\n", "6:11", {}},
      // keys and sections
      {"unknown key", "[learn]\nshedule = \"cosine\"\n", "6:1", {"unknown key `shedule` in [learn]", "did you mean `schedule`?", "^"}},
      {"unknown key, neighbours swapped", "[learn]\nwramup = 0\n", "6:1", {"did you mean `warmup`?"}},
      {"unknown key, nothing near", "[learn]\nfoo = 1\n", "6:1", {"unknown key `foo`", "allowed: steps, batch"}},
      {"unknown section", "[lern]\nsteps = 3\n", "5:2", {"unknown section [lern]", "did you mean `learn`?"}},
      {"a key outside of sections", "[suite]\nname = \"a\"\n", "1:1", {"[grid] is missing"}},
      {"unknown model key", "[rater.r]\nbase = \"veto\"\nlow.q = 0.1\n", "7:5", {"unknown key `q` in [rater.r.low]"}},
      {"unknown model",
       "[rater.r]\nnoise = [{ model = \"gausian\" }]\n",
       "6:20",
       {"unknown noise model \"gausian\"", "did you mean `gaussian`?"}},
      {"a model without its word", "[rater.r]\nnoise = [{ sigma = 1 }]\n", "6:10", {"needs `model"}},
      // names
      {"no name", "[suite]\nseed = 1\n[grid]\nestimator = \"grpo\"\n", "1:2", {"needs `name"}},
      {"bad name", "[suite]\nname = \"a b\"\n[grid]\nestimator = \"grpo\"\n", "2:8", {"\"a b\" cannot be a name"}},
      {"empty name", "[suite]\nname = \"\"\n[grid]\nestimator = \"grpo\"\n", "2:8", {"\"\" cannot be a name"}},
      {"name of 65", "[suite]\nname = \"" + std::string(65, 'a') + "\"\n[grid]\nestimator = \"grpo\"\n", "2:8", {"cannot be a name"}},
      {"name with a slash", "[suite]\nname = \"../a\"\n[grid]\nestimator = \"grpo\"\n", "2:8", {"cannot be a name"}},
      {"name with a control character", "[suite]\nname = \"a\\u001b[2J\"\n[grid]\nestimator = \"grpo\"\n", "2:8", {"a\\x1b[2J"}},
      {"bad variant name", "[estimator.\"a b\"]\nbase = \"grpo\"\n", "5:12", {"\"a b\" cannot be a name"}},
      // grid
      {"no estimator", "[suite]\nname = \"a\"\n[grid]\nvotes = 1\n", "3:2", {"needs `estimator"}},
      {"unknown rater",
       "[suite]\nname = \"a\"\n[grid]\nestimator = \"grpo\"\nrater = [\"mixd\"]\n",
       "5:10",
       {"unknown rater \"mixd\"", "did you mean `mixed`?"}},
      {"unknown estimator",
       "[suite]\nname = \"a\"\n[grid]\nestimator = [\"grpo\", \"odrpo-gini-media(maxrl)\"]\n",
       "4:22",
       {"unknown estimator", "did you mean `odrpo-gini-median(maxrl)`?"}},
      {"upper case", "[suite]\nname = \"a\"\n[grid]\nestimator = \"GRPO\"\n", "4:13", {"did you mean `grpo`?"}},
      {"estimator twice", "[suite]\nname = \"a\"\n[grid]\nestimator = [\"grpo\", \"grpo\"]\n", "4:22", {"`grid.estimator` has grpo twice"}},
      {"estimator twice under two names",
       "[suite]\nname = \"a\"\n[grid]\nestimator = [\"reinforce\", \"dr-grpo\"]\n",
       "4:27",
       {"reinforce twice"}},
      {"empty list", "[suite]\nname = \"a\"\n[grid]\nestimator = []\n", "4:13", {"empty list"}},
      {"a number for a word", "[suite]\nname = \"a\"\n[grid]\nestimator = [1]\n", "4:14", {"must be a word in quotes, not 1"}},
      {"votes 0", "votes = 0\n", "5:9", {"`grid.votes` is 0, out of range", "allowed: 1..1024"}},
      {"votes -1", "votes = [1, -1]\n", "5:13", {"`grid.votes` is -1, out of range"}},
      {"votes 2.5", "votes = [1, 2.5]\n", "5:13", {"must be a whole number, not 2.5"}},
      {"votes empty", "votes = []\n", "5:9", {"empty list"}},
      {"votes twice", "votes = [1, 8, 1]\n", "5:16", {"`grid.votes` has 1 twice"}},
      {"votes as a word", "votes = \"8\"\n", "5:9", {"must be a whole number, not the string \"8\""}},
      {"votes 10^15", "votes = 1000000000000000\n", "5:9", {"1000000000000000, out of range"}},
      {"votes true", "votes = true\n", "5:9", {"not true"}},
      // values
      {"seed -1", "[suite]\nname = \"a\"\nseed = -1\n[grid]\nestimator = \"grpo\"\n", "3:8", {"`suite.seed` is -1, out of range"}},
      {"seeds 0", "[suite]\nname = \"a\"\nseeds = 0\n[grid]\nestimator = \"grpo\"\n", "3:9", {"`suite.seeds` is 0"}},
      {"seeds as a list",
       "[suite]\nname = \"a\"\nseeds = [1, 2]\n[grid]\nestimator = \"grpo\"\n",
       "3:9",
       {"must be a whole number, not a list"}},
      {"votes as a float", "votes = 1e3\n", "5:9", {"must be a whole number, not the float 1000.0 (write 1000)"}},
      {"rollouts as a float", "[learn]\nrollouts = 8.0\n", "6:12", {"must be a whole number, not the float 8.0 (write 8)", "2..255"}},
      {"a float beyond whole numbers", "[learn]\nsteps = 1e300\n", "6:9", {"must be a whole number, not 1e+300"}},
      {"steps 2.5", "[learn]\nsteps = 2.5\n", "6:9", {"must be a whole number, not 2.5"}},
      {"steps as a string", "[learn]\nsteps = \"many\"\n", "6:9", {"not the string \"many\""}},
      {"steps as a date", "[learn]\nsteps = 2026-01-01\n", "6:9", {"not a date or time"}},
      {"steps as a table", "[learn]\nsteps = { n = 3 }\n", "6:9", {"not a table"}},
      {"lr nan", "[learn]\nlr = nan\n", "6:6", {"must be a finite number, not nan"}},
      {"lr inf", "[learn]\nlr = inf\n", "6:6", {"must be a finite number, not inf"}},
      {"lr -inf", "[learn]\nlr = -inf\n", "6:6", {"must be a finite number, not -inf"}},
      {"lr -1", "[learn]\nlr = -1\n", "6:6", {"`learn.lr` is -1, out of range", "0..1e+06"}},
      {"lr true", "[learn]\nlr = true\n", "6:6", {"must be a number, not true"}},
      {"unknown word",
       "[learn]\nschedule = \"cosin\"\n",
       "6:12",
       {"does not know \"cosin\"", "constant, linear or cosine", "did you mean `cosine`?"}},
      {"G = 1", "[learn]\nrollouts = 1\n", "6:12", {"`learn.rollouts` is 1", "2..255"}},
      {"K = 1", "[env.bandit]\nlevels = 1\n", "6:10", {"`env.bandit.levels` is 1", "2..100"}},
      {"K = 10^6", "[env.bandit]\nlevels = 1000000\n", "6:10", {"1000000, out of range"}},
      {"p = 1.5", "[rater.r]\nbase = \"mixed\"\nlow.p = 1.5\n", "7:9", {"`rater.r.low.p` is 1.5"}},
      {"a bad value in an axis", "[learn]\nlr = [0.1, nan]\n", "6:12", {"must be a finite number"}},
      {"an axis with a value twice", "[learn]\nlr = [0.1, 0.10]\n", "6:12", {"`learn.lr` has 0.1 twice"}},
      {"an empty axis", "[learn]\nlr = []\n", "6:6", {"empty list"}},
      {"a list in [record]", "[record]\nevery = [1, 2]\n", "6:9", {"not a list"}},
      {"a section that is a number", "learn = 3\n", "5:1", {"unknown key `learn` in [grid]"}},
      // variants
      {"no base", "[estimator.x]\nmedian = \"upper\"\n", "5:12", {"needs `base"}},
      {"unknown base", "[estimator.x]\nbase = \"grop\"\n", "6:8", {"there is no estimator \"grop\"", "did you mean `grpo`?"}},
      {"a word that changes its meaning", "[estimator.grpo]\nbase = \"maxrl\"\n", "6:8", {"would make the word \"grpo\" mean \"maxrl\""}},
      {"a rater of nothing", "[rater.r]\ntie = \"lowest\"\n", "5:8", {"needs `noise"}},
      {"noise that maps first", "[rater.r]\nnoise = [{ model = \"low\", p = 0.1 }]\n", "6:10", {"must make a distribution"}},
      {"two distributions", "[rater.r]\nnoise = [{ model = \"gaussian\" }, { model = \"gaussian\" }]\n", "6:34", {"can only be the first"}},
      {"two vetoes",
       "[rater.r]\nnoise = [{ model = \"gaussian\" }, { model = \"veto\", share = 0.1 }, { model = \"veto\", share = 0.2 }]\n",
       "6:67",
       {"a noise list may hold one veto model", "^"}},
      {"an empty noise list", "[rater.r]\nnoise = []\n", "6:9", {"empty list"}},
      {"keys without a name", "[estimator]\nbase = \"grpo\"\n", "6:1", {"[estimator] holds variants only"}},
      {"a negative tilt", "[policy.linear]\ntilt = -1\n", "6:8", {"`policy.linear.tilt` is -1, out of range", "0..1000"}},
      {"a tilt too large", "[policy.p]\nbase = \"tabular\"\ntilt = [0, 1001]\n", "7:12", {"out of range", "0..1000"}},
      {"a tilt of a transformer", "[policy.p]\nbase = \"transformer\"\ntilt = 1\n", "7:1", {"unknown key `tilt` in [policy.p]"}},
      {"a key of a transformer", "[policy.linear]\nwidth = 64\n", "6:1", {"unknown key `width` in [policy.linear]", "allowed: base or tilt"}},
      // across keys
      {"batch over prompts", "[learn]\nbatch = 512\n", "6:1", {"a batch of 512 prompts does not fit into env bandit with 256"}},
      {"batch over prompts, an axis", "[learn]\nbatch = [64, 512]\n", "6:1", {"a batch of 512"}},
      {"decay without adamw", "[learn]\nweight_decay = 0.1\n", "6:1", {"no effect on optimizer adam"}},
      {"a median without use", "[estimator.x]\nbase = \"grpo\"\nmedian = \"upper\"\n", "7:1", {"`median` has no effect on grpo"}},
      {"ddof without use", "[estimator.x]\nbase = \"maxrl\"\nddof = 1\n", "7:1", {"`ddof` has no effect"}},
      {"rho without running", "[estimator.x]\nbase = \"odrpo-gini-median(grpo)\"\nrho = 0.5\n", "7:1", {"`rho` has no effect"}},
      // table
      {"unknown rows", "[table]\nrows = \"estimators\"\n", "6:8", {"did you mean `estimator`?"}},
      {"rows are columns", "[table]\nrows = \"votes\"\n", "5:2", {"rows and columns are both"}},
      {"unknown value", "[table]\nvalue = \"gian\"\n", "6:9", {"did you mean `gain`?"}},
      {"a value twice",
       "[table]\ncolumns = \"value\"\nvalue = [\"gain\", \"regret\", \"gain\"]\n",
       "7:28",
       {"`table.value` has gain twice"}},
      {"a value twice in two spellings", "[table]\ncolumns = \"value\"\nvalue = [\"quality-fall\", \"quality_fall\"]\n", "7:26", {"twice"}},
      {"an unknown value in a list", "[table]\ncolumns = \"value\"\nvalue = [\"gain\", \"regert\"]\n", "7:18", {"did you mean `regret`?"}},
      {"a number for a value", "[table]\nvalue = [\"gain\", 3]\n", "6:18", {"must be a word in quotes, not 3"}},
      {"no value", "[table]\nvalue = []\n", "6:9", {"is an empty list", "gain, quality"}},
      {"several values without a dimension", "[table]\nvalue = [\"gain\", \"regret\"]\n", "6:9", {"`columns = \"value\"`"}},
      {"several values, the dimension twice", "[table]\nrows = \"value\"\ncolumns = \"value\"\n", "7:11", {"rows and columns are both"}},
      {"values compared with a value", "[table]\nrows = \"value\"\nbaseline = \"gain\"\n", "7:12", {"make them the columns"}},
      {"the best value", "[table]\nbest = [\"value\"]\n", "6:8", {"not an extra axis"}},
      {"a value of another world", "[table]\nvalue = \"grounding\"\n", "6:9", {"no env of the grid has the value"}},
      {"a cosine that nobody records",
       "[table]\nvalue = \"gradient-cosine\"\n",
       "6:9",
       {"no run has the value \"gradient-cosine\"", "it with `gradient` above 0 in [record] and an env of base bandit"}},
      {"a ratio that nobody records, in a list",
       "[table]\ncolumns = \"value\"\nvalue = [\"gain\", \"gradient_snr\"]\n[record]\ngradient = 0\n",
       "7:18",
       {"no run has the value \"gradient-snr\""}},
      {"seconds that no judge takes",
       "[table]\ncolumns = \"value\"\nvalue = [\"gain\", \"judge-seconds\"]\n",
       "7:18",
       {"no rater of the grid has the value \"judge-seconds\"", "it with `seconds_per_call` in [rater.NAME]"}},
      {"a win rate in a grid of other worlds",
       "[table]\nvalue = \"win-rate-over-grpo\"\n",
       "6:9",
       {"no env of the grid has the value \"win-rate-over-grpo\"", "toy-lm"}},
      {"a comparison with nothing", "[table]\ncompare = \"percent\"\n", "6:11", {"there is no baseline"}},
      {"a correction of nothing", "[table]\ncorrection = \"none\"\n", "6:14", {"there is no baseline"}},
      {"an unknown correction", "[table]\nbaseline = \"grpo\"\ncorrection = \"bonferroni\"\n", "7:14", {"holm or none"}},
      {"an unknown comparison", "[table]\ncompare = \"ratio\"\n", "6:11", {"difference or percent"}},
      {"a baseline that is no row", "[table]\nbaseline = \"grop\"\n", "6:12", {"not among the rows", "did you mean `grpo`?"}},
      {"a group whose baseline is no row", "[table]\nbaseline = { grop = [\"maxrl\"] }\n", "6:14", {"not among the rows", "did you mean `grpo`?"}},
      {"a row of a group that is none", "[table]\nbaseline = { grpo = [\"maxlr\"] }\n", "6:22", {"the row \"maxlr\"", "did you mean `maxrl`?"}},
      {"a row compared with itself", "[table]\nbaseline = { grpo = [\"maxrl\", \"grpo\"] }\n", "6:31", {"named twice"}},
      {"a group without rows", "[table]\nbaseline = { grpo = [] }\n", "6:21", {"no row to be compared"}},
      {"groups that are none", "[table]\nbaseline = {}\n", "6:12", {"is an empty table"}},
      {"a row that is true", "[table]\nbaseline = { grpo = [true] }\n", "6:22", {"table of lists of rows: not true"}},
      {"a list of baselines", "[table]\nbaseline = [\"grpo\"]\n", "6:12", {"must be a string"}},
      {"best without such an axis", "[table]\nbest = [\"lr\"]\n", "6:8", {"not an extra axis"}},
      {"best twice", "[table]\nbest = [\"lr\", \"lr\"]\n[learn]\nlr = [0.1, 0.2]\n", "6:8", {"`table.best` has lr twice"}},
      {"best of a row", "[table]\nrows = \"lr\"\nbest = [\"lr\"]\n[learn]\nlr = [0.1, 0.2]\n", "7:8", {"in rows or columns"}},
      {"tuning of nothing", "[table]\ntune_seeds = 1\n", "6:14", {"`table.tune_seeds` has no effect here: there is no `best`"}},
      {"tuning on all seeds", "[table]\ntune_seeds = 1\n", "6:14", {"leave none"}},
      // limits
      {"10^9 runs",
       "votes = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]\n[learn]\nkl = [0, 1, 2, 3, 4]\nlr = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]\nclip = [0, 1, 2, 3, "
       "4, 5, 6, 7, 8, 9]\n"
       "warmup = [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]\nbeta1 = [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]\n"
       "steps = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]\nbatch = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]\nrollouts = [2, 3, 4, 5, 6, 7, 8, 9, 10, 11]\n",
       "",
       {"1,000,000,000 runs", "`runs` in [limits]"},
       Exit::limits},
  };
  return all;
}

}  // namespace

TEST_CASE("every bad suite is refused with its code, place and reason") { check_refused(cases()); }

TEST_CASE("all errors of a file are told in one pass, in the order of the file") {
  const auto r = refusal(R"([suite]
name = "a"
seed = -1
seeds = 99999999999999999999
[grid]
estimator = ["grpo", "maxlr"]
votes = [0]
[learn]
steps = 2.5
steps = 3
shedule = "cosine"
)");
  REQUIRE(r.code == Exit::suite);
  INFO(r.message);
  std::size_t at = 0;
  for (const auto* place :
       {"bad.toml:3:8", "bad.toml:4:9", "bad.toml:6:22", "bad.toml:7:10", "bad.toml:9:9", "bad.toml:10:1", "bad.toml:11:1"}) {
    const auto found = r.message.find(place, at);
    INFO(place);
    CHECK(found != std::string::npos);
    at = found == std::string::npos ? at : found;
  }
}

TEST_CASE("twenty errors are told and the rest is counted") {
  std::string text = small_suite + "[learn]\n";
  for (int i = 0; i < 30; ++i) text += "zz" + std::to_string(i) + " = 1\n";
  const auto r = refusal(text);
  CHECK(r.has("bad.toml:25:1"));
  CHECK_FALSE(r.has("bad.toml:26:1"));
  CHECK(r.message.ends_with("\nand 10 more"));
}

TEST_CASE("an error shows its line and a caret below the column, tabs and wide characters included") {
  const auto r = refusal(small_suite + "[learn]\n\tlr = nan # é\n");
  CHECK(r.has("    6 |   lr = nan # é\n      |        ^\n"));
  const auto wide = refusal(small_suite + "[learn]\nclip = [" + std::string(300, ' ') + "nan]\n");
  CHECK(wide.has("bad.toml:6:309"));
  CHECK(wide.has("^"));
  CHECK(wide.message.size() < 600);
}
