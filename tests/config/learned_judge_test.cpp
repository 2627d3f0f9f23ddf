// A judge learned from a CSV file: where the file is looked for, what it becomes, and how a bad one is refused.
#include <fmt/format.h>

#include <filesystem>
#include <fstream>

#include "config/spec.hpp"
#include "config/write/canonical.hpp"
#include "envs/rater/noise.hpp"
#include "envs/rater/rater.hpp"
#include "results/store/record.hpp"
#include "tests/catch.hpp"
#include "tests/config/refusals.hpp"
#include "tests/config/test_folder.hpp"
#include "train/run_cache.hpp"
#include "train/train.hpp"

using namespace odrpo;

namespace {

// 6 prompts x 4 responses x 3 samples on 1..5: the score is the response's level, or its neighbour once in three
std::string table() {
  std::string text = "# made up\nprompt_id,response_id,sample_id,score\n";
  for (int p = 0; p < 6; ++p)
    for (int r = 0; r < 4; ++r)
      for (int s = 0; s < 3; ++s)
        text +=
            std::to_string(p) + "," + std::to_string(r) + "," + std::to_string(s) + "," + std::to_string(1 + (p + r + (s == 2)) % 5) + "\n";
  return text;
}

const std::string suite_text = R"([suite]
name = "judge"
[grid]
estimator = ["grpo"]
rater = ["judge"]
votes = [1, 4]
[rater.judge]
world = "resample"
[learn]
steps = 20
batch = 8
)";

}  // namespace

TEST_CASE("scores: the file becomes a judge and a world, and the resolved suite needs it no more") {
  const TestFolder folder;
  const std::string csv = folder.file("judge.csv", table()), toml = folder.file("suite.toml", suite_text);
  Suite suite;
  const Refusal refused = file_refusal(toml, {"rater.judge.scores=" + csv}, &suite);
  INFO(refused.message);
  REQUIRE(refused.code == Exit::ok);
  const RunSpec& run = suite.runs[0];
  CHECK(run.env.bandit.levels == 5);
  REQUIRE(run.rater.noise.size() == 1);
  CHECK(std::get<ResampleNoise>(run.rater.noise[0]).responses->prompts() == 6);
  const Suite again = loaded(suite.resolved);
  REQUIRE(again.runs.size() == suite.runs.size());
  for (std::size_t i = 0; i < again.runs.size(); ++i) CHECK(canonical_text(again.runs[i]) == canonical_text(suite.runs[i]));
  RunCache shared;
  const std::atomic<bool> stop{false};
  for (const auto& spec : suite.runs) CHECK(train(spec, shared, stop).status == RunStatus::ok);
}

TEST_CASE("scores: a path in the suite is relative to the suite, models may be put over the channel, levels may exceed the file's") {
  const TestFolder folder;
  folder.file("judge.csv", table());
  std::string text = suite_text;
  text.replace(text.find("[rater.judge]\n"), 14, "[rater.judge]\nscores = \"judge.csv\"\nlevels = 7\nlow.p = 0.125\n");
  Suite suite;
  const Refusal refused = file_refusal(folder.file("suite.toml", text), {}, &suite);
  INFO(refused.message);
  REQUIRE(refused.code == Exit::ok);
  const RaterConfig& rater = suite.runs[0].rater;
  CHECK(suite.runs[0].env.bandit.levels == 7);
  REQUIRE(rater.noise.size() == 2);
  CHECK(std::get<LowOutliers>(rater.noise[1]).p == 0.125);
}

TEST_CASE("scores: files that cannot be used end with their own codes, after the suite's own errors") {
  const TestFolder folder;
  const std::string toml = folder.file("suite.toml", suite_text);
  const auto with = [&](const std::string& file, const std::vector<std::string>& more = {}) {
    std::vector<std::string> set{"rater.judge.scores=\"" + file + "\""};
    set.insert(set.end(), more.begin(), more.end());
    return file_refusal(toml, set);
  };
  CHECK(with((folder.path / "none.csv").string()).code == Exit::io);
  CHECK(with((folder.path / "none.csv").string()).has("No such file"));
  CHECK(with(folder.path.string()).code == Exit::bad_input);
  CHECK(with(folder.path.string()).has("is a directory, not a file of scores"));
  CHECK(with("/dev/zero").code == Exit::bad_input);
  const std::string bad = folder.file("bad.csv", "prompt_id,response_id,sample_id,score\n0,0,0,3\n0,0,1,inf\n");
  const Refusal r = with(bad);
  CHECK(r.code == Exit::bad_input);
  CHECK(r.has(bad + ":3:7: error: "));
  const Refusal both = with(bad, {"learn.steps=0"});
  CHECK(both.code == Exit::suite);
  CHECK(both.has("learn.steps"));
  const Refusal over = with((folder.path / "none.csv").string(), {"rater.judge.low.p=0.1"});
  CHECK(over.code == Exit::io);  // not that a model stands over nothing
  const Refusal small = file_refusal(toml, {"rater.judge.scores=" + folder.file("judge.csv", table()), "rater.judge.levels=4"});
  CHECK(small.code == Exit::bad_input);
  const Refusal wrong = file_refusal(toml, {"rater.judge.scores=" + (folder.path / "judge.csv").string(), "env.bandit.levels=10"});
  CHECK(wrong.code == Exit::suite);
  CHECK(wrong.has("rater judge has 5 levels, and env bandit has 10"));
}

TEST_CASE("scores: what is wrong is told with the suite's place, the file and the key, for all raters at once") {
  const TestFolder folder;
  const std::string head = "prompt_id,response_id,sample_id,score\n";
  folder.file("ones.csv", head + "0,0,0,1\n0,0,1,1\n0,1,0,1\n0,1,1,1\n");
  folder.file("single.csv", head + "0,0,0,3\n");
  folder.file("high.csv", head + "0,0,0,3\n0,0,1,9\n0,1,0,8\n0,1,1,2\n");
  folder.file("bad.csv", head + "0,0,0,3\n0,0,1,nan\n0,1,0,inf\n");
  std::string many = head;
  for (int i = 0; i < 30; ++i) many += "0,0," + std::to_string(i) + ",inf\n";
  folder.file("many.csv", many);
  const auto suite = [&](const std::string& raters) {
    return folder.file("suite.toml", "[suite]\nname = \"a\"\n[grid]\nestimator = [\"grpo\"]\nrater = [\"r\"]\n" + raters);
  };
  struct Case {
    const char *file, *more, *told;
    Exit code;
  };
  const Case cases[] = {
      {"ones.csv", "", "suite.toml:7:10: error: `rater.r.scores`: FOLDER/ones.csv: all scores are 1: `levels` in [rater.r] must say",
       Exit::bad_input},
      {"single.csv", "world = \"resample\"\n", "suite.toml:7:10: error: `rater.r.scores`: FOLDER/single.csv: no response has two samples",
       Exit::bad_input},
      {"none.csv", "", "suite.toml:7:10: error: `rater.r.scores`: FOLDER/none.csv: No such file or directory\n    7 | scores = ", Exit::io},
      {"high.csv", "levels = 5\n", "FOLDER/high.csv:3:7: error: score 9 is off the scale: 1..5", Exit::bad_input},
      {"bad.csv", "", "FOLDER/bad.csv:4:7: error: score \"inf\" is no finite number", Exit::bad_input},
  };
  for (const Case& c : cases) {
    INFO(c.told);
    const Refusal r = file_refusal(suite(std::string("[rater.r]\nscores = \"") + c.file + "\"\n" + c.more), {});
    INFO(r.message);
    CHECK(r.code == c.code);
    std::string told = c.told;
    if (const auto at = told.find("FOLDER"); at != std::string::npos) told.replace(at, 6, folder.path.string());
    CHECK(r.has(told));
  }
  const Refusal all =
      file_refusal(suite("[rater.r]\nscores = \"none.csv\"\n[rater.s]\nscores = \"bad.csv\"\n[rater.t]\nscores = \"bad.csv\"\n"),
                   {"rater.u.scores=/nope.csv"});
  INFO(all.message);
  CHECK(all.code == Exit::io);
  CHECK(all.has("suite.toml:7:10: error: `rater.r.scores`"));
  CHECK(all.has("bad.csv:4:7: error: "));
  CHECK(all.message.find("bad.csv:4:7") == all.message.rfind("bad.csv:4:7"));  // one file's mistakes are told once
  CHECK(all.has("--set 1: error: `rater.u.scores`: /nope.csv: No such file"));
  const std::string first = "[rater.r]\nscores = \"many.csv\"\n", second = "[rater.s]\nscores = \"none.csv\"\n";
  const Refusal cut = file_refusal(suite(first + second), {});
  CHECK(cut.code == Exit::bad_input);
  CHECK(cut.message.ends_with("many.csv:21:8: error: score \"inf\" is no finite number: leave a missing value blank\n… and more"));
  CHECK(file_refusal(suite(second + first), {}).code == Exit::io);
}

TEST_CASE("scores: a path of --set is taken as it is, whatever it is made of") {
  const TestFolder folder;
  const std::string toml = folder.file("suite.toml", suite_text);
  for (const char* name :
       {"sp ace.csv", "ha#sh.csv", "e=q.csv", "a,b.csv", "[x].csv", "quo\"te.csv", "it's.csv", "7.csv", "plain", "{}.csv"}) {
    INFO(name);
    const std::string csv = folder.file(name, table());
    const Refusal r = file_refusal(toml, {"rater.judge.scores=" + csv});
    INFO(r.message);
    CHECK(r.code == Exit::ok);
    CHECK(file_refusal(toml, {"rater.judge.scores=" + csv + ".none"}).has(".none: No such file"));
  }
  CHECK(file_refusal(toml, {"rater.judge.scores=[\"a.csv\"]"}).has("must be the path of a file in quotes, not a list"));
}

TEST_CASE("scores: the judge of whole levels that earlier versions learned is gone, and the two that there are are named") {
  const TestFolder folder;
  folder.file("judge.csv", table());
  const Refusal in_suite =
      file_refusal(folder.file("suite.toml",
                               "[suite]\nname = \"a\"\n[grid]\nestimator = [\"grpo\"]\nrater = [\"r\"]\n[rater.r]\nscores = "
                               "\"judge.csv\"\nworld = \"levels\"\n"),
                   {});
  CHECK(in_suite.code == Exit::suite);
  CHECK(in_suite.message == folder.path.string() + R"(/suite.toml:8:9: error: `rater.r.world` cannot be the string "levels"
    8 | world = "levels"
      |         ^
      = allowed: latent or resample)");
  const Refusal by_set = file_refusal(folder.file("suite.toml", suite_text), {"rater.judge.scores=judge.csv", "rater.judge.world=levels"});
  CHECK(by_set.code == Exit::suite);
  CHECK(by_set.has("--set 2: error: `rater.judge.world` cannot be the string \"levels\""));
  CHECK(by_set.has("= allowed: latent or resample"));
}

TEST_CASE("scores: what a file holds is noted, for raters of the grid") {
  const TestFolder folder;
  const std::string csv = folder.file("judge.csv", table()), toml = folder.file("suite.toml", suite_text);
  Suite suite;
  file_refusal(toml, {"rater.judge.scores=" + csv, "rater.other.scores=" + csv, "rater.judge.levels=6"}, &suite);
  REQUIRE(suite.notes.size() == 1);
  CHECK(suite.notes[0].starts_with(
      "judge: " + csv + ": 6 prompts x 4 responses x 3 samples, 6 levels; resampled: 24 responses of 6 prompts, concentration c = "));
  const std::string more = table() + "9,0,0,5\n9,0,1,5\n9,0,2,\n9,0,3,five\n";
  file_refusal(toml, {"rater.judge.scores=" + folder.file("more.csv", more)}, &suite);
  REQUIRE(suite.notes.size() == 1);
  CHECK(
      suite.notes[0].find("more.csv: 7 prompts x 1 to 4 responses x 3 samples, 5 levels; 1 blank score; 1 answer that cannot be read, left "
                          "out; 1 of the judge's answers cannot be read as a score: \"five\" once; `map` makes a word a score, "
                          "`parse` finds the score in an answer, `missing` counts a word as missing; resampled: 25 responses of 7 prompts, ") != std::string::npos);
  CHECK(loaded(small_suite).notes.empty());
}

TEST_CASE("scores: other columns and scales, in the suite and by --set", "[pages]") {
  const TestFolder folder;
  std::string text = "item\tanswer\tcall\tpoints\n";
  for (int p = 0; p < 6; ++p)
    for (int r = 0; r < 4; ++r)
      for (int s = 0; s < 4; ++s) text += fmt::format("i{}\t{}\t{}\t{}\n", p, r, s, 0.5 * ((p + r + (s == 2)) % 5));
  folder.file("judge.tsv", text);
  const std::string columns =
      R"(columns = { prompt = "item", response = "answer", sample = "call", score = "points", rater = "call / 2" })";
  const auto suite = [&](const std::string& rater) {
    return folder.file("suite.toml", "[suite]\nname = \"a\"\n[grid]\nestimator = [\"grpo\"]\nrater = [\"r\"]\n[rater.r]\n" + rater + "\n");
  };
  Suite made;
  const Refusal fine = file_refusal(suite("scores = \"judge.tsv\"\nworld = \"resample\"\nscale = \"0..3 by 0.5\"\n" + columns), {}, &made);
  INFO(fine.message);
  REQUIRE(fine.code == Exit::ok);
  CHECK(made.runs[0].env.bandit.levels == 7);
  REQUIRE(made.notes.size() == 1);
  CHECK(made.notes[0].find("judge.tsv: 6 prompts x 4 responses x 4 samples, 7 levels (scores 0..3 by 0.5); 2 judges; resampled: ") !=
        std::string::npos);
  const std::string resolved = loaded(made.resolved).resolved;
  CHECK(resolved == made.resolved);
  Suite set;
  const Refusal by_set = file_refusal(
      suite("scores = \"judge.tsv\""),
      {"rater.r.columns.prompt=item", "rater.r.columns.response=answer", "rater.r.columns.sample=call", "rater.r.columns.score=points",
       "rater.r.columns.rater=\"call / 2\"", "rater.r.world=resample", "rater.r.scale=[0, 0.5, 1, 1.5, 2, 2.5, 3]"},
      &set);
  INFO(by_set.message);
  REQUIRE(by_set.code == Exit::ok);
  CHECK(canonical_text(set.runs[0]) == canonical_text(made.runs[0]));

  check_cases("config/pages/score-columns.txt", [&](const std::string& input) {
    return refusal_text(file_refusal(suite(input)), folder.path.string() + "/");
  });
}
