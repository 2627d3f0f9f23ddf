// What tables are told about the computations behind them: different ones must not read the same.
#include "suites/formulas.hpp"

#include "tests/catch.hpp"
#include "tests/suites/loading.hpp"

using namespace odrpo;

TEST_CASE("formulas: the usual rules are the estimators' formulas alone") {
  CHECK(formula_lines(loaded(small_suite, {"learn.lr=[0.1, 0.2]"})) ==
        "grpo\tA = (r - mu) / sigma, sigma with ddof 0\nmaxrl\tA = (r - mu) / mu, zeros when mu <= 0\n");
}

TEST_CASE("formulas: two systems that differ in what they do afterwards do not read the same") {
  const auto text = [](const std::vector<std::string>& set) {
    return formula_lines(
        loaded(small_suite + "[estimator.grpo-trl]\nbase = \"grpo\"\ncompat = \"trl\"\n[estimator.e]\nbase = \"maxrl\"\n", set));
  };
  CHECK(text({"grid.estimator=[grpo-trl, maxrl]", "learn.whiten=compat"}) ==
        "grpo-trl\tA = (r - mu) / (sigma + 1e-04), sigma with ddof 1 [trl]; afterwards nothing\n"
        "maxrl\tA = (r - mu) / mu, zeros when mu <= 0; afterwards (A - mean) / std, ddof 0, over responses\n\tlearn.whiten=compat\n");
  // axes that change a formula stand in its name, others do not
  CHECK(text({"grid.estimator=[e]", "estimator.e.compat=[paper, prime]", "learn.whiten=compat", "learn.lr=[1, 2]"}) ==
        "e compat=paper\tA = (r - mu) / mu, zeros when mu <= 0; afterwards (A - mean) / std, ddof 0, over responses\n"
        "e compat=prime\tA = (r - mu) / mu, zeros when mu <= 0 [prime]; afterwards nothing\n\tlearn.whiten=compat\n");
  CHECK(text({"grid.estimator=[maxrl]", "learn.whiten=[response, compat]"}) ==
        "maxrl whiten=response\tA = (r - mu) / mu, zeros when mu <= 0\n"
        "maxrl whiten=compat\tA = (r - mu) / mu, zeros when mu <= 0; afterwards (A - mean) / std, ddof 0, over responses\n");
}

TEST_CASE("formulas: rules of learning that are not the usual ones are named, unless they are an axis") {
  const auto text = formula_lines(loaded(
      small_suite, {"learn.epochs=4", "learn.ratio_clip=[0.1, 0.2]", "learn.dead_groups=drop", "learn.whiten_eps=1e-6", "learn.kl=0"}));
  CHECK(text.ends_with("\n\tlearn.whiten_eps=1e-06\n\tlearn.dead_groups=drop\n\tlearn.epochs=4\n"));
}

TEST_CASE("formulas: what a group of one gets is said where there can be one, and an explosion is a note") {
  const std::string suite = small_suite + "[estimator.ref]\nbase = \"maxrl\"\ncompat = \"maxrl-reference\"\n";
  const std::vector<std::string> alone{"rater.mixed.parse_failure=0.1", "rater.mixed.parse_policy=drop"};
  const auto with = [](std::vector<std::string> set, const std::string& more) { return set.push_back(more), set; };
  const Suite dropped = loaded(suite, with(alone, "grid.estimator=[grpo, ref]"));
  CHECK(formula_lines(dropped) ==
        "grpo\tA = (r - mu) / sigma, sigma with ddof 0; a group of one gets 0\n"
        "ref\tA = (r - mu) / (mu + 1e-06) [maxrl-reference]; a group of one gets r / 1e-06\n");
  REQUIRE(dropped.notes.size() == 1);
  CHECK(dropped.notes[0] ==
        "ref: a group of one, which occurs here (answers that cannot be read are dropped), gets its reward times 1e+06, as in its "
        "authors' code");
  CHECK(loaded(suite, with(alone, "grid.estimator=[grpo]")).notes.empty());
  CHECK(loaded(suite, {"grid.estimator=[ref]"}).notes.empty());
  CHECK(formula_lines(loaded(suite, {"grid.estimator=[ref]"})).find("a group of one") == std::string::npos);
}
