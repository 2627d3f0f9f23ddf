// The catalogue: words to configs and back, and the lines that tables print.
#include "estimators/estimator.hpp"

#include <algorithm>
#include <set>

#include "estimators/formula_text.hpp"
#include "kernels/shared/failure.hpp"
#include "tests/catch.hpp"

using namespace odrpo;

TEST_CASE("every catalogue word parses back to itself, in either spelling") {
  const auto words = estimator_catalogue();
  CHECK(words.size() == 15 + 8 + 2);
  CHECK(std::set<std::string_view>(words.begin(), words.end()).size() == words.size());
  for (const std::string_view word : words) {
    CAPTURE(word);
    REQUIRE(parse_estimator(word).has_value());
    CHECK(estimator_word(*parse_estimator(word)) == word);
    std::string under(word);
    std::replace(under.begin(), under.end(), '-', '_');
    REQUIRE(parse_estimator(under).has_value());
    CHECK(estimator_word(*parse_estimator(under)) == word);
  }
  for (const char* word :
       {"reinforce", "rloo", "grpo", "rank-grpo", "maxrl", "convex-reinforce", "max-at-k", "max-at-k-centred", "odrpo(grpo)",
        "odrpo-linear(maxrl)", "odrpo-gini(grpo)", "odrpo-gini-median(maxrl)", "odrpo-bitwise(grpo)", "odrpo-bitwise(maxrl)"})
    CHECK(std::count(words.begin(), words.end(), word) == 1);
}

TEST_CASE("aliases and unknown words") {
  CHECK(estimator_word(parse_estimator("dr-grpo").value()) == "reinforce");
  CHECK(estimator_word(parse_estimator("dr_grpo").value()) == "reinforce");
  CHECK(estimator_word(parse_estimator("odrpo-uniform(maxrl)").value()) == "odrpo(maxrl)");
  CHECK(estimator_word(parse_estimator("odrpo_uniform(grpo)").value()) == "odrpo(grpo)");
  for (const char* word : {"", "odrpo", "odrpo()", "odrpo(", "odrpo-uniform(", "odrpo-uniform()", "odrpo(rloo)", "grpo ", "GRPO",
                           "odrpo-gini", "gini(grpo)", "odrpo-bitwise", "odrpo-bitwise(rloo)", "posterior(odrpo-bitwise(grpo))"})
    CHECK(!parse_estimator(word).has_value());
}

TEST_CASE("a word that must be one is refused with all there are") {
  CHECK(estimator_word(estimator_named("odrpo_gini(maxrl)")) == "odrpo-gini(maxrl)");
  try {
    estimator_named("grop");
    FAIL("nothing was thrown");
  } catch (const Failure& failure) {
    CHECK(failure.code == Exit::usage);
    const std::string what = failure.what();
    CHECK(what.starts_with("there is no estimator \"grop\" (there are reinforce, "));
    CHECK(what.ends_with(", corrected(odrpo-gini-median(maxrl)))"));
  }
}

TEST_CASE("defaults are the paper's form") {
  const EstimatorConfig c = parse_estimator("odrpo-gini-median(grpo)").value();
  CHECK(c.eps == 0);
  CHECK(c.ddof == 0);
  CHECK(c.median == MedianRule::lower);
}

TEST_CASE("the printed formula tells the convention") {
  EstimatorConfig c = parse_estimator("grpo").value();
  CHECK(estimator_formula(c) == "A = (r - mu) / sigma, sigma with ddof 0");
  c.ddof = 1;
  c.eps = 1e-6;
  CHECK(estimator_formula(c) == "A = (r - mu) / (sigma + 1e-06), sigma with ddof 1");
  c = parse_estimator("odrpo-gini-median(maxrl)").value();
  c.median = MedianRule::running;
  CHECK(estimator_formula(c).find("N_k = mu_k") != std::string::npos);
  CHECK(estimator_formula(c).find("running window 4096") != std::string::npos);
  c.running = RunningKind::ema;
  CHECK(estimator_formula(c).find("running ema rho 0.9") != std::string::npos);
  for (const std::string_view word : estimator_catalogue()) CHECK(estimator_formula(*parse_estimator(word)).starts_with("A = "));
}
