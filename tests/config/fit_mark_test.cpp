// A judge's file knows whether its numbers are those of its fit.
#include "config/write/fit_mark.hpp"

#include <string>
#include <vector>

#include "config/plan/rater_file.hpp"
#include "tests/catch.hpp"
#include "tests/config/loading.hpp"
#include "tests/config/test_folder.hpp"

using namespace odrpo;

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
