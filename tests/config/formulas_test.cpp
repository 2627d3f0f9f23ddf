// What tables are told about the computations behind them: different ones must not read the same.
#include "config/catalogue/formulas.hpp"

#include <algorithm>

#include "tests/catch.hpp"
#include "tests/config/loading.hpp"
#include "tests/source_path.hpp"

using namespace odrpo;

TEST_CASE("formulas: the usual rules are the estimators' formulas alone") {
  CHECK(formula_lines(loaded(small_suite, {"learn.lr=[0.1, 0.2]"})) ==
        "grpo\tA = (r - mu) / sigma, sigma with ddof 0\nmaxrl\tA = (r - mu) / mu, zeros when mu <= 0\n\tcompat=paper\n");
}

TEST_CASE("formulas: two systems that differ in what they do afterwards do not read the same") {
  const auto text = [](const std::vector<std::string>& set) {
    return formula_lines(
        loaded(small_suite + "[estimator.grpo-trl]\nbase = \"grpo\"\ncompat = \"trl\"\n[estimator.e]\nbase = \"maxrl\"\n", set));
  };
  CHECK(text({"grid.estimator=[grpo-trl, maxrl]", "learn.whiten=compat"}) ==
        "grpo-trl\tA = (r - mu) / (sigma + 1e-04), sigma with ddof 1 [trl]; afterwards nothing\n"
        "maxrl\tA = (r - mu) / mu, zeros when mu <= 0; afterwards (A - mean) / std, ddof 0, over responses\n\tlearn.whiten=compat\n\tcompat=trl and paper\n");
  // axes that change a formula stand in its name, others do not
  CHECK(text({"grid.estimator=[e]", "estimator.e.compat=[paper, prime]", "learn.whiten=compat", "learn.lr=[1, 2]"}) ==
        "e compat=paper\tA = (r - mu) / mu, zeros when mu <= 0; afterwards (A - mean) / std, ddof 0, over responses\n"
        "e compat=prime\tA = (r - mu) / mu, zeros when mu <= 0 [prime]; afterwards nothing\n\tlearn.whiten=compat\n");
  CHECK(text({"grid.estimator=[maxrl]", "learn.whiten=[response, compat]"}) ==
        "maxrl whiten=response\tA = (r - mu) / mu, zeros when mu <= 0\n"
        "maxrl whiten=compat\tA = (r - mu) / mu, zeros when mu <= 0; afterwards (A - mean) / std, ddof 0, over responses\n\tcompat=paper\n");
}

TEST_CASE("formulas: rules of learning that are not the usual ones are named, unless they are an axis") {
  const auto text = formula_lines(loaded(
      small_suite, {"learn.epochs=4", "learn.ratio_clip=[0.1, 0.2]", "learn.dead_groups=drop", "learn.whiten_eps=1e-6", "learn.kl=0"}));
  CHECK(text.ends_with("\n\tlearn.whiten_eps=1e-06\n\tlearn.dead_groups=drop\n\tlearn.epochs=4\n\tcompat=paper\n"));
}

TEST_CASE("formulas: what a group of one gets is said where there can be one, and an explosion is a note") {
  const std::string suite = small_suite + "[estimator.ref]\nbase = \"maxrl\"\ncompat = \"maxrl-reference\"\n";
  const std::vector<std::string> alone{"rater.mixed.parse_failure=0.1", "rater.mixed.parse_policy=drop"};
  const auto with = [](std::vector<std::string> set, const std::string& more) { return set.push_back(more), set; };
  const Suite dropped = loaded(suite, with(alone, "grid.estimator=[grpo, ref]"));
  CHECK(formula_lines(dropped) ==
        "grpo\tA = (r - mu) / sigma, sigma with ddof 0; a group of one gets 0\n"
        "ref\tA = (r - mu) / (mu + 1e-06) [maxrl-reference]; a group of one gets r / 1e-06\n\tcompat=paper and maxrl-reference\n");
  REQUIRE(dropped.notes.size() == 1);
  CHECK(dropped.notes[0] ==
        "ref: a group of one, which occurs here (answers that cannot be read are dropped), gets r / 1e-06, as in its authors' "
        "code");
  const auto note = [&](const std::string& lines) {
    return loaded(small_suite + "[estimator.ref]\n" + lines + "compat = \"maxrl-reference\"\n", with(alone, "grid.estimator=[ref]"))
        .notes.at(0);
  };
  CHECK(note("base = \"maxrl\"\norigin = 0\n").find("gets (r - 1) / 1e-06,") != std::string::npos);
  CHECK(note("base = \"odrpo-linear(maxrl)\"\n").find("gets (sum of w_k over k <= r) / 1e-06,") != std::string::npos);
  CHECK(loaded(suite, with(alone, "grid.estimator=[grpo]")).notes.empty());
  CHECK(loaded(suite, {"grid.estimator=[ref]"}).notes.empty());
  CHECK(formula_lines(loaded(suite, {"grid.estimator=[ref]"})).find("a group of one") == std::string::npos);
  // broken JSON is an answer that cannot be read too
  const Suite broken = loaded(suite, {"grid.estimator=[ref]", "grid.env=toy-lm", "grid.policy=transformer", "rater.mixed.json_broken=0.1",
                                      "rater.mixed.parse_policy=drop"});
  CHECK(formula_lines(broken).find("a group of one gets r / 1e-06") != std::string::npos);
  REQUIRE(broken.notes.size() == 1);
  CHECK(broken.notes[0].find("answers that cannot be read are dropped") != std::string::npos);
}

TEST_CASE("raters: a line for each says its noise, how votes are aggregated where there are several, and the levels") {
  CHECK(rater_lines(loaded(small_suite)) ==
        "mixed\tnoise: gaussian sigma 0.47 spread 0.2; high p 0.002; veto share 0.03; low p 0.01; levels 1 to 10\n");
  const std::string more = small_suite +
                           "rater = [\"gauss\", \"m\", \"c\"]\nvotes = [1, 8]\n"
                           "[rater.m]\nbase = \"gauss\"\naggregate = \"mean\"\nsampling = \"draws\"\n"
                           "parse_failure = 0.1\nparse_policy = \"drop\"\n"
                           "[rater.c]\nnoise = [{ model = \"confusion\", matrix = [[0.9, 0.1], [0.2, 0.8]] }]\n";
  CHECK(rater_lines(loaded(more, {"env.bandit.levels=2"})) ==
        "gauss\tnoise: gaussian sigma 0.52 spread 0.25; N votes: mode, tie first, drawn from its law; levels 1 to 2\n"
        "m\tnoise of gauss: gaussian sigma 0.52 spread 0.25; unreadable with probability 0.1: leave the call out; a response without any "
        "score takes no part in the update; N votes: mean, of N draws; levels 1 to 2\n"
        "c\tnoise: confusion 2 x 2; N votes: mode, tie first, drawn from its law; levels 1 to 2\n");
}

TEST_CASE("raters: axes that change one stand in its name, others do not") {
  const std::string two = small_suite + "rater = [\"r\", \"gauss\"]\nvotes = [4]\n[rater.r]\nbase = \"gauss\"\n";
  const auto text = rater_lines(loaded(two, {"rater.r.aggregate=[median, mean]", "learn.lr=[0.1, 1]"}));
  CHECK(text.starts_with("r aggregate=median\tnoise of gauss:"));
  CHECK(text.find("\nr aggregate=mean\tnoise of gauss:") != std::string::npos);
  CHECK(text.find("\ngauss\tnoise: ") != std::string::npos);
  CHECK(std::count(text.begin(), text.end(), '\n') == 3);
  CHECK(rater_lines(loaded(two, {"rater.r.gaussian.sigma=[0.1, 1]"})).starts_with("r gaussian.sigma=0.1\tnoise: gaussian sigma 0.1 "));
  // the text is that of the run with the most votes, since the others may never stop early
  const std::string stops = rater_lines(loaded(small_suite, {"grid.votes=[2, 8, 3]", "rater.mixed.stop=3"}));
  CHECK(stops.ends_with("; N votes, or until a score was given 3 times: mode, tie first, drawn from its law; levels 1 to 10\n"));
  CHECK(std::count(stops.begin(), stops.end(), '\n') == 1);
}

TEST_CASE("raters: one learned from scores names the file without its folder, and what it holds") {
  const Suite suite = load_suite(source_path("suites/judge-scores.toml"),
                                 {"rater.judge.scores=" + source_path("tests/config/judge.csv"), "rater.judge.aggregate=mode"}, {});
  const std::string text = rater_lines(suite);
  INFO(text);
  CHECK(text.starts_with(
      "judge\tchannel learned from these scores: judge.csv: 12 prompts x 6 responses x 4 samples, 10 levels; latent scale: "));
  CHECK(text.ends_with("; N votes: mode, tie first, drawn from its law; levels 1 to 10\n"));
}

TEST_CASE("raters: a judge of texts tells what it sees besides quality") {
  const std::string texts =
      "[suite]\nname = \"t\"\n[grid]\nenv = [\"toy-lm\"]\npolicy = [\"transformer\"]\nestimator = [\"grpo\"]\nrater = [\"w\"]\n"
      "[rater.w]\nbase = \"gauss\"\nlength_bias = 0.3\njson_broken = 0.05\n";
  CHECK(rater_lines(loaded(texts + "parse_failure = 0.1\n")).find("; unreadable with probability 0.1, and where broken: ask") !=
        std::string::npos);
  CHECK(rater_lines(loaded(texts)) ==
        "w\tnoise of gauss: gaussian sigma 0.52 spread 0.25; texts: length_bias 0.3, json_broken 0.05; unreadable where broken: ask once "
        "more; score 1 when that fails too; levels 1 to 10\n");
}

TEST_CASE("formulas: a rater says what a real judge's calls would take and cost, and an axis of either is named") {
  const auto text = [](const std::vector<std::string>& set) { return rater_lines(loaded(small_suite, set)); };
  CHECK(text({"rater.mixed.seconds_per_call=0.5", "rater.mixed.parallel=64", "rater.mixed.price_per_call=1e-3"})
            .ends_with("; 0.5 s a call, 64 at a time; price 0.001 a call; levels 1 to 10\n"));
  CHECK(text({}).find(" a call") == std::string::npos);
  const std::string two = text({"rater.mixed.price_per_call=[1, 2]"});
  CHECK(two.starts_with("mixed price_per_call=1\t"));
  CHECK(two.find("; price 2 a call; levels") != std::string::npos);
}
