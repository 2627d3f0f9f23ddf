// The judge that a posterior estimator believes in: where a name is looked for, what is refused, and what of it a run's key holds.
#include <filesystem>
#include <set>
#include <string>

#include "config/spec.hpp"
#include "config/write/canonical.hpp"
#include "tests/catch.hpp"
#include "tests/config/bad_case.hpp"
#include "tests/config/loading.hpp"
#include "tests/config/test_folder.hpp"

using namespace odrpo;

namespace {

const std::string head = R"toml([suite]
name = "models"
[grid]
estimator = ["posterior(grpo)", "p"]
rater = ["mixed", "low20"]
[estimator.p]
base = "posterior(grpo)"
)toml";

std::string suite_with(const std::string& keys) { return head + keys; }

}  // namespace

TEST_CASE("a model is the run's rater, a rater of the catalogue or of the suite") {
  const Suite own = loaded(suite_with(""));
  for (const RunSpec& spec : own.runs) CHECK_FALSE(spec.model);
  const Suite veto = loaded(suite_with("model = \"veto\"\n"));
  REQUIRE(veto.runs.size() == 4);
  CHECK_FALSE(veto.runs[0].model);
  int with = 0;
  for (const RunSpec& spec : veto.runs)
    if (spec.model) {
      CHECK(spec.model->world.mean == 7.4);
      ++with;
    }
  CHECK(with == 2);
  const Suite named = loaded(suite_with("model = \"o_dd\"\n[rater.o-dd]\nbase = \"veto\"\naggregate = \"mean\"\n"));
  // the name and what only asks the judge are no part of what is believed
  for (std::size_t i = 0; i < named.runs.size(); ++i) CHECK(canonical_text(named.runs[i]) == canonical_text(veto.runs[i]));
}

TEST_CASE("models are an axis, and the resolved suite names the same judges") {
  const Suite suite = loaded(suite_with("model = [\"rater\", \"mixed\", \"wide\"]\nprior = [\"fixed\", \"moments\"]\n"));
  REQUIRE(suite.runs.size() == 2 * (1 + 6));
  const Suite again = loaded(suite.resolved);
  REQUIRE(again.runs.size() == suite.runs.size());
  std::set<std::string> texts;
  for (std::size_t i = 0; i < suite.runs.size(); ++i) {
    CHECK(suite.runs[i].id == again.runs[i].id);
    CHECK(canonical_text(suite.runs[i]) == canonical_text(again.runs[i]));
    texts.insert(canonical_text(suite.runs[i]));
  }
  CHECK(texts.size() == suite.runs.size());
}

TEST_CASE("a floor is a word or a number, and may be an axis of both") {
  const Suite suite = loaded(suite_with("floor = [0, 0.05, \"posterior\"]\n"));
  REQUIRE(suite.runs.size() == 2 * (1 + 3));
  const Suite again = loaded(suite.resolved);
  REQUIRE(again.runs.size() == suite.runs.size());
  std::set<std::string> texts;
  for (std::size_t i = 0; i < suite.runs.size(); ++i) {
    CHECK(canonical_text(suite.runs[i]) == canonical_text(again.runs[i]));
    CHECK(suite.runs[i].id == again.runs[i].id);
    for (const auto& [name, value] : suite.runs[i].axes) CHECK(std::holds_alternative<std::string>(value));  // one kind in results
    texts.insert(canonical_text(suite.runs[i]));
  }
  CHECK(texts.size() == 2 * 3);  // "posterior" is the default: the estimator without the key
  CHECK(loaded(suite_with("floor = 0\n")).runs[1].estimator.floor.value_or(9) == 0);
  CHECK_FALSE(loaded(suite_with("floor = \"posterior\"\n")).runs[1].estimator.floor);
  const Suite numbers = loaded(suite_with("floor = [0, 1]\n"));
  for (const RunSpec& run : numbers.runs)
    for (const auto& [name, value] : run.axes) CHECK(std::holds_alternative<double>(value));
}

TEST_CASE("a model may be a judge's file, relative to the suite") {
  const TestFolder folder;
  std::filesystem::create_directories(folder.path / "judges");
  folder.file("judges/good judge.toml", "[rater.mine]\nnoise = [{ model = \"gaussian\", sigma = 0.9 }]\nworld_mean = 5\n");
  folder.file("judges/bad.toml", "[rater.mine]\nnoise = [{ model = \"gausian\" }]\n");
  const Suite suite = load_suite(folder.file("suite.toml", suite_with("model = \"judges/good judge.toml\"\n")), {}, {});
  const RunSpec spec = suite.runs.back();
  REQUIRE(spec.model);
  CHECK(spec.model->world.mean == 5);
  CHECK(spec.estimator.model == "good-judge.toml");
  const Suite again = loaded(suite.resolved);
  CHECK(canonical_text(again.runs.back()) == canonical_text(spec));
  const Refusal missing = file_refusal(folder.file("suite.toml", suite_with("model = \"judges/none.toml\"\n")));
  CHECK(missing.code == Exit::io);
  CHECK(missing.has("suite.toml:8:9: error: `estimator.p.model`"));
  const Refusal bad = file_refusal(folder.file("suite.toml", suite_with("model = \"judges/bad.toml\"\n")));
  CHECK(bad.code == Exit::suite);
  CHECK(bad.has("judges/bad.toml:2:"));
}

TEST_CASE("models that cannot be") {
  check_refused({
      {"an unknown name", suite_with("model = \"vetto\"\n"), "8:9", {"knows no rater \"vetto\"", "did you mean", "veto"}},
      {"an empty name", suite_with("model = \"\"\n"), "8:9", {"must be a name in quotes"}},
      {"a number", suite_with("model = 3\n"), "8:9", {"must be a name in quotes, not 3"}},
      {"twice in an axis", suite_with("model = [\"a-b\", \"a_b\"]\n[rater.a-b]\nbase = \"veto\"\n"), "8:9", {"has a-b twice"}},
      {"several judges",
       suite_with("model = \"many\"\n[rater.many]\nbase = \"mixed\"\nlow.p = [0.1, 0.2]\n"),
       "8:9",
       {"several judges", "low.p"}},
      {"another number of levels", suite_with("model = \"panel-dialogue\"\n"), "8:9", {"has 5 levels", "have 10"}},
      {"a form without a judge", small_suite + "[estimator.grpo]\nmodel = \"veto\"\n", "6:1", {"model", "posterior"}},
      {"a floor of another word", suite_with("floor = \"posteriour\"\n"), "8:9", {"must be a number, not the string \"posteriour\"", "0..100 or posterior"}},
      {"a floor below 0", suite_with("floor = -1\n"), "8:9", {"is -1, out of range", "0..100 or posterior"}},
      {"a floor twice", suite_with("floor = [0, 0.0]\n"), "8:13", {"has 0 twice"}},
      {"a floor of a form that divides by no deviation",
       "[suite]\nname = \"f\"\n[grid]\nestimator = \"p\"\n[estimator.p]\nbase = \"posterior(rank-grpo)\"\nfloor = 0.1\n",
       "7:1",
       {"`floor` has no effect on posterior(rank-grpo): the form divides by no deviation of posterior scores"}},
      {"a floor of scores themselves", small_suite + "[estimator.grpo]\nfloor = 0\n", "6:1", {"`floor` has no effect"}},
      {"keep of a fixed prior", suite_with("prior = \"fixed\"\nkeep = 0.5\n"), "9:1", {"keep"}},
      {"the same with votes",
       "[suite]\nname = \"f\"\n[grid]\nestimator = [\"posterior(grpo)\"]\nvotes = 4\n[rater.mixed]\naggregate = \"fraction\"\n",
       "7:1",
       {"has one posterior score for each response"}},
      {"all votes for another estimator",
       "[suite]\nname = \"f\"\n[grid]\nestimator = [\"posterior(grpo)\", \"odrpo(grpo)\"]\nvotes = 4\n[rater.mixed]\naggregate = \"all\"\n",
       "7:1",
       {"aggregate", "\"all\"", "estimator odrpo(grpo) takes one reward of each response"}},
      {"all votes in an axis",
       "[suite]\nname = \"f\"\n[grid]\nestimator = \"grpo\"\nvotes = 4\n[rater.mixed]\naggregate = [\"mode\", \"all\"]\n",
       "7:1",
       {"estimator grpo takes one reward of each response"}},
      {"all votes in one entry of zip",
       "[suite]\nname = \"f\"\n[grid]\nzip = [{ estimator = \"posterior(grpo)\", votes = 8 }, { estimator = \"grpo\", votes = 1 }]\n"
       "[rater.mixed]\naggregate = \"all\"\n",
       "6:1",
       {"estimator grpo takes one reward of each response"}},
      {"all of one vote",
       "[suite]\nname = \"f\"\n[grid]\nestimator = \"grpo\"\nvotes = 1\n[rater.mixed]\naggregate = \"all\"\n",
       "7:1",
       {"estimator grpo takes one reward of each response"}},
      {"all votes and sampling",
       "[suite]\nname = \"f\"\n[grid]\nestimator = \"posterior(grpo)\"\nvotes = 4\n[rater.mixed]\naggregate = \"all\"\nsampling = \"draws\"\n",
       "8:1",
       {"the votes of aggregate = \"all\" are drawn one by one"}},
  });
}
