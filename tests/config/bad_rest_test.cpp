// Bad suites about judges, conventions, votes and epochs: one row each.
#include "tests/config/bad_case.hpp"

using namespace odrpo;

namespace {

std::string confusion(const std::string& matrix) { return "[rater.r]\nnoise = [{ model = \"confusion\", matrix = " + matrix + " }]\n"; }
std::string rater(const std::string& lines) { return "[rater.r]\nbase = \"mixed\"\n" + lines; }
std::string learn(const std::string& lines) { return "[learn]\n" + lines; }
std::string panel(const std::string& lines) { return "[rater.r]\nbase = \"panel-essays\"\n" + lines; }
std::string fraction(const std::string& estimators, const std::string& votes, const std::string& more) {
  return "[suite]\nname = \"a\"\n[grid]\nestimator = " + estimators + "\nrater = \"r\"\nvotes = " + votes +
         "\n[rater.r]\nbase = \"mixed\"\naggregate = \"fraction\"\n" + more;
}
std::string estimator(const std::string& base, const std::string& lines) { return "[estimator.e]\nbase = \"" + base + "\"\n" + lines; }

}  // namespace

TEST_CASE("confusion matrices that are none are refused at the row or entry") {
  check_refused({
      {"a row that sums to 0.97",
       confusion("[[0.9, 0.1], [0.2, 0.77]]"),
       "6:55",
       {"row 2 of `rater.r.noise[1].matrix` sums to 0.97, not to 1"}},
      {"a sum that no double is",
       confusion("[[0.9, 0.07], [0.2, 0.8]]"),
       "6:43",
       {"row 1 of `rater.r.noise[1].matrix` sums to 0.97, not to 1"}},
      {"a negative probability", confusion("[[1.1, -0.1], [0, 1]]"), "6:44", {"1.1, which is no probability", "0..1"}},
      {"a second negative one", confusion("[[1.0, -0.1], [0, 1]]"), "6:49", {"-0.1, which is no probability"}},
      {"not a number", confusion("[[nan, 1], [0, 1]]"), "6:44", {"which is no probability"}},
      {"text", confusion("[[\"a\", 1], [0, 1]]"), "6:44", {"the string \"a\", which is no probability"}},
      {"one row", confusion("[[1]]"), "6:42", {"has 1 row, and a scale has 2..100 levels"}},
      {"no row", confusion("[]"), "6:42", {"has 0 rows"}},
      {"not square",
       confusion("[[0.5, 0.5], [0.2, 0.3, 0.5]]"),
       "6:55",
       {"row 2", "has 3 entries, and the matrix has 2 rows: it must be square"}},
      {"rows of numbers", confusion("[0.5, 0.5]"), "6:43", {"row 1", "must be a list of probabilities"}},
      {"not a list", confusion("0.5"), "6:42", {"must be a list of rows"}},
      {"missing", "[rater.r]\nnoise = [{ model = \"confusion\" }]\n", "6:10", {"`rater.r.noise[1].matrix` is missing"}},
      {"not first",
       "[rater.r]\nnoise = [{ model = \"gaussian\" }, { model = \"confusion\", matrix = [[1, 0], [0, 1]] }]\n",
       "6:34",
       {"`confusion` makes a distribution and can only be the first"}},
      {"levels of the world differ",
       "[suite]\nname = \"a\"\n[grid]\nestimator = \"grpo\"\nrater = \"r\"\n[rater.r]\nnoise = [{ model = \"confusion\", matrix = [[1, 0], "
       "[0, 1]] }]\n"
       "[env.bandit]\nlevels = 10\n",
       "6:8",
       {"rater r has 2 levels, and env bandit has 10: leave out `levels` there"}},
  });
}

TEST_CASE("raters that contradict themselves are refused") {
  check_refused({
      {"two offsets",
       "[rater.r]\nnoise = [{ model = \"gaussian\" }, { model = \"offset\" }, { model = \"offset\" }]\n",
       "6:56",
       {"may hold one offset model"}},
      {"an entry that is no model",
       "[rater.r]\nnoise = [{ model = \"gaussian\" }, 3]\n",
       "6:34",
       {"`rater.r.noise[2]` must be a model, not 3", "{ model = \"...\" }"}},
      {"an entry without model", "[rater.r]\nnoise = [{ sigma = 1 }]\n", "6:10", {"`rater.r.noise[1]` needs `model = \"...\"`"}},
      {"an entry's number",
       "[rater.r]\nnoise = [{ model = \"gaussian\" }, { model = \"low\", p = 2 }]\n",
       "",
       {"`rater.r.noise[2].p` is 2, out of range"}},
      {"an entry's key", "[rater.r]\nnoise = [{ model = \"gaussian\", sgma = 2 }]\n", "", {"unknown key `sgma` in [rater.r.noise[1]]"}},
      {"a negative failure", "[rater.r]\nbase = \"mixed\"\nparse_failure = -1\nparse_policy = \"drop\"\n", "7:17", {"-1, out of range"}},
      {"two biases",
       "[rater.r]\nnoise = [{ model = \"gaussian\" }, { model = \"bias\" }, { model = \"bias\" }]\n",
       "6:54",
       {"may hold one bias model"}},
      {"a bias first", "[rater.r]\nnoise = [{ model = \"bias\", sd = 1 }]\n", "6:10", {"`bias` maps one"}},
      {"a negative bias", rater("bias.sd = -1\n"), "7:11", {"`rater.r.bias.sd` is -1, out of range", "0..100"}},
      {"an offset first", "[rater.r]\nnoise = [{ model = \"offset\", sd = 1 }]\n", "6:10", {"`offset` maps one"}},
      {"a negative offset", rater("offset.sd = -1\n"), "7:13", {"`rater.r.offset.sd` is -1, out of range", "0..100"}},
      {"an unknown aggregate", rater("aggregate = \"medain\"\n"), "7:13", {"does not know \"medain\"", "did you mean `median`?"}},
      {"an unknown tie rule", rater("tie = \"random\"\n"), "7:7", {"first, lowest, highest, median-low or nearest-mean"}},
      {"ties of a mean",
       rater("aggregate = \"mean\"\ntie = \"lowest\"\n"),
       "8:1",
       {"`tie` has no effect here", "only aggregate = \"mode\" has ties"}},
      {"equal scores of a mean",
       rater("aggregate = \"mean\"\nstop = 2\n"),
       "8:1",
       {"`stop` has no effect here", "only aggregate = \"mode\" waits for equal scores"}},
      {"too few prices", panel("prices = [1, 2, 3]\n"), "7:1", {"`prices` has 3 numbers, and the panel has 4 judges"}},
      {"too many seconds", panel("seconds = [1, 2, 3, 4, 5]\n"), "7:1", {"`seconds` has 5 numbers, and the panel has 4 judges"}},
      {"prices of one judge", rater("prices = [1]\n"), "7:1", {"`prices` is for panels: one judge answers every call", "`price_per_call`"}},
      {"two kinds of prices",
       panel("price_per_call = 1\nprices = [1, 2, 3, 4]\n"),
       "8:1",
       {"`prices` cannot stand beside `price_per_call`"}},
      {"two kinds of seconds",
       panel("seconds_per_call = [1, 2]\nseconds = [1, 2, 3, 4]\n"),
       "8:1",
       {"`seconds` cannot stand beside `seconds_per_call`"}},
      {"a negative price", panel("prices = [1, 2, -3, 4]\n"), "7:17", {"`rater.r.prices` has -3, which is no number of 0..1e+09"}},
      {"a price in words", panel("prices = [1, \"2\", 3, 4]\n"), "7:14", {"which is no number"}},
      {"one price", panel("prices = 2\n"), "7:10", {"`rater.r.prices` must be a list of numbers, not"}},
      {"prices of judges that cannot be read",
       "[rater.r]\nscores = \"none.csv\"\nprices = [1, 2]\n",
       "6:10",
       {"none.csv"},
       Exit::io},
      {"no price", panel("prices = []\n"), "7:10", {"must be a list of numbers, not an empty list"}},
      {"calls at a time of judges without seconds",
       panel("prices = [1, 2, 3, 4]\nparallel = 2\n"),
       "8:1",
       {"`parallel` has no effect here"}},
      {"calls at a time of judges with seconds", panel("seconds = [1, 2, 3, 4]\nparallel = 2\n"), "", {}, Exit::ok},
      {"fractions without levels",
       fraction("[\"odrpo(grpo)\", \"grpo\"]", "[1, 4]", ""),
       "9:1",
       {"`aggregate` cannot be \"fraction\" here: estimator grpo has no levels", "an odrpo estimator, or aggregate = \"mean\""}},
      {"fractions of subsets",
       fraction("\"max-at-k\"", "[1, 4]", ""),
       "9:1",
       {"estimator max-at-k compares subsets of responses"}},
      {"fractions against the others",
       fraction("\"e\"", "[1, 4]", "[estimator.e]\nbase = \"odrpo(grpo)\"\ncompat = [\"trl\", \"nemo\"]\n"),
       "9:1",
       {"estimator e of compat \"nemo\" compares a response with the others, and its own votes"}},
      {"fractions of too many votes",
       fraction("\"odrpo(grpo)\"", "[1, 17]", "[learn]\nrollouts = [8, 255]\n"),
       "9:1",
       {"255 responses x 17 votes are more than 4096", "fewer rollouts or votes"}},
      {"sampling of fractions",
       fraction("\"odrpo(grpo)\"", "[1, 4]", "sampling = \"draws\"\n"),
       "10:1",
       {"`sampling` has no effect here: the votes of aggregate = \"fraction\" are drawn one by one"}},
      {"equal scores of fractions",
       fraction("\"odrpo(grpo)\"", "[1, 4]", "stop = 2\n"),
       "10:1",
       {"`stop` has no effect here", "only aggregate = \"mode\" waits for equal scores"}},
      {"ties of fractions",
       fraction("\"odrpo(grpo)\"", "[1, 4]", "tie = \"lowest\"\n"),
       "10:1",
       {"`tie` has no effect here"}},
      {"fractions of one vote go with any estimator",
       fraction("\"grpo\"", "1", ""),
       "",
       {},
       Exit::ok},
      {"fractions of most votes",
       fraction("\"odrpo(grpo)\"", "256", "[learn]\nrollouts = 16\n"),
       "",
       {},
       Exit::ok},
      {"one equal score", rater("stop = [0, 1]\n"), "7:1", {"`stop` = 1 would ask once", "one call is votes = 1"}},
      {"a negative stop", rater("stop = -2\n"), "7:8", {"`rater.r.stop` is -2, out of range", "0..1024"}},
      {"a fractional stop", rater("stop = 2.5\n"), "7:8", {"`rater.r.stop` must be a whole number"}},
      {"as many equal scores as votes",
       "[suite]\nname = \"a\"\n[grid]\nestimator = \"grpo\"\nrater = \"r\"\nvotes = [1, 3]\n[rater.r]\nbase = \"mixed\"\n"
       "stop = [0, 3, 4]\n",
       "9:1",
       {"`stop` has no effect here: no run has more than 3 votes, so none ends early", "stop below 3, or more votes"}},
      {"one vote",
       "[suite]\nname = \"a\"\n[grid]\nestimator = \"grpo\"\nrater = \"r\"\n[rater.r]\nbase = \"mixed\"\nstop = 2\n",
       "8:1",
       {"no run has more than 1 vote, so none ends early"}},
      {"one of several votes is enough",
       "[suite]\nname = \"a\"\n[grid]\nestimator = \"grpo\"\nrater = \"r\"\nvotes = [1, 4]\n[rater.r]\nbase = \"mixed\"\n"
       "stop = [3, 9]\n",
       "",
       {},
       Exit::ok},
      {"a policy without failures", rater("parse_policy = \"drop\"\n"), "7:1", {"`parse_policy` has no effect here"}},
      {"nothing but failures, asked again", rater("parse_failure = 1\n"), "7:1", {"parse_failure = 1 leaves no score"}},
      {"failures above 1", rater("parse_failure = 1.5\n"), "7:17", {"out of range", "0..1"}},
      {"nothing but failures", rater("parse_failure = 1\nparse_policy = \"drop\"\n"), "7:1", {"leaves no score that tells"}},
      {"at times no score at all", rater("parse_failure = [0.5, 1]\nparse_policy = \"drop\"\n"), "7:1", {"leaves no score that tells"}},
      {"at times nothing but failures: a control", rater("parse_failure = [0.5, 1]\nparse_policy = \"zero\"\n"), "", {}, Exit::ok},
      {"nothing but broken JSON", rater("json_broken = 1\n"), "7:1", {"json_broken = 1 leaves no score that tells"}},
      {"an unknown policy", rater("parse_failure = 0.1\nparse_policy = \"nan\"\n"), "8:16", {"resample, drop or zero"}},
      {"levels without scores", rater("levels = 5\n"), "7:1", {"`rater.r.levels` has no effect without `scores`"}},
      {"scores beside a base", rater("scores = \"a.csv\"\n"), "6:1", {"`base` cannot stand beside them"}},
      {"scores beside noise",
       "[rater.r]\nscores = \"a.csv\"\nnoise = [{ model = \"gaussian\" }]\n",
       "7:1",
       {"`noise` cannot stand beside them"}},
      {"a matrix beside scores",
       "[rater.r]\nscores = \"a.csv\"\nconfusion.matrix = [[1, 0], [0, 1]]\n",
       "7:1",
       {"has `scores`, which make the whole channel: `confusion` cannot stand beside them"}},
      {"scores of a word", "[rater.mixed]\nscores = \"a.csv\"\n", "6:1", {"the word \"mixed\" mean a judge", "a name of its own"}},
      {"a path that ends early", "[rater.r]\nscores = \"ok.csv\\u0000zzz\"\n", "6:10", {"has a NUL byte"}},
      {"scores as a number", "[rater.r]\nscores = 5\n", "6:10", {"must be the path of a file in quotes, not 5"}},
      {"an empty path", "[rater.r]\nscores = \"\"\n", "6:10", {"not an empty string"}},
      {"levels of scores out of range", "[rater.r]\nscores = \"a.csv\"\nlevels = 1\n", "7:10", {"2..100"}},
      {"levels of scores above the range",
       "[rater.r]\nscores = \"a.csv\"\nlevels = 101\n",
       "7:10",
       {"`rater.r.levels` is 101, out of range", "2..100"}},
      {"levels of scores as a float",
       "[rater.r]\nscores = \"a.csv\"\nlevels = 9.0\n",
       "7:10",
       {"`rater.r.levels` must be a whole number, not the float 9.0 (write 9)", "2..100"}},
      {"nothing to start from",
       "[rater.r]\ntie = \"lowest\"\n",
       "5:8",
       {"[rater.r] needs `noise = [...]`", "--set rater.r.scores=FILE.csv"}},
      {"a world beyond bounds", rater("world_spread = -1\n"), "7:16", {"out of range"}},
  });
}

TEST_CASE("eps of ranks, and keys of a running median, have an effect") {
  for (const std::string& text : {estimator("rank-grpo", "eps = 1e-6\n"), estimator("maxrl", "origin = [0, 1]\n"),
                                  estimator("odrpo-gini-median(grpo)", "median = \"running\"\nwindow = 100\n"),
                                  estimator("odrpo-gini-median(grpo)", "median = \"running\"\nrunning = \"ema\"\nrho = 0.5\n")})
    CHECK_NOTHROW(loaded(small_suite + text));
}

TEST_CASE("groups that a form cannot compare are refused where it is named") {
  const std::string two = "[suite]\nname = \"small\"\n[grid]\nestimator = [\"grpo\", \"e\"]\n[estimator.e]\n";
  check_refused({
      {"no one left out", two + "base = \"max-at-k\"\nk = 8\n", "5:12", {"subsets of k = 8 of the 8 rollouts", "at most rollouts - 1"}},
      {"an axis of k", two + "base = \"max-at-k-centred\"\nk = [2, 9]\n", "5:12", {"k = 9"}},
      {"no subsets", estimator("grpo", "k = 3\n"), "7:1", {"`k` has no effect on grpo"}},
      {"an even group", two + "base = \"mc-grpo\"\n", "5:12", {"estimator e needs an odd number of rollouts", "8 are even"}},
      {"one even group of an axis", two + "base = \"mc-grpo\"\n[learn]\nrollouts = [9, 10]\n", "5:12", {"10 are even"}},
  });
  CHECK_NOTHROW(loaded(two + "base = \"max-at-k\"\nk = [2, 7]\n"));
  CHECK_NOTHROW(loaded(two + "base = \"mc-grpo\"\n[learn]\nrollouts = [3, 9]\n"));
}

TEST_CASE("conventions that a system does not have are refused with the reason") {
  check_refused({
      {"an unknown system", estimator("grpo", "compat = \"vrl\"\n"), "7:10", {"did you mean `verl`?"}},
      {"verl has no maxrl", estimator("maxrl", "compat = \"verl\"\n"), "7:1", {"verl", "maxrl"}},
      {"prime has no grpo", estimator("grpo", "compat = \"prime\"\n"), "7:1", {"prime", "grpo"}},
      {"an axis of origins on grpo", estimator("grpo", "origin = [1, 0]\n"), "7:1", {"origin = 0 is for maxrl"}},
      {"an axis of eps beside a system", estimator("grpo", "compat = \"trl\"\neps = [0, 1e-6]\n"), "8:1", {"eps cannot be given beside"}},
      {"an axis of ddof beside a system", estimator("grpo", "compat = \"trl\"\nddof = [0, 1]\n"), "8:1", {"ddof cannot be given beside"}},
      {"eps where nothing is divided",
       estimator("reinforce", "eps = 1e-6\n"),
       "7:1",
       {"`eps` has no effect on reinforce", "no denominator"}},
      {"eps of rloo", estimator("rloo", "eps = 1e-6\n"), "7:1", {"`eps` has no effect on rloo"}},
      {"rho of a window", estimator("odrpo-gini-median(grpo)", "median = \"running\"\nrho = 0.5\n"), "8:1", {"`rho` has no effect"}},
      {"the window of a moving average",
       estimator("odrpo-gini-median(grpo)", "median = \"running\"\nrunning = \"ema\"\nwindow = 100\n"),
       "9:1",
       {"`window` has no effect"}},
      {"ranks are nobody's", estimator("rank-grpo", "compat = \"trl\"\n"), "7:1", {"trl"}},
      {"ddof beside a system", estimator("grpo", "compat = \"trl\"\nddof = 1\n"), "8:1", {"ddof"}},
      {"eps beside a system", estimator("grpo", "compat = \"trl\"\neps = 1e-6\n"), "8:1", {"eps"}},
      {"one system of a list", estimator("grpo", "compat = [\"verl\", \"skyrl\"]\n"), "7:1", {"skyrl"}},
      {"an origin for grpo", estimator("grpo", "origin = 0\n"), "7:1", {"origin"}},
      {"an origin beside a system", estimator("grpo", "compat = \"verl\"\norigin = 0\n"), "8:1", {"origin"}},
      {"an origin that is none", estimator("maxrl", "origin = 2\n"), "7:10", {"0..1"}},
  });
}

TEST_CASE("keys of [learn] that would have no effect are refused") {
  check_refused({
      {"a clip of one epoch", learn("ratio_clip = 0.2\n"), "6:1", {"with epochs = 1 the ratio is always 1"}},
      {"no epoch", learn("epochs = 0\n"), "6:10", {"1..64"}},
      {"a negative clip", learn("epochs = 2\nratio_clip = -0.2\n"), "7:14", {"0..10"}},
      {"ddof of no whitening", learn("whiten = \"none\"\nwhiten_ddof = 1\n"), "7:1", {"needs whiten = \"response\""}},
      {"eps of another's whitening", learn("whiten = \"compat\"\nwhiten_eps = 0.1\n"), "7:1", {"needs whiten = \"response\""}},
      {"Adam's beta1 of sgd", learn("optimizer = \"sgd\"\nbeta1 = 0.5\n"), "7:1", {"`beta1` has no effect here", "optimizer = \"adam\""}},
      {"Adam's beta2 of sgd, an axis", learn("optimizer = [\"sgd\"]\nbeta2 = [0.9, 0.99]\n"), "7:1", {"`beta2` has no effect here"}},
      {"Adam's epsilon of sgd", learn("optimizer = \"sgd\"\nadam_eps = 1e-6\n"), "7:1", {"`adam_eps` has no effect here"}},
      {"an unknown unit", learn("whiten = \"group\"\n"), "6:10", {"none, response, token or compat"}},
      {"dead groups", learn("dead_groups = \"skip\"\n"), "6:15", {"keep or drop"}},
  });
}

TEST_CASE("keys of texts' judges, transformers and hacking that would have no effect are refused") {
  const auto text = [](const std::string& lines) {
    return "[suite]\nname = \"a\"\n[grid]\nestimator = \"grpo\"\nenv = \"toy-lm\"\npolicy = \"p\"\nrater = \"r\"\n" + lines +
           (lines.starts_with("[rater.r]") ? "[policy.p]\nbase = \"transformer\"\n" : "[rater.r]\nbase = \"mixed\"\n");
  };
  const auto judge = [&](const std::string& lines) { return text("[rater.r]\nbase = \"mixed\"\n" + lines); };
  const auto policy = [&](const std::string& lines) { return text("[policy.p]\nbase = \"transformer\"\n" + lines); };
  const auto bandit = [](const std::string& lines) { return "rater = \"r\"\n[rater.r]\nbase = \"mixed\"\n" + lines; };
  check_refused({
      {"the middle of no length bias", judge("length_mid = 5\n"), "10:1", {"`length_mid` has no effect here: that needs `length_bias`"}},
      {"the most of no flattery", judge("flattery_most = [1, 2]\n"), "10:1", {"that needs `flattery`"}},
      {"the trigger of no misfire", judge("misfire_trigger = \"fact\"\n"), "10:1", {"that needs `misfire` above 0"}},
      {"alpha of no adapters", policy("lora_alpha = 8\n"), "10:1", {"`lora_alpha` has no effect here: that needs `lora_rank` above 0"}},
      {"a batch of no warm start", policy("warm_steps = 0\nwarm_batch = 8\n"), "11:1", {"that needs `warm_steps` above 0"}},
      {"a rate of no warm start", policy("warm_steps = 0\nwarm_lr = [0.1, 0.2]\n"), "11:1", {"that needs `warm_steps` above 0"}},
      {"a target that nothing is",
       bandit("high.target = \"hack\"\n"),
       "8:6",
       {"nothing hacks in the world of rater r", "world_hack_share"}},
      {"a target in an axis", bandit("low.target = [\"all\", \"hack\"]\n"), "8:5", {"nothing hacks"}},
      {"a target in a list",
       "rater = \"r\"\n[rater.r]\nnoise = [{ model = \"gaussian\" }, { model = \"low\", p = 0.1, target = \"hack\" }]\n",
       "7:60",
       {"nothing hacks"}},
      {"a penalty for nobody", bandit("world_hack_penalty = 1\n"), "8:1", {"`world_hack_penalty` has no effect here: nothing hacks"}},
      {"a world's penalty for nobody", "[env.bandit]\nhack_penalty = 1\n", "6:1", {"`hack_penalty` has no effect here", "hack_share"}},
  });
  for (const std::string& good : {
           judge("length_mid = 5\nlength_bias = [0, 0.1]\n"),
           judge("high.target = \"hack\"\n"),  // a text may repeat words
           policy("lora_alpha = 8\nlora_rank = [0, 4]\n"),
           policy("warm_steps = [0, 100]\nwarm_batch = 8\n"),
           small_suite + learn("optimizer = [\"adam\", \"sgd\"]\nbeta1 = 0.5\n"),
           small_suite + bandit("high.target = \"hack\"\nworld_hack_share = [0, 0.1]\nworld_hack_penalty = 1\n"),
           small_suite + bandit("high.target = \"hack\"\n[env.bandit]\nhack_share = 0.1\nhack_penalty = 2\n"),
           small_suite + "rater = \"hack\"\n[env.bandit]\nprofile = \"own\"\n",
       }) {
    INFO(good);
    const auto r = refusal(good);
    INFO(r.message);
    CHECK(r.code == Exit::ok);
    if (r.code == Exit::ok) CHECK(refusal(loaded(good).resolved).message.empty());
  }
}

TEST_CASE("worlds whose responses are all equally good are refused") {
  check_refused({
      {"a rater's world", rater("world_spread = 0\n"), "", {}, Exit::ok},  // not of the grid
      {"no spread",
       "rater = \"r\"\n" + rater("world_spread = 0\n"),
       "8:1",
       {"`world_spread` = 0 makes all responses of a prompt equally good"}},
      {"no spread at times: a control", "rater = \"r\"\n" + rater("world_spread = [0.5, 0]\n"), "", {}, Exit::ok},
      {"no hacks at times", "rater = \"r\"\n" + rater("world_spread = 0\nworld_hack_share = [0, 0.1]\n"), "", {}, Exit::ok},
      {"an env's", "rater = [\"mixed\", \"veto\"]\n[env.bandit]\nspread = 0\n", "7:1", {"`spread` = 0 makes all responses"}},
      {"hacks that cost nothing",
       "rater = \"r\"\n" + rater("world_spread = 0\nworld_hack_share = 0.1\nworld_hack_penalty = 0\n"),
       "8:1",
       {"equally good"}},
      {"hacks alone", "rater = \"r\"\n" + rater("world_spread = 0\nworld_hack_share = 0.1\n"), "", {}, Exit::ok},
      {"a spread of the world's own", "rater = \"r\"\n" + rater("world_spread = 0\n[env.bandit]\nspread = 1\n"), "", {}, Exit::ok},
      {"the world's own profile", "rater = \"r\"\n" + rater("world_spread = 0\n[env.bandit]\nprofile = \"own\"\n"), "", {}, Exit::ok},
  });
}
