// The judge that a posterior estimator believes in: where a name is looked for, and what a run's key holds; and whether a judge's file is that of its fit.
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "config/plan/rater_file.hpp"
#include "config/spec.hpp"
#include "config/write/canonical.hpp"
#include "tests/catch.hpp"
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

namespace {

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("an edited number of a fitted judge is noted, other edits are not") {
  const std::string plain = "# fitted\n[rater.judge]\n\n[rater.judge.latent]\nprompt_share = 0.25  # 95 %: 0.1 to 0.4\nsigma = 0.5\nspread = 0\n"
                            "judge_sigma = 0\nthresholds = [\n  [-1, 0, 1],\n]\n";
  const std::string marked = with_fit_mark(plain);
  REQUIRE(marked.starts_with(plain));
  const TestFolder folder;
  const auto notes_of = [&](const std::string& text) {
    std::vector<std::string> notes;
    load_rater_file(folder.file("judge.toml", text), notes);
    return notes;
  };
  CHECK(notes_of(plain).empty());  // without the line nothing is known
  CHECK(notes_of(marked).empty());
  CHECK(notes_of(replaced(marked, "sigma = 0.5", "sigma =  0.50 # mine")).empty());
  CHECK(notes_of(replaced(marked, "spread = 0\njudge_sigma = 0\n", "judge_sigma = 0.0\nspread = 0\n")).empty());
  CHECK(notes_of(replaced(marked, "[rater.judge]\n", "[rater.judge]\naggregate = \"mean\"\n")).empty());
  CHECK(notes_of(replaced(replaced(marked, "[rater.judge]", "[rater.mine]"), "[rater.judge.latent]", "[rater.mine.latent]")).empty());
  for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
           {"sigma = 0.5", "sigma = 0.51"}, {"[-1, 0, 1]", "[-1, 0, 1.1]"}, {"[-1, 0, 1]", "[-1, 1]"}, {"spread = 0\n", ""}}) {
    const std::vector<std::string> notes = notes_of(replaced(marked, from, to));
    INFO(from << " -> " << to);
    REQUIRE(notes.size() == 1);
    CHECK(notes[0].find("edited since the fit: its numbers are not those that `judge fit` wrote") != std::string::npos);
  }
  // a suite says so once, however many raters name the file
  folder.file("judge.toml", replaced(marked, "sigma = 0.5", "sigma = 0.6"));
  Suite suite;
  const Refusal refused = file_refusal(folder.file("suite.toml", "[suite]\nname = \"s\"\nseed = 1\nseeds = 1\n[grid]\nestimator = [\"grpo\"]\n"
                                                                "rater = [\"a\", \"b\"]\n[rater.a]\nfile = \"judge.toml\"\n[rater.b]\n"
                                                                "file = \"judge.toml\"\naggregate = \"mean\"\n"),
                                       {}, &suite);
  INFO(refused.message);
  REQUIRE(refused.code == Exit::ok);
  REQUIRE(suite.notes.size() == 1);
  CHECK(suite.notes[0].find("edited since the fit") != std::string::npos);
}
